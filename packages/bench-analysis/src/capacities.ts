/** The capacity of a target, from the steps of all its searches. */
import type { FoundCapacity, Step } from 'bench-model/measured';
import { allowedShare, type Promised } from 'bench-model/promise';
import type { Trial } from 'bench-model/record';
import { measuredOf } from 'bench-model/trial';
import { BUSY_SERVER, FULL } from 'bench-model/saturation';
import { answersFor } from 'bench-statistics/histogram';
import { median, sum } from 'bench-statistics/numbers';
import { locateTogether, type Shares } from 'bench-statistics/threshold';

/** Steps that are this close to a capacity, in log rate, tell of it. */
export const NEAR = 0.2;
/** The fewest trials that tell a capacity together. */
const FEWEST = 3;
/** The standard deviation of the logarithm of a capacity between the rounds, beside that of its CPU per request. */
const SPREAD = 0.03;

/** Returns the requests of a step that kept or broke the promise. */
export function toShares({
  perSecond,
  requests,
  brokenShare,
}: Pick<Step, 'perSecond' | 'requests' | 'brokenShare'>): Shares {
  return { perSecond, requests, counted: requests * brokenShare };
}

/** Returns the function that gives the share of requests which may break a promise. */
export function levelOf(promise: Promised): (one: Pick<Shares, 'requests'>) => number {
  return ({ requests }) => allowedShare(promise, requests);
}

/** The limit of a promise on latency, in seconds; undefined for one on errors. */
export function limitSecondsOf({ belowUs }: Promised): number | undefined {
  return belowUs === undefined ? undefined : belowUs / 1e6;
}

/** The responses that a promise needs: ten beyond its percentile. */
export function neededFor(promise: Promised): number {
  return promise.of === 'errors' ? 10 / (promise.belowShare ?? 1) : (answersFor(promise.of) ?? 1000);
}

/** A step with so many requests at the level tells whether it keeps the promise. */
const TELLING = 4;
/** So many steps tell whether the searches lie above the capacity. */
const FEWEST_STEPS = 8;
/** The searches lie above it if a smaller share of the steps keeps the promise. */
const LEAST_KEPT = 0.15;

/**
 * Counts the steps that kept the promise, if these are so few that the capacity lies below them: some requests are slow without
 * any load, and their share depends less on the rate than a search takes for possible. Undefined otherwise.
 */
export function countRarelyKept(
  shares: readonly Shares[],
  level: (one: Pick<Shares, 'requests'>) => number,
): { kept: number; loads: number } | undefined {
  const telling = shares.filter((one) => level(one) * one.requests >= TELLING);
  const kept = telling.filter((one) => one.counted < level(one) * one.requests).length;
  const loads = telling.length;
  return loads >= FEWEST_STEPS && kept < LEAST_KEPT * loads ? { kept, loads } : undefined;
}

/** Returns true unless the load of a search whose figures a trial has broke the promise: a search may have found only such loads. */
export function keptPromise(trial: Trial): boolean {
  const { capacity, load } = measuredOf(trial) ?? {};
  const step = capacity?.steps.find(({ servedPerSecond }) => servedPerSecond === load?.goodputPerSecond);
  return capacity === undefined || step === undefined || step.brokenShare < levelOf(capacity.by)(step);
}

/** Counts the responses of the steps near a capacity. */
export function answersNear(shares: readonly Shares[], capacity: number): number {
  const near = shares.filter(({ perSecond }) => Math.abs(Math.log(perSecond / capacity)) < NEAR);
  return sum(near.map(({ requests }) => requests));
}

/**
 * Returns what each trial says of the capacity that all of them have together, per second: its pseudo-value of the jackknife (Tukey 1958).
 * Slow responses come in rare bursts: one search sees a few of them or none, and says little by itself. All steps together tell
 * the capacity and the slope, without the bias of a mean of logarithms. A trial that was doubted, or found a bound only, is absent; so are all
 * if there are fewer than three others, if different promises decided, or if too few responses are near the capacity.
 */
export function capacitiesOf(trials: readonly Trial[]): ReadonlyMap<Trial, number> {
  const [first] = trials;
  if (first === undefined) return new Map();
  const last = known.get(first);
  if (last?.trials.length === trials.length && last.trials.every((trial, index) => trial === trials[index]))
    return last.capacities;
  const capacities = pool(trials);
  known.set(first, { trials: [...trials], capacities });
  return capacities;
}

/** Every comparison of a target asks for its capacities again. */
const known = new WeakMap<Trial, { trials: Trial[]; capacities: ReadonlyMap<Trial, number> }>();

function pool(trials: readonly Trial[]): ReadonlyMap<Trial, number> {
  const found = trials.flatMap((trial) => {
    const capacity = soundSearchOf(trial);
    return capacity === undefined ? [] : [{ trial, capacity, cpu: cpuOf(trial) }];
  });
  const [first] = found;
  if (first === undefined || found.length < FEWEST) return new Map();
  const { by } = first.capacity;
  if (found.some(({ capacity }) => capacity.by.of !== by.of)) return new Map();
  const usual = median(found.map(({ capacity }) => capacity.perSecond));
  const cpus = found.flatMap(({ cpu }) => cpu ?? []);
  const usualCpu = cpus.length < found.length ? undefined : median(cpus);
  const relative = found.map(({ capacity, cpu }) => {
    const times = usualCpu === undefined || cpu === undefined ? 1 : cpu / usualCpu;
    // Per CPU: where that is the limit, another pace of the server or of the machine moves the capacity as much.
    const unit = usual / times;
    const steps = capacity.steps.filter(({ generatorBusy }) => generatorBusy <= FULL);
    return { unit, shares: steps.map((step) => toShares({ ...step, perSecond: step.perSecond / unit })) };
  });
  const shares = relative.map((one) => one.shares);
  const limit = limitSecondsOf(by);
  const { perSecond, without } = locateTogether(shares, levelOf(by), {
    start: 1,
    // In the unit of time of these rates.
    limitSeconds: limit && usual * limit,
    spread: SPREAD,
  });
  if (answersNear(shares.flat(), perSecond) < neededFor(by)) return new Map();
  const rounds = found.length;
  return new Map(
    found.map(({ trial }, index): [Trial, number] => {
      const { unit } = relative[index]!;
      return [trial, (unit * perSecond ** rounds) / (without[index] as number) ** (rounds - 1)];
    }),
  );
}

/** Returns the CPU per request of a trial near its capacity, in µs; undefined if something else was the limit there. */
function cpuOf(trial: Trial): number | undefined {
  if (trial.status === 'failed') return undefined;
  const { budget, cpuUsPerRequest } = trial.measured;
  const isBusy = budget !== undefined && budget.usedCores >= BUSY_SERVER * budget.usableCores;
  return isBusy ? cpuUsPerRequest : undefined;
}

/** Returns the search of a trial if it found more than a bound, and nothing invalidates its capacity but the few responses near it. */
export function soundSearchOf(trial: Trial): FoundCapacity | undefined {
  if (trial.status === 'failed' || trial.measured.capacity?.bound !== undefined) return undefined;
  const isDoubted = trial.reasons.some(
    ({ code, invalidates }) => code !== 'few-answers' && invalidates.includes('capacity'),
  );
  return isDoubted ? undefined : trial.measured.capacity;
}
