/** The units of metrics. To add a unit, add an entry here, and its format to `bench-report/src/format.ts`. */

/** The declaration of a unit. */
interface Entry {
  /** Follows a formatted value in a sentence; empty if the format shows the unit. */
  suffix: string;
  /** The units in which a user can write a budget, with their factors to this unit. */
  written: Readonly<Record<string, number>>;
  /** A budget as a user writes it. */
  example: string;
}

const TIMES = { us: 1, µs: 1, ms: 1e3, s: 1e6 };

const ENTRIES = {
  'per second': { suffix: '/s', written: { '/s': 1 }, example: '1000/s' },
  µs: { suffix: '', written: TIMES, example: '20ms' },
  'µs per request': { suffix: ' µs', written: TIMES, example: '250us' },
  bytes: {
    suffix: '',
    written: { kB: 1e3, KiB: 2 ** 10, MB: 1e6, MiB: 2 ** 20, GB: 1e9, GiB: 2 ** 30 },
    example: '200MiB',
  },
  s: { suffix: '', written: { ms: 1e-3, s: 1 }, example: '2s' },
} satisfies Record<string, Entry>;

/** The unit of a figure; it selects the format of a column. */
export type Unit = keyof typeof ENTRIES;

/** Every unit. */
export const UNITS: Readonly<Record<Unit, Entry>> = ENTRIES;

/** The bytes of one response or object, signed if below 0: `1.4 KB`, `−12 B`. Decimal, as sizes of bodies are. */
export function describeBytes(bytes: number): string {
  const sign = Math.round(bytes) < 0 ? '−' : '';
  const size = Math.abs(bytes);
  if (size < 999.5) return `${sign}${Math.round(size)} B`;
  return `${sign}${size < 9950 ? (size / 1000).toFixed(1) : Math.round(size / 1000).toLocaleString('en-US')} KB`;
}

/** A time given in µs, rounded to this many digits, without trailing zeros: `3.01 s`, `100 ms`, `570 µs`. */
export function describeTime(us: number, digits = 3): string {
  const [value, unit] = us >= 1e6 ? [us / 1e6, 's'] : us >= 1000 ? [us / 1000, 'ms'] : [us, 'µs'];
  return `${Number(value.toPrecision(digits))} ${unit}`;
}
