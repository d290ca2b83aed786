import { estimateRatio, type Ratio } from 'bench-statistics/ratio';
import { median } from 'bench-statistics/numbers';
import type { Measured } from 'bench-model/measured';
import { formatCount } from 'bench-report/format';

/** The work of a client in one turn. */
interface Work {
  answers: number;
  cpuUs: number;
}

/** One turn of the driver, of stock autocannon and of the plain client, right after each other. */
export interface SelfRound {
  driver: Work;
  stock: Work;
  /** Undefined if it took no turns. */
  plain: Work | undefined;
  /** CPU of Bench during the turn of the driver, as a share of a core. */
  harnessCores: number;
  isSampled: boolean;
}

/** One rung: its trials, and the turns of the driver and its rivals. */
export interface SelfRung {
  connections: number;
  /** The trials, with their time from start to record in seconds. */
  trials: { measured: Measured; wallSeconds: number }[];
  rounds: SelfRound[];
}

/** The precision that every ratio must have. */
const SHARE = 0.05;

/** Summarises the cost of the instrument itself. Figures of trials are medians over the rounds. */
export function summariseSelf(rungs: SelfRung[]): { head: string[]; rows: string[][]; notes: string[] } {
  const rows = rungs.map(({ connections, trials, rounds }) => {
    const of = (figure: (trial: SelfRung['trials'][number]) => number) => median(trials.map(figure));
    return [
      formatCount(connections),
      formatRatio(ratioTo(rounds, 'stock')),
      formatRatio(ratioTo(rounds, 'plain')),
      String(rounds.length),
      formatCount(median(rounds.map(({ driver }) => perCpuSecond(driver)))),
      `${(100 * samplingCores(rounds)).toFixed(1)} %`,
      `${(100 * of(({ measured, wallSeconds }) => measured.load.windowSeconds / wallSeconds)).toFixed(0)} %`,
      `${of(({ measured }) => measured.load.connect.seconds ?? Number.NaN).toFixed(2)} s`,
      formatCount(of(({ measured }) => measured.load.connect.retried ?? Number.NaN)),
    ];
  });
  const vague = rungs.filter(({ rounds }) => !isKnown(rounds));
  return {
    head: [
      'connections',
      'driver/stock',
      'driver/plain',
      'rounds',
      'driver',
      'sampling',
      'duty cycle',
      'armed after',
      'retried',
    ],
    rows,
    notes: [
      'driver/stock: answers per CPU second of the generator, Bench’s driver ÷ stock autocannon, in turns on one server, with the 95 % interval',
      'driver/plain: the same against a client that only counts bytes, the most that Node’s sockets allow; — where a third client has no ports left',
      'driver: the median of answers per CPU second. sampling: CPU of Bench while it samples, less that while it does not, in % of a core',
      'duty cycle: window ÷ wall time of its trial. armed after: from the first connect until all connections are established. retried: connects that failed',
      ...vague.map(
        ({ connections }) =>
          `the ratios at ${formatCount(connections)} are not known to ±5 %: the machine is too noisy`,
      ),
    ],
  };
}

/** Returns true if the ratios to all rivals are known to ±5 %. */
export function isKnown(rounds: readonly SelfRound[]): boolean {
  return (
    rounds.length > 0 &&
    (['stock', 'plain'] as const)
      .map((rival) => ratioTo(rounds, rival))
      .every((ratio) => ratio === undefined || isKnownTo(ratio, SHARE))
  );
}

/** Returns true if the interval of a ratio lies within this share of the estimate on both sides. */
export function isKnownTo({ estimate, low, high }: Ratio, share: number): boolean {
  return (
    low !== undefined && high !== undefined && low >= estimate / (1 + share) && high <= estimate * (1 + share)
  );
}

/** Returns the ratio of answers per CPU second, driver ÷ rival; undefined if that took no turns. */
function ratioTo(rounds: readonly SelfRound[], rival: 'stock' | 'plain'): Ratio | undefined {
  const pairs = rounds.flatMap(({ driver, [rival]: other }) =>
    other === undefined ? [] : [[perCpuSecond(driver), perCpuSecond(other)] as const],
  );
  return pairs.length === 0 ? undefined : estimateRatio(pairs);
}

/** Returns the answers per CPU second of a client. */
function perCpuSecond({ answers, cpuUs }: Work): number {
  return answers / (cpuUs / 1e6);
}

function formatRatio(ratio: Ratio | undefined): string {
  if (ratio === undefined) return '—';
  const { estimate, low, high } = ratio;
  if (low === undefined || high === undefined) return estimate.toFixed(2);
  return `${estimate.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`;
}

function samplingCores(rounds: readonly SelfRound[]): number {
  const of = (sampled: boolean) =>
    median(rounds.filter(({ isSampled }) => isSampled === sampled).map(({ harnessCores }) => harnessCores));
  return of(true) - of(false);
}
