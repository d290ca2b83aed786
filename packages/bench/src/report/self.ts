import type { Measured } from '../results/record.ts';
import { formatCount } from './format.ts';
import { median, sum } from '../numbers.ts';

/** One round at one rung on one server program: a trial with and without sampling, and stock autocannon. */
export interface SelfRound {
  connections: number;
  sampled: Measured;
  plain: Measured;
  stock: { steady: { completed: number; cpuUs: number } };
  /** From the start of the trial to its record, in seconds. */
  wallSeconds: number;
}

/** Summarises the cost of the instrument itself: medians over the rounds of the ratios within each round. */
export function summariseSelf(
  rounds: SelfRound[],
  connectsPerSecond: number,
): { head: string[]; rows: string[][]; notes: string[] } {
  const rungs = [...new Set(rounds.map(({ connections }) => connections))].toSorted((a, b) => a - b);
  const rows = rungs.map((rung) => {
    const here = rounds.filter(({ connections }) => connections === rung);
    const of = (figure: (round: SelfRound) => number) => median(here.map(figure));
    return [
      formatCount(rung),
      of(
        (round) =>
          perCpuSecond(round.sampled) / (round.stock.steady.completed / (round.stock.steady.cpuUs / 1e6)),
      ).toFixed(2),
      of(({ sampled, plain }) => sampled.load.goodputPerSecond / plain.load.goodputPerSecond).toFixed(3),
      `${(of(({ sampled, wallSeconds }) => sampled.load.windowSeconds / wallSeconds) * 100).toFixed(0)} %`,
      `${of(secondsToConnect).toFixed(2)} s`,
      of((round) => secondsToConnect(round) / (rung / connectsPerSecond)).toFixed(2),
    ];
  });
  return {
    head: ['connections', 'driver/stock', 'sampled/plain', 'duty cycle', 'armed after', 'armed/pace'],
    rows,
    notes: [
      'driver/stock: answers per CPU second of the generator, Bench’s driver ÷ stock autocannon, both without start-up and connecting',
      'sampled/plain: goodput with resource sampling ÷ goodput without',
      'duty cycle: window ÷ wall time of its trial; armed after: time from the first connect until all are established; armed/pace: that time ÷ (connections ÷ pace)',
    ],
  };
}

function secondsToConnect({ sampled }: SelfRound): number {
  return sampled.load.connect.seconds ?? Number.NaN;
}

function perCpuSecond({ load }: Measured): number {
  const cpuSeconds = sum(load.generators.map(({ cpuUs }) => cpuUs / 1e6));
  const seconds = load.generators[0]?.seconds ?? 0;
  return (load.completionsPerSecond * seconds) / cpuSeconds;
}
