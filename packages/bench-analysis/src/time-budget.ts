/** Keeps a run within its budget of time. */
import { estimateSeconds, secondsPerRound } from 'bench-model/planned';
import type { Plan } from 'bench-model/plan';
import type { Trial } from 'bench-model/record';
import { type Foreseen, foreseeTable } from './compare.ts';
import type { Tracker } from './due.ts';

/** A budget that does not hold the rounds that a comparison needs. */
export interface ShortBudget {
  budgetSeconds: number;
  /** The rounds that it holds, those that a large difference needs, and those of others. */
  held: number;
  needed: number;
  fewest: number;
  /** The budget that holds them. */
  enoughSeconds: number;
}

/** Warm-ups that take longer than is usual for a language make a run up to half as long again. */
const LONGER_WARMUPS = 1.5;

/** The part of a round for its warm-ups if its budget is short: a server of 500 responses/s can take 10 s to be warm. */
const WARMING = 0.4;

/** Finds out if the budget of a plan may end before any verdict, by the estimated time of its rounds. */
export function findShortBudget(plan: Plan): ShortBudget | undefined {
  const { budgetSeconds } = plan.sequentialTest ?? {};
  const foreseen = foreseeTable(plan);
  const needed = roundsOfLook(foreseen);
  if (budgetSeconds === undefined || foreseen.rows === 0 || needed === Infinity) return undefined;
  const perRound = LONGER_WARMUPS * secondsPerRound(plan);
  const held = Math.floor(budgetSeconds / perRound);
  const enoughSeconds = needed * perRound;
  if (held >= needed) return undefined;
  return { budgetSeconds, held, needed, fewest: foreseen.fewestRounds ?? 2 * needed, enoughSeconds };
}

/** Returns the rounds of the first look, which decides a large difference; Infinity without one. */
function roundsOfLook({ schedule, fewestRounds }: Foreseen): number {
  return Math.min(fewestRounds ?? Infinity, schedule[0]?.rounds ?? Infinity);
}

/** Returns the longest warm-up of each server, in seconds, so that a budget holds the rounds of the first look; Infinity without one. */
export function longestWarmup(plan: Plan): number {
  const { budgetSeconds = Infinity } = plan.sequentialTest ?? {};
  const servers = new Set(plan.trials.map(({ life, id }) => life ?? id)).size / plan.rounds;
  return (WARMING * budgetSeconds) / Math.min(roundsOfLook(foreseeTable(plan)), plan.rounds) / servers;
}

/**
 * Returns a function that decides before each trial if the budget of a plan allows it; for a plan without one, always. A round
 * begins if the budget holds it, by the pace of the rounds so far; one that has begun is finished. `before` are trials of an
 * interrupted run, `atOnce` the rounds that are measured side by side.
 */
export function keepTime(
  plan: Plan,
  tracker: Tracker,
  {
    before,
    atOnce = 1,
    now = () => performance.now(),
  }: { before: readonly Trial[]; atOnce?: number; now?: () => number },
): (trials: readonly Trial[]) => boolean {
  const { budgetSeconds } = plan.sequentialTest ?? {};
  if (budgetSeconds === undefined) return () => true;
  const stored = new Set(before.map(({ id }) => id));
  const beganAtMs = now();
  return (trials) => {
    const rounds = tracker.countRounds(trials);
    const isMidway = atOnce === 1 && trials.some(({ round }) => round > rounds);
    if (isMidway) return true;
    const elapsed = (now() - beganAtMs) / 1000;
    const leftSeconds = budgetSeconds - elapsed;
    const ids = new Set(trials.flatMap(({ id }) => (stored.has(id) ? [] : [id])));
    const measured = plan.trials.filter(({ id }) => ids.has(id));
    if (measured.length === 0) return true;
    const pace = (atOnce * elapsed) / estimateSeconds(plan, measured);
    const due = tracker.left(trials);
    const next = due.filter(({ round }) => round === due[0]?.round);
    return pace * estimateSeconds(plan, next) <= leftSeconds;
  };
}
