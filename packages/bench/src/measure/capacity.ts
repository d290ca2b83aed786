/** The search of the highest rate that keeps promises: decides the rate and the length of each open loop, and the result. */
import { countCompletions } from 'bench-model/counts';
import type { LoadResult } from 'bench-model/load';
import type { FoundCapacity, Measured, OpenLoop, Step } from 'bench-model/measured';
import { readUncertaintyUs, startUncertaintyUs } from 'bench-model/metrics';
import { present } from 'bench-model/options';
import { CURVE } from 'bench-model/planned';
import { allowedShare, describePromises, type Promised } from 'bench-model/promise';
import { makeReason, type Reason } from 'bench-model/reasons';
import type { TrialHead } from 'bench-model/record';
import { FULL } from 'bench-model/saturation';
import {
  answersNear,
  countRarelyKept,
  levelOf,
  limitSecondsOf,
  NEAR,
  neededFor,
  toShares,
} from 'bench-analysis/capacities';
import { busy } from 'bench-analysis/judge/judge';
import type { Surroundings } from 'bench-analysis/judge/judge';
import { judgeTrial } from 'bench-analysis/judge/trial';
import { countAbove, mergeHistograms } from 'bench-statistics/histogram';
import { clamp, median, sum } from 'bench-statistics/numbers';
import {
  likelySlope,
  locateThreshold,
  locateTogether,
  type Around,
  type Shares,
  type Threshold,
} from 'bench-statistics/threshold';
import type { Sampled } from 'bench-machine/resources/sampler';

/** The steps of a search: the load before the window of each, and that window. bench-lab/experiments/capacity simulates what they find. */
const STEPS = {
  /** Until the capacity is known roughly. */
  coarse: { rampSeconds: CURVE.rampSeconds, seconds: 0.5 },
  /** About as long near it: queues there change slowly, and that of a server that was idle grows slowly to its usual length. */
  fine: { rampSeconds: 0.8, seconds: 5.2 },
};
/** From this standard deviation of the logarithm on, the capacity is known well enough for long steps. */
const KNOWN = 0.08;
/** The longest part of a search for that. */
const COARSE_PART = 0.5;
/**
 * The rates of long steps in turn: the log odds of slow responses that are expected there, above those at the capacity. With fewer slow
 * responses most steps have none, with more the way to the capacity is long, and two that differ tell the slope.
 */
const ODDS = [1.5, 0.5];
/**
 * The standard deviation of the logarithm of a capacity around that of earlier trials. A step without slow responses says nothing of how
 * far above it the capacity is: without this, the next one would lie far beyond it, and each of its responses be slow.
 */
const KNOWN_DEVIATION = 0.08;
/** A search that kept its promises at every rate, or at none, takes up to this many long steps more. */
const MOST_FURTHER = 2;
/** A search that knows the capacity of earlier trials stays within this factor of it: slow responses come in bursts. */
const KNOWN_WITHIN = 1.3;
/** The first rate, relative to the goodput of the closed loop of the warm-up. */
const FIRST_SHARE = 0.7;
/** The lowest rate, relative to the same. */
const LEAST_SHARE = 1 / 30;
/** A search goes no higher than this, relative to the same: a closed loop of few connections does not saturate a server. */
const MOST_TIMES = 30;

/** The search stays this much below the rate at which the load generator is saturated. */
const BELOW = 0.95;

/** The distance between the seeds of the gaps of two steps: each generator process adds its index. */
export const GAP_SEEDS = 1024;

export interface PlannedStep {
  perSecond: number;
  /** Under the same load before its window. */
  rampSeconds: number;
  seconds: number;
}

/** What an open loop showed of each promise. */
interface SeenStep extends PlannedStep {
  shares: Shares[];
  /** The generator may have broken a promise: by its CPU, or because it sent or read late. */
  isSpoilt: boolean;
  /** All promises were kept. */
  isKept: boolean;
  busy: number;
}

export interface FoundRate {
  perSecond: number;
  bound?: 'at least' | 'at most';
  by: Promised;
  /** The index of a step near the capacity, if possible one that kept the promises. */
  nearest: number;
  reasons: Reason[];
}

/** The steps of a search and its result. */
export interface Search {
  found: FoundRate;
  pacePerSecond: number;
  steps: MeasuredStep[];
}

/** Open loops at other loads than the main one; some at a share of the capacity. */
export type Curve = (MeasuredStep & { share?: number })[];

export type MeasuredStep = PlannedStep & { load: LoadResult; sampled: Sampled | undefined };

/** What a search knows of an earlier one. */
export type Earlier = Pick<FoundCapacity, 'perSecond' | 'by'> & { steps: readonly Tried[] };

type Tried = Pick<Step, 'perSecond' | 'requests' | 'brokenShare'>;

/** One search, on one server. */
export class CapacitySearch {
  readonly #promises: readonly Promised[];
  readonly #seconds: number;
  readonly #pacePerSecond: number;
  readonly #mostFurther: number;
  /** The capacity by all steps of earlier searches; undefined without any. */
  readonly #known: number | undefined;
  /** The steps of earlier searches for each promise, and how its broken share grows by them. */
  readonly #learned: readonly { steps: readonly Shares[]; steepness?: number }[];
  readonly #steps: SeenStep[] = [];
  #spent = 0;
  /** The length of the long steps, once their time has come. */
  #fineSeconds: number | undefined;
  #fineSteps = 0;
  /** The long steps after the planned time. */
  #further = 0;

  /**
   * `pacePerSecond` is the goodput in a closed loop. The search begins where `earlier` ones of the same target ended, and stays
   * near them unless its own steps say otherwise. If it is brief, it takes no further steps after
   * earlier searches: in a comparison, more rounds are worth more than longer ones.
   */
  constructor(
    promises: readonly Promised[],
    {
      seconds,
      pacePerSecond,
      earlier = [],
      isBrief = false,
    }: { seconds: number; pacePerSecond: number; earlier?: readonly Earlier[]; isBrief?: boolean },
  ) {
    this.#promises = promises;
    this.#seconds = seconds;
    this.#pacePerSecond = pacePerSecond;
    this.#mostFurther = isBrief && earlier.length > 0 ? 0 : MOST_FURTHER;
    const learned = promises.map((promise) => {
      const searches = earlier.filter(({ by }) => by.of === promise.of);
      if (searches.length === 0) return { steps: [] };
      const start = median(searches.map(({ perSecond }) => perSecond));
      const each = searches.map(({ steps }) => steps.map(toShares));
      const known = { start, limitSeconds: limitSecondsOf(promise), spread: KNOWN_DEVIATION };
      const { perSecond, steepness } = locateTogether(each, levelOf(promise), known);
      return { capacity: perSecond, steepness, steps: each.flat() };
    });
    this.#learned = learned;
    const capacities = learned.flatMap(({ capacity }) => capacity ?? []);
    this.#known = capacities.length === 0 ? undefined : Math.min(...capacities);
  }

  /** Returns the next open loop; undefined if the search is over. */
  next(): PlannedStep | undefined {
    const left = this.#seconds - this.#spent;
    const { perSecond, deviation, slope } = this.#estimate();
    const isKnown =
      this.#known !== undefined || deviation < KNOWN || this.#spent >= COARSE_PART * this.#seconds;
    if (isKnown) this.#fineSeconds ??= secondsOfFine(left);
    const isFine = this.#fineSeconds !== undefined;
    const { rampSeconds } = isFine ? STEPS.fine : STEPS.coarse;
    const seconds = this.#fineSeconds ?? STEPS.coarse.seconds;
    if (seconds <= 0) return undefined;
    if (rampSeconds + seconds > left + 1e-9) {
      if (!isFine || this.#isBracketed() || this.#further >= this.#mostFurther) return undefined;
      this.#further++;
    }
    const odds = isFine ? (ODDS[this.#fineSteps++ % ODDS.length] as number) : 0;
    const times = Math.min(1 + odds / slope, Math.exp(NEAR));
    return { perSecond: this.#limit(times * perSecond), rampSeconds, seconds };
  }

  /** Returns true if a promise was kept at one rate and broken at another. */
  #isBracketed(): boolean {
    const kept = this.#counted.map(({ isKept }) => isKept);
    return kept.includes(true) && kept.includes(false);
  }

  /** The steps that count: one that the generator spoilt does if the promises were kept all the same. */
  get #counted(): SeenStep[] {
    return this.#steps.filter(({ isSpoilt, isKept }) => !isSpoilt || isKept);
  }

  /** Takes the result of an open loop. */
  add(planned: PlannedStep, load: LoadResult): void {
    this.#spent += planned.rampSeconds + planned.seconds;
    const use = busiest(load);
    const shares = this.#promises.map((promise) => sharesOf(promise, planned.perSecond, load));
    const isLate = this.#promises.some((promise) => dependsOnGenerator(promise, load));
    const isKept = this.#promises.every((promise, index) => {
      const one = shares[index] as Shares;
      return shareOf(one) < allowedShare(promise, one.requests);
    });
    this.#steps.push({ ...planned, shares, isSpoilt: use > FULL || isLate, isKept, busy: use });
  }

  /** Returns the capacity so far. Throws if there was no step. */
  result(): FoundRate {
    const { perSecond: found, index, deviation } = this.#estimate();
    const by = this.#promises[index] as Promised;
    const kept = this.#steps.filter(({ isKept }) => isKept);
    const broken = this.#steps.filter((step) => !step.isSpoilt && !step.isKept);
    const nearest = this.#nearest(kept, found);
    const { perSecond, shares } = this.#steps[nearest] as SeenStep;
    const common = { by, nearest };
    const isSpoilt = this.#steps.some((step) => step.isSpoilt);
    const isLimited = isSpoilt || this.#known === undefined || found > this.#reach;
    if (broken.length === 0 && isLimited) {
      const use = Math.max(...this.#steps.map((step) => step.busy));
      const reach = Math.round(this.#reach);
      const held = makeReason('slo-met', { perSecond: Math.round(perSecond), busy: use, reach });
      const few = this.#judgeAnswers(by, index, { perSecond, deviation });
      return {
        ...common,
        perSecond,
        bound: 'at least',
        reasons: isSpoilt || few.length === 0 ? [held] : few,
      };
    }
    if (kept.length === 0 && this.#known === undefined) {
      const facts = {
        promise: describePromises([by]),
        perSecond,
        brokenShare: shareOf(shares[index] as Shares),
      };
      return { ...common, perSecond, bound: 'at most', reasons: [makeReason('slo-violated', facts)] };
    }
    const few = this.#judgeAnswers(by, index, { perSecond: found, deviation });
    return { ...common, perSecond: found, reasons: [...few, ...this.#judgeKept(by, index)] };
  }

  /** Keeps a rate below those at which the generator was saturated, and within reason. */
  #limit(perSecond: number): number {
    const [least, most] =
      this.#known === undefined
        ? [LEAST_SHARE * this.#pacePerSecond, MOST_TIMES * this.#pacePerSecond]
        : [this.#known / KNOWN_WITHIN, this.#known * KNOWN_WITHIN];
    const ceilings = this.#steps.flatMap((step) => (step.busy > FULL ? [BELOW * step.perSecond] : []));
    return clamp(perSecond, least, Math.max(least, Math.min(most, this.#reach, ...ceilings)));
  }

  /** The highest rate that the load generator reaches, as far as its CPU at the rates so far tells. */
  get #reach(): number {
    const reaches = this.#steps.map((step) => (BELOW * FULL * step.perSecond) / step.busy);
    return reaches.length === 0 ? Infinity : Math.max(...reaches);
  }

  /** Returns the capacity by the promise that breaks first, of the steps that count. */
  #estimate(): Threshold & { index: number } {
    const earlier = this.#known;
    const around = earlier === undefined ? undefined : { perSecond: earlier, deviation: KNOWN_DEVIATION };
    const counted = this.#counted;
    const start = this.#steps.at(-1)?.perSecond ?? earlier ?? FIRST_SHARE * this.#pacePerSecond;
    const all = this.#promises.map((promise, index) => {
      const { steepness } = this.#learned[index] ?? {};
      const known = { start, limitSeconds: limitSecondsOf(promise), steepness, around };
      if (counted.length === 0)
        return { index, perSecond: start, deviation: Infinity, slope: likelySlope(start, known) };
      const shares = counted.map((step) => step.shares[index] as Shares);
      const isRough = this.#fineSeconds === undefined;
      return { index, ...locateThreshold(shares, levelOf(promise), { ...known, isRough }) };
    });
    return all.toSorted((a, b) => a.perSecond - b.perSecond)[0]!;
  }

  /** Returns the index of a step near the capacity, if possible a kept one; in a first search without kept ones that of the lowest rate. */
  #nearest(kept: readonly SeenStep[], perSecond: number): number {
    const distance = (step: SeenStep): number => Math.abs(Math.log(step.perSecond / perSecond));
    const answered = this.#steps.filter(({ shares: [one] }) => (one?.requests ?? 0) > 0);
    const isLowest = kept.length === 0 && this.#known === undefined;
    const near = kept.filter((step) => distance(step) < NEAR);
    const [nearest = this.#steps[0]] = (near.length > 0 ? near : answered).toSorted((a, b) =>
      isLowest ? a.perSecond - b.perSecond : distance(a) - distance(b),
    );
    return this.#steps.indexOf(nearest as SeenStep);
  }

  /** Judges whether this search and earlier ones lie above the capacity. */
  #judgeKept(by: Promised, index: number): Reason[] {
    const own = this.#steps.map(({ shares }) => shares[index] as Shares);
    const counted = countRarelyKept([...(this.#learned[index]?.steps ?? []), ...own], levelOf(by));
    const promise = describePromises([by]);
    return counted === undefined ? [] : [makeReason('slo-rarely-met', { promise, ...counted })];
  }

  /** Judges whether the steps near the capacity have as many responses as their percentile needs. */
  #judgeAnswers(by: Promised, index: number, { perSecond, deviation }: Around): Reason[] {
    const answers = answersNear(
      this.#counted.map(({ shares }) => shares[index] as Shares),
      perSecond,
    );
    const needed = neededFor(by);
    return answers >= needed
      ? []
      : [makeReason('few-answers', { answers, needed, promise: describePromises([by]), deviation })];
  }
}

/** Returns the length of each long step: as many of about the usual length as fit. */
function secondsOfFine(left: number): number {
  const { rampSeconds, seconds } = STEPS.fine;
  return left / Math.max(1, Math.round(left / (rampSeconds + seconds))) - rampSeconds;
}

function shareOf({ requests, counted }: Shares): number {
  return requests === 0 ? 1 : counted / requests;
}

/**
 * Counts the requests that break a promise; without a latency, those that fail. A request that fails breaks every promise: one on latency is about correct responses
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

/** Returns the correct responses per second at the end of a closed loop before all windows: over the second half of its last seconds. */
export function paceOf({ warmup }: LoadResult, seconds: number): number {
  const { ok = [], milliseconds = 1 } = warmup ?? {};
  const last = ok.slice(-Math.max(1, Math.floor((500 * seconds) / milliseconds)));
  return Math.max(1, sum(last) / ((last.length * milliseconds) / 1000 || 1));
}

/** Returns the records of a search and of the open loops at other loads. */
export function describeLoops(
  { search, curve }: { search?: Search | undefined; curve?: Curve | undefined },
  head: TrialHead,
  surroundings: Surroundings,
): Pick<Measured, 'capacity' | 'curve'> {
  const describe = ({ load, sampled, perSecond, seconds }: MeasuredStep): OpenLoop => {
    const { server, host = {} } = sampled ?? {};
    const { findings } = judgeTrial(head, { load, ...(server && { server }), host }, surroundings);
    const { p50, p99, p99_9, max } = load.latencyUs ?? {};
    return {
      perSecond,
      seconds,
      servedPerSecond: load.goodputPerSecond,
      failedShare: shareOf(sharesOf({}, perSecond, load)),
      limit: findings.limit,
      generatorBusy: busiest(load),
      p50Us: p50,
      p99Us: p99,
      p99_9Us: p99_9,
      maxUs: max,
      cpuUsPerRequest: findings.cpuUsPerRequest,
    };
  };
  const points = curve?.map(({ share, ...step }) => ({ ...present({ share }), ...describe(step) }));
  if (search === undefined) return present({ curve: points });
  const { found, pacePerSecond } = search;
  const { perSecond, bound, by } = found;
  const steps = search.steps.map((step) => {
    const broken = sharesOf(by, step.perSecond, step.load);
    return { ...describe(step), requests: broken.requests, brokenShare: shareOf(broken) };
  });
  const capacity = { perSecond, ...present({ bound }), by, pacePerSecond, steps };
  return { ...present({ curve: points }), capacity };
}

function busiest(load: LoadResult): number {
  return Math.max(...load.generators.map(busy));
}
