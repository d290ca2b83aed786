/**
 * What requests cost, and the time that they take: a commit that waits, or takes a lock, costs its server no CPU. One verdict for both.
 *
 * `slower` is said if one of the tests says so, so they share the error in fixed parts (weighted Bonferroni: Rosenthal & Rubin
 * 1983). `same`, and that nothing is worse, must hold for each, which needs no part of it (intersection–union: Berger 1982).
 */
import { METRICS, type MetricId } from 'bench-model/metrics';
import { present } from 'bench-model/options';
import type { Trial } from 'bench-model/record';
import { measuredOf } from 'bench-model/trial';
import { median } from 'bench-statistics/numbers';
import type { Differences } from 'bench-statistics/two-way';
import type { Comparison, Timed } from './comparison.ts';
import { isBlind } from './control.ts';
import { isEarly, lookAt } from './looks.ts';
import { compareAlone, type PairedRules } from './paired.ts';
import { thetaOf } from './verdict.ts';

/** The parts of the error: of cost, and of each of the three metrics of time. What waits usually waits for long. */
export const COST_PART = 0.9;
const TIME_PART = 0.1 / 3;
/** At early looks: their error is small, and a thirtieth of it would miss forty times the latency after three rounds of 4 % noise. */
const EARLY_TIME_PART = 1 / 3;

/** The smallest difference in time that matters, as a share, unless the one in cost is larger: latencies vary more than CPU. */
const TIME_THRESHOLD = 0.05;

/** The trials of two targets in the same rounds. */
export type Rounds = readonly (readonly [candidate: Trial | undefined, baseline: Trial | undefined])[];

/** Returns the metrics of time to ask: the latencies, or of saturated servers whether the rate falls although the cost does not. */
function timesOf(rounds: Rounds): Omit<Timed, 'comparison'>[] {
  const full = rounds.filter((both) => both.every((trial) => trial && measuredOf(trial)?.limit === 'server'));
  if (full.length > rounds.length / 2) return [{ by: 'goodput', isGuard: true }];
  return [
    { by: 'p50', isGuard: false },
    { by: 'p99', isGuard: true },
  ];
}

/** Servers whose rates, or whose use of CPU in all, differ by less, as a log ratio, rest alike. */
const ALIKE = Math.log(1.05);
/**
 * CPU per request rises at most with this power of a falling rate: a server that rests between requests takes them one by one.
 * Measured: a Node server costs 65 µs at 6,000/s, 147 µs at 1,000/s and 208 µs at 400/s.
 */
const RATE_POWER = 0.5;

/**
 * Returns the log ratio of the rates, and what they may add to that of the costs, if the server with the lower rate also uses less
 * CPU in all: what it waits for is not its CPU. Undefined if that server is saturated.
 */
function restOf(differences: Differences, rounds: Rounds): { rate: number; added: number } | undefined {
  const found = rounds.flatMap((both, index) => {
    const [ours, theirs] = both.map((trial) => trial && measuredOf(trial)?.load.goodputPerSecond);
    const cost = differences[index]?.value;
    return ours && theirs && cost !== undefined ? [{ cost, rate: Math.log(ours / theirs) }] : [];
  });
  if (found.length === 0) return undefined;
  const rate = median(found.map((one) => one.rate));
  const use = median(found.map((one) => one.rate + one.cost));
  if (Math.min(Math.abs(use), Math.abs(rate)) < ALIKE || Math.sign(rate) !== Math.sign(use)) return undefined;
  const slower = rounds.flatMap(([ours, theirs]) => (rate < 0 ? ours : theirs) ?? []);
  const full = slower.filter((trial) => measuredOf(trial)?.limit === 'server');
  if (full.length > slower.length / 2) return undefined;
  return { rate, added: Math.sign(rate) * Math.min(RATE_POWER * Math.abs(rate), Math.abs(use)) };
}

/** Bounds differences in CPU per request by what the rates of both servers may add to one of them. */
export function boundByRate(differences: Differences, rounds: Rounds): Differences {
  const { added = 0 } = restOf(differences, rounds) ?? {};
  if (added === 0) return differences;
  return differences.map(
    (one) => one && { ...one, low: one.low + Math.min(0, added), high: one.high + Math.max(0, added) },
  );
}

/** The rules by which time is compared beside cost. */
interface TimeRules {
  rules: PairedRules;
  /** The comparisons that share the error. */
  comparisons: number;
  measure: (rounds: Rounds, by: MetricId) => Differences;
}

/** Adds the time that two targets take in these rounds to their comparison by cost, and judges both together. */
export function withTime(
  cost: Comparison,
  all: Rounds,
  { rules, comparisons, measure }: TimeRules,
): Comparison {
  const rounds = all.slice(0, cost.rounds);
  const look = lookAt(rules.schedule, cost.rounds);
  const part = look !== undefined && isEarly(look) ? EARLY_TIME_PART : TIME_PART;
  const threshold = Math.max(rules.threshold, TIME_THRESHOLD);
  const times = timesOf(rounds).map((one): Timed => {
    const differences = measure(rounds, one.by);
    const own = { ...rules, isCost: false, better: METRICS[one.by].better, threshold };
    const compare = (shares: number): Comparison => compareAlone(differences, own, shares);
    // That it is not worse needs no part of the error, and that it is different needs one.
    const whole = compare(comparisons);
    const isOpen = whole.verdict === 'same' || whole.verdict === 'undecided';
    return { ...one, comparison: isOpen ? whole : compare(comparisons / part) };
  });
  const { rate } = restOf(measure(rounds, 'cpu'), rounds) ?? {};
  return join(cost, times, { rate, theta: thetaOf(rules.threshold), timeTheta: thetaOf(threshold) });
}

/** Joins the comparison by cost with those by time to one verdict: `faster` and `same` only if nothing is worse. */
function join(
  cost: Comparison,
  asked: readonly Timed[],
  { rate, theta, timeTheta }: { rate: number | undefined; theta: number; timeTheta: number },
): Comparison {
  const { estimate, ratio, verdict } = cost;
  if (estimate === undefined || ratio === undefined) return cost;
  // Of the latency behind a saturated generator nothing is known, and the report says why.
  const times = asked.filter(({ comparison: one }) => one.verdict !== 'undecided' || one.why !== 'unbounded');
  const open = times.find(({ comparison, isGuard }) => !isGuard && !isNoWorse(comparison, timeTheta));
  const told = times.filter((one) => isApart(one, cost));
  const whole = { cost: verdict, times: told, ...(rate !== undefined && { rate: Math.exp(rate) }) };
  for (const decided of ['slower', 'faster'] as const) {
    const by = [cost, ...times.map(({ comparison }) => comparison)].filter((one) => one.verdict === decided);
    const isReadWorse = rate === undefined || isBlind(cost) ? !isNoWorse(cost, theta) : estimate >= theta;
    if (by.length === 0 || (decided === 'faster' && (isReadWorse || open !== undefined))) continue;
    const byMoreThanThreshold = by.some((one) => one.byMoreThanThreshold);
    // What decided is told, also if it may follow from a cost that nobody knows yet.
    const decisive =
      verdict === decided ? told : times.filter((one) => told.includes(one) || by.includes(one.comparison));
    return {
      ...cost,
      estimate,
      ratio,
      verdict: decided,
      byMoreThanThreshold,
      whole: { ...whole, times: decisive },
    };
  }
  if (verdict === 'undecided' || open === undefined) return { ...cost, whole };
  const { comparison: time } = open;
  const moreRounds = time.verdict === 'undecided' ? time.moreRounds : undefined;
  const undecided = { verdict: 'undecided', byMoreThanThreshold: false, why: 'time' } as const;
  return { ...cost, ...undecided, whole: { ...whole, times: [open] }, ...present({ moreRounds }) };
}

/** Returns true if a difference is not beyond the threshold on the worse side. */
function isNoWorse({ verdict, interval }: Comparison, theta: number): boolean {
  if (verdict !== 'undecided') return verdict !== 'slower';
  return interval !== undefined && interval.high < theta;
}

/** Returns true if a difference in time does not follow from that in cost: their intervals do not overlap. */
function isApart({ isGuard, comparison: { verdict, interval } }: Timed, cost: Comparison): boolean {
  if (interval === undefined || (isGuard && verdict !== 'slower')) return false;
  const { low, high } = cost.interval ?? { low: Infinity, high: -Infinity };
  return interval.low > high || interval.high < low;
}
