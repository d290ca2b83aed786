import { canonicalise, drawGet, USUAL_TIMES, type Workload } from './workload.ts';

/** `GET /api/devices`: the golden list, serialised for each request. */
export const devices: Workload = {
  name: 'devices',
  rungs: [10, 100, 1000, 10_000],
  ...USUAL_TIMES,
  draw(random) {
    const golden = JSON.stringify([1, 2, 3].map(() => drawDevice(random)));
    return { ...drawGet('/api/devices', canonicalise(golden)), files: { BENCH_DEVICES: golden } };
  },
};

// Every draw has the same length, so that differences in body size come from the stack.
function drawDevice(random: () => number): Record<string, string | number> {
  const hex = (digits: number) =>
    Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join('');
  const integer = (low: number, high: number) => low + Math.floor(random() * (high - low));
  const moment = () => new Date(integer(1.6e12, 1.75e12)).toISOString();
  return {
    id: integer(1, 9),
    uuid: `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`,
    mac: Array.from({ length: 6 }, () => hex(2).toUpperCase()).join(':'),
    firmware: `${integer(1, 9)}.${integer(0, 9)}.${integer(0, 9)}`,
    created_at: moment(),
    updated_at: moment(),
  };
}
