/** The search of the highest rate that keeps promises: decides the rate and the length of each open loop, and the result. */
import { countCompletions } from 'bench-model/counts';
import type { LoadResult } from 'bench-model/load';
import type { FoundCapacity, Step } from 'bench-model/measured';
import { readUncertaintyUs, startUncertaintyUs } from 'bench-model/metrics';
import { present } from 'bench-model/options';
import { CURVE_SECONDS } from 'bench-model/planned';
import { allowedShare, describePromises, type Promised } from 'bench-model/promise';
import { makeReason, type Reason } from 'bench-model/reasons';
import type { TrialHead } from 'bench-model/record';
import { FULL } from 'bench-model/saturation';
import { busy } from 'bench-analysis/judge/judge';
import { judgeTrial, type Surroundings } from 'bench-analysis/judge/trial';
import { answersFor, countAbove, mergeHistograms } from 'bench-statistics/histogram';
import { clamp, sum } from 'bench-statistics/numbers';
import { locateThreshold, type Shares, type Threshold } from 'bench-statistics/threshold';
import type { Sampled } from 'bench-machine/resources/sampler';

/** The times of a search, in seconds. bench-lab/experiments/capacity simulates what they find. */
export const STEP_SECONDS = {
  /** Under load before each step: the queue of a server that was idle grows to its usual length. */
  ramp: CURVE_SECONDS.ramp,
  /** A step at first, and near the capacity: queues there change slowly. */
  coarse: 0.5,
  fine: CURVE_SECONDS.step,
};
/** The last step may be shorter, but not by more than to this part. */
const LEAST_PART = 0.5;
/** From this standard deviation of the logarithm on, the capacity is known well enough for long steps. */
const NEAR = 0.08;
/** The rates of long steps, relative to the estimate: a slope needs several. */
const AROUND = [1, 0.97, 1.03];
/** The first rate, relative to the goodput of the closed loop of the warm-up. */
const FIRST_SHARE = 0.7;
/** The lowest rate, relative to the same. */
const LEAST_SHARE = 1 / 30;
/** A search goes no higher than this, relative to the same: a closed loop of few connections does not saturate a server. */
const MOST_TIMES = 30;

/** A search that knows the capacity of earlier trials stays within this factor of it. */
const KNOWN_WITHIN = 1.3;

/** The distance between the seeds of the gaps of two steps: each generator process adds its index. */
export const GAP_SEEDS = 1024;

/** A planned open loop. */
export interface PlannedStep {
  perSecond: number;
  seconds: number;
}

/** What an open loop showed of each promise. */
interface SeenStep extends PlannedStep {
  shares: Shares[];
  /** The generator may have broken a promise: by its CPU, or because it sent or read late. */
  isSpoilt: boolean;
  busy: number;
}

/** The result of a search. */
export interface FoundRate {
  perSecond: number;
  bound?: 'at least' | 'at most';
  by: Promised;
  /** The index of the step that is closest to the capacity and kept the promises; that of the lowest rate if none did. */
  nearest: number;
  reasons: Reason[];
}

/** The steps of a search and its result. */
export interface Search {
  found: FoundRate;
  steps: MeasuredStep[];
  /** Open loops at shares of the capacity. */
  curve: (MeasuredStep & { share: number })[];
}

type MeasuredStep = PlannedStep & { load: LoadResult; sampled: Sampled | undefined };

/** One search, on one server. */
export class CapacitySearch {
  readonly #promises: readonly Promised[];
  readonly #seconds: number;
  readonly #pacePerSecond: number;
  /** An estimate of earlier trials. */
  readonly #known: number | undefined;
  readonly #steps: SeenStep[] = [];
  #spent = 0;
  #fineSteps = 0;

  /**
   * `pacePerSecond` is the goodput in a closed loop. `known` is where the search begins if the capacity was measured before;
   * the estimate does not depend on it otherwise.
   */
  constructor(
    promises: readonly Promised[],
    { seconds, pacePerSecond, known }: { seconds: number; pacePerSecond: number; known?: number | undefined },
  ) {
    this.#promises = promises;
    this.#seconds = seconds;
    this.#pacePerSecond = pacePerSecond;
    this.#known = known;
  }

  /** Returns the next open loop; undefined if the search is over. */
  next(): PlannedStep | undefined {
    const { perSecond, isNear } = this.#aim();
    const seconds = this.#lengthOf(isNear);
    if (this.#spent + STEP_SECONDS.ramp + seconds > this.#seconds + 1e-9) return undefined;
    if (isNear) this.#fineSteps++;
    return { perSecond, seconds };
  }

  /** Takes the result of an open loop. */
  add(planned: PlannedStep, load: LoadResult): void {
    this.#spent += STEP_SECONDS.ramp + planned.seconds;
    const use = Math.max(...load.generators.map(busy));
    const shares = this.#promises.map((promise) => sharesOf(promise, planned.perSecond, load));
    const isLate = this.#promises.some((promise) => dependsOnGenerator(promise, load));
    this.#steps.push({ ...planned, shares, isSpoilt: use > FULL || isLate, busy: use });
  }

  /** Returns the capacity so far. Throws if there was no step. */
  result(): FoundRate {
    const { threshold, index } = this.#estimate();
    const by = this.#promises[index] as Promised;
    const kept = this.#steps.filter((step) => this.#keeps(step));
    const broken = this.#steps.filter((step) => !step.isSpoilt && !this.#keeps(step));
    const nearest = this.#nearest(kept, threshold.perSecond);
    const { perSecond, shares } = this.#steps[nearest] as SeenStep;
    const common = { by, nearest };
    if (broken.length === 0) {
      const use = Math.max(...this.#steps.map((step) => step.busy));
      const found = makeReason('promise-kept', { perSecond: Math.round(perSecond), busy: use });
      const few = this.#judgeAnswers(by, index, perSecond);
      const isSpoilt = this.#steps.some((step) => step.isSpoilt);
      return {
        ...common,
        perSecond,
        bound: 'at least',
        reasons: isSpoilt || few.length === 0 ? [found] : few,
      };
    }
    if (kept.length === 0) {
      const facts = {
        promise: describePromises([by]),
        perSecond,
        brokenShare: shareOf(shares[index] as Shares),
      };
      return { ...common, perSecond, bound: 'at most', reasons: [makeReason('promise-broken', facts)] };
    }
    return {
      ...common,
      perSecond: threshold.perSecond,
      reasons: this.#judgeAnswers(by, index, threshold.perSecond),
    };
  }

  /** Returns the rate of the next step. */
  #aim(): { perSecond: number; isNear: boolean } {
    const first = this.#known ?? FIRST_SHARE * this.#pacePerSecond;
    if (this.#steps.length === 0) return { perSecond: first, isNear: this.#known !== undefined };
    const {
      threshold: { perSecond, deviation },
    } = this.#estimate();
    const isNear = this.#known !== undefined || deviation < NEAR;
    const around = isNear ? (AROUND[this.#fineSteps % AROUND.length] as number) : 1;
    const ceiling = Math.min(
      ...this.#steps.flatMap((step) => (step.busy > FULL ? [0.95 * step.perSecond] : [])),
    );
    // Slow answers come in bursts. A search that followed each of them would end too high.
    const [least, most] =
      this.#known === undefined
        ? [LEAST_SHARE * this.#pacePerSecond, MOST_TIMES * this.#pacePerSecond]
        : [this.#known / KNOWN_WITHIN, this.#known * KNOWN_WITHIN];
    return { perSecond: clamp(perSecond * around, least, Math.max(least, Math.min(most, ceiling))), isNear };
  }

  /** Returns the length of a step. The last one takes what is left of the search, if that is not much shorter. */
  #lengthOf(isNear: boolean): number {
    const wanted = isNear ? STEP_SECONDS.fine : STEP_SECONDS.coarse;
    const left = Math.floor(10 * (this.#seconds - this.#spent - STEP_SECONDS.ramp) + 1e-6) / 10;
    return isNear && left < wanted && left >= wanted * LEAST_PART ? left : wanted;
  }

  /** Returns the capacity by the promise that breaks first, of the steps that count. */
  #estimate(): { threshold: Threshold; index: number } {
    const counted = this.#steps.filter((step) => this.#counts(step));
    const start = this.#known ?? FIRST_SHARE * this.#pacePerSecond;
    const all = this.#promises.map((promise, index) => ({
      index,
      threshold: locateThreshold(
        counted.map(({ shares }) => shares[index] as Shares),
        ({ requests }) => allowedShare(promise, requests),
        start,
      ),
    }));
    return all.toSorted((a, b) => a.threshold.perSecond - b.threshold.perSecond)[0]!;
  }

  /** A step that the generator spoilt still counts if the promises were kept all the same. */
  #counts(step: SeenStep): boolean {
    return !step.isSpoilt || this.#keeps(step);
  }

  #keeps({ shares }: SeenStep): boolean {
    return shares.every(
      (one, index) => shareOf(one) < allowedShare(this.#promises[index] as Promised, one.requests),
    );
  }

  /** Returns the index of the kept step closest to the capacity; of the step with the lowest rate if none is kept. */
  #nearest(kept: readonly SeenStep[], perSecond: number): number {
    const distance = (step: SeenStep): number => Math.abs(Math.log(step.perSecond / perSecond));
    const answered = this.#steps.filter(({ shares: [one] }) => (one?.requests ?? 0) > 0);
    const lowest = answered.toSorted((a, b) => a.perSecond - b.perSecond);
    const [nearest = this.#steps[0]] =
      kept.length > 0 ? kept.toSorted((a, b) => distance(a) - distance(b)) : lowest;
    return this.#steps.indexOf(nearest as SeenStep);
  }

  /** Judges whether the steps near the capacity have as many answers as their percentile needs. */
  #judgeAnswers(by: Promised, index: number, perSecond: number): Reason[] {
    const near = this.#steps.filter(
      (step) =>
        this.#counts(step) &&
        Math.abs(Math.log(step.perSecond / perSecond)) < 2 * (1 - (AROUND[1] as number)),
    );
    const answers = sum(near.map(({ shares }) => shares[index]?.requests ?? 0));
    const needed = neededFor(by);
    return answers >= needed
      ? []
      : [makeReason('few-answers', { answers, needed, promise: describePromises([by]) })];
  }
}

/** The answers that a promise needs: ten beyond its percentile. */
function neededFor(promise: Promised): number {
  return promise.of === 'errors' ? 10 / (promise.belowShare ?? 1) : (answersFor(promise.of) ?? 1000);
}

function shareOf({ requests, counted }: Shares): number {
  return requests === 0 ? 1 : counted / requests;
}

/**
 * Counts the requests that break a promise; without a latency, those that fail. A request that fails breaks every promise: one on latency is about right answers
 * in time. Requests that were still open at the end break it if they are already older.
 */
export function sharesOf(
  { belowUs }: Pick<Promised, 'belowUs'>,
  perSecond: number,
  load: LoadResult,
): Shares {
  const { ok, ...others } = load.counts;
  const failed = countCompletions({ ok: 0, ...others });
  if (belowUs === undefined) return { perSecond, requests: ok + failed, counted: failed };
  const { latencyHistogram, censoredHistogram } = load;
  const answers = mergeHistograms(latencyHistogram === undefined ? [] : [latencyHistogram]);
  const open = mergeHistograms(censoredHistogram === undefined ? [] : [censoredHistogram]);
  const late = countAbove(open, belowUs);
  return {
    perSecond,
    requests: answers.totalCount + failed + late,
    counted: countAbove(answers, belowUs) + failed + late,
  };
}

const NAMES = { p50: 'p50', p90: 'p90', p99: 'p99', 'p99.9': 'p99_9', max: 'max' } as const;

/**
 * Returns true if a promise was broken only because the generator sent requests late, or read answers late, by more than a
 * percentile may be uncertain.
 */
function dependsOnGenerator(
  { of, belowUs = Infinity }: Promised,
  { latencyUs, latencyAtLeastUs, schedule }: LoadResult,
): boolean {
  if (of === 'errors') return false;
  const name = NAMES[of];
  const most = latencyUs?.[name] ?? 0;
  const bounds = [
    [latencyAtLeastUs?.[name] ?? most, readUncertaintyUs(most)],
    [schedule?.sinceSentUs?.[name] ?? most, startUncertaintyUs(most)],
  ] as const;
  return most >= belowUs && bounds.some(([least, allowed]) => least < belowUs && most - least > allowed);
}

/** Returns the right answers per second at the end of a warm-up: over the second half of its slices. */
export function paceOf({ warmup }: LoadResult): number {
  const slices = warmup?.ok ?? [];
  const last = slices.slice(Math.floor(slices.length / 2));
  return Math.max(1, sum(last) / ((last.length * (warmup?.milliseconds ?? 1)) / 1000 || 1));
}

/** Returns the record of a search. */
export function describeSearch(
  { found: { perSecond, bound, by }, steps, curve }: Search,
  head: TrialHead,
  surroundings: Surroundings,
): FoundCapacity {
  const describe = ({ load, sampled, perSecond: offered, seconds }: MeasuredStep): Step => {
    const { server, host = {} } = sampled ?? {};
    const { findings } = judgeTrial(head, { load, ...(server && { server }), host }, surroundings);
    const { p50, p99, p99_9, max } = load.latencyUs ?? {};
    const failed = shareOf(sharesOf({}, offered, load));
    return {
      perSecond: offered,
      seconds,
      servedPerSecond: load.goodputPerSecond,
      ...present({ p50Us: p50, p99Us: p99, p99_9Us: p99_9, maxUs: max }),
      failedShare: failed,
      brokenShare: shareOf(sharesOf(by, offered, load)),
      ...present({ cpuUsPerRequest: findings.cpuUsPerRequest }),
      limit: findings.limit,
    };
  };
  return {
    perSecond,
    ...(bound && { bound }),
    by,
    steps: steps.map(describe),
    ...(curve.length > 0 && { curve: curve.map((step) => ({ share: step.share, ...describe(step) })) }),
  };
}
