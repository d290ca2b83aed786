import { estimateRatio, type Ratio } from '../analyse/ratio.ts';
import { median } from '../numbers.ts';
import type { Measured } from '../results/record.ts';
import { formatCount } from './format.ts';

/** The work of a client in one turn. */
interface Work {
  answers: number;
  cpuUs: number;
}

/** One turn of the driver and one of stock autocannon, right after each other. */
export interface SelfPair {
  driver: Work;
  stock: Work;
  /** CPU of Bench during the turn of the driver, as a share of a core. */
  harnessCores: number;
  isSampled: boolean;
}

/** One rung: its trials, and the turns of the driver and stock autocannon. */
export interface SelfRung {
  connections: number;
  /** The trials, with their time from start to record in seconds. */
  trials: { measured: Measured; wallSeconds: number }[];
  pairs: SelfPair[];
}

/** Summarises the cost of the instrument itself. Figures of trials are medians over the rounds. */
export function summariseSelf(rungs: SelfRung[]): { head: string[]; rows: string[][]; notes: string[] } {
  const rows = rungs.map(({ connections, trials, pairs }) => {
    const of = (figure: (trial: SelfRung['trials'][number]) => number) => median(trials.map(figure));
    return [
      formatCount(connections),
      formatRatio(ratioOf(pairs)),
      String(pairs.length),
      formatCount(median(pairs.map(({ driver }) => perCpuSecond(driver)))),
      formatCount(median(pairs.map(({ stock }) => perCpuSecond(stock)))),
      `${(100 * samplingCores(pairs)).toFixed(1)} %`,
      `${(100 * of(({ measured, wallSeconds }) => measured.load.windowSeconds / wallSeconds)).toFixed(0)} %`,
      `${of(({ measured }) => measured.load.connect.seconds ?? Number.NaN).toFixed(2)} s`,
      formatCount(of(({ measured }) => measured.load.connect.retried ?? Number.NaN)),
    ];
  });
  return {
    head: [
      'connections',
      'driver/stock',
      'pairs',
      'driver',
      'stock',
      'sampling',
      'duty cycle',
      'armed after',
      'retried',
    ],
    rows,
    notes: [
      'driver/stock: answers per CPU second of the generator, Bench’s driver ÷ stock autocannon, by turns on one server, with the 95 % interval',
      'driver, stock: the median of answers per CPU second. sampling: CPU of Bench while it samples, less that while it does not, in % of a core',
      'duty cycle: window ÷ wall time of its trial. armed after: from the first connect until all connections are established. retried: connects that failed',
    ],
  };
}

/** Returns the ratio of answers per CPU second, driver ÷ stock autocannon. Throws RangeError without pairs. */
export function ratioOf(pairs: readonly SelfPair[]): Ratio {
  return estimateRatio(
    pairs.map(({ driver, stock }) => [perCpuSecond(driver), perCpuSecond(stock)] as const),
  );
}

/** Returns the answers per CPU second of a client. */
function perCpuSecond({ answers, cpuUs }: Work): number {
  return answers / (cpuUs / 1e6);
}

function formatRatio({ estimate, low, high }: Ratio): string {
  if (low === undefined || high === undefined) return estimate.toFixed(2);
  return `${estimate.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`;
}

function samplingCores(pairs: SelfPair[]): number {
  const of = (sampled: boolean) =>
    median(pairs.filter(({ isSampled }) => isSampled === sampled).map(({ harnessCores }) => harnessCores));
  return of(true) - of(false);
}
