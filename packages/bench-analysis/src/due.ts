/**
 * The trials that a sequential test has yet to measure. A comparison that is decided at a look leaves, and the time of
 * the following rounds goes to the comparisons that are still open. Each row keeps the rounds and the verdict with which
 * it left. That is honest at any look, because the intervals of all looks of a row hold simultaneously.
 */
import type { Look } from 'bench-targets/catalogue/looks';
import type { Plan, PlannedTrial } from 'bench-model/plan';
import { placeOf, placesOf, usualMetric } from 'bench-model/planned';
import type { Trial } from 'bench-model/record';
import { type Cell, cellOf } from './cells.ts';
import {
  compareWithin,
  type ComparedRow,
  type ComparedRun,
  type Foreseen,
  foreseeTable,
  scheduleOf,
} from './compare.ts';
import { isEarly, lastLook } from './looks.ts';
import { isOpen } from './comparison.ts';
import { canDecide } from './paired.ts';

/** The comparisons of a sequential test at a look. */
export interface Standing {
  /** The rounds of the look. */
  rounds: number;
  rows: ComparedRow[];
  /** The rows that further rounds may decide. */
  open: ComparedRow[];
  /** The undecided rows that no further look can decide, because too many of their rounds have no bound. */
  lost: ComparedRow[];
}

/** Follows a run from trial to trial. Keeps the comparisons of each look, because they take long to compute. */
export interface Tracker {
  /** The comparisons of its plan, and their looks, with its stops. */
  foreseen: Foreseen;
  /**
   * Counts the complete rounds before the first that is missing: several hosts may store a later one first. The last one
   * counts only if all trials that were due in it are recorded.
   */
  countRounds(trials: readonly Trial[]): number;
  /**
   * Returns the comparisons at the last look that was reached; undefined before the first, after early looks that decided
   * nothing, and for a run of fixed rounds.
   */
  standing(trials: readonly Trial[]): Standing | undefined;
  /** Returns a function that is false for a target without an open comparison: it needs no further round. */
  due: (trials: readonly Trial[]) => (cell: Cell) => boolean;
  /** Returns the planned trials that are still to be measured, if no further look decides a comparison. */
  left(trials: readonly Trial[]): PlannedTrial[];
  /**
   * Returns the stops of a run that ends after these trials. If trials are still due, it was stopped: its comparisons are
   * looked at after the last complete round, which counts if it is continued.
   */
  stopsAfter(trials: readonly Trial[]): number[];
}

/** Creates the tracker of a run: one beside its plan, for all who follow it. */
export function trackRun(plan: Plan, stops: number[] = []): Tracker {
  const foreseen = foreseeTable(plan, stops);
  const standings = new Map<string, Standing>();
  const standAt = (trials: readonly Trial[], rounds: number): Standing | undefined => {
    if (plan.sequentialTest === undefined) return undefined;
    const look = lastLook(foreseen.schedule, rounds);
    if (look === undefined || (isEarly(look) && foreseen.rows === 0)) return undefined;
    const measured = trials.filter(({ round }) => round <= look.rounds);
    const key = `${look.rounds} ${measured.length}`;
    const standing = standings.get(key) ?? standWith({ plan, stops, trials: measured }, look);
    standings.set(key, standing);
    const isSilent = isEarly(look) && !stops.includes(look.rounds);
    return isSilent && standing.rows.every(isUndecided) ? undefined : standing;
  };
  const countRounds = (trials: readonly Trial[]): number => {
    const stored = new Set(trials.map(({ round }) => round));
    let last = 0;
    while (stored.has(last + 1)) last += 1;
    const isDue = isOpenIn(standAt(trials, last - 1));
    const targets = new Set(trials.map(({ target }) => target.id));
    const there = trials.filter(({ round }) => round === last).length;
    const due = placesOf(plan).flatMap((place) =>
      [...targets].filter((target) => isDue({ target, ...place })),
    );
    return there >= due.length ? last : last - 1;
  };
  const standing = (trials: readonly Trial[]): Standing | undefined => standAt(trials, countRounds(trials));
  const due = (trials: readonly Trial[]): ((cell: Cell) => boolean) =>
    plan.sequentialTest === undefined ? () => true : isOpenIn(standing(trials));
  const left = (trials: readonly Trial[]): PlannedTrial[] => {
    const kept = new Set(trials.map(({ id }) => id));
    const isDue = due(trials);
    return plan.trials.filter((planned) => !kept.has(planned.id) && isDue(planned));
  };
  const stopsAfter = (trials: readonly Trial[]): number[] => {
    const rounds = countRounds(trials);
    const isWhole = rounds === 0 || rounds >= plan.rounds || stops.includes(rounds);
    return isWhole || left(trials).length === 0 ? [...stops] : [...stops, rounds];
  };
  return { foreseen, countRounds, standing, due, left, stopsAfter };
}

function isUndecided({ comparison }: ComparedRow): boolean {
  return comparison.verdict === 'undecided';
}

function isOpenIn(standing: Standing | undefined): (cell: Cell) => boolean {
  if (standing === undefined) return () => true;
  const cells = new Set(
    standing.open.flatMap((row) =>
      [row.candidate, row.baseline].map((target) => cellOf({ target, ...placeOf(row) })),
    ),
  );
  return (cell) => cells.has(cellOf(cell));
}

function standWith(run: ComparedRun, look: Look): Standing {
  const { plan, stops } = run;
  const { rounds } = look;
  const { by = usualMetric(plan), threshold = 0 } = plan.sequentialTest ?? {};
  const { rows } = compareWithin(run, { by, threshold });
  const undecided = rows.filter(({ comparison }) => isOpen(comparison, plan.sequentialTest?.beyond));
  // An early look only decides: a server that fails now and then may still have its rounds.
  const lost = undecided.filter(
    ({ comparison }) =>
      !isEarly(look) && !canDecide(comparison.unbounded, scheduleOf(plan, stops), rows.length),
  );
  const open = openAmong(
    undecided.filter((row) => !lost.includes(row)),
    plan,
  );
  return { rounds, rows, open, lost };
}

/**
 * Returns the undecided rows that need more rounds. Targets that repeat another (`--noise`) are measured as long as others
 * are; they need a verdict only if there are no others.
 */
function openAmong(undecided: ComparedRow[], { targets }: Plan): ComparedRow[] {
  const repeats = targets.filter((target) => target.repeats?.kind === 'a/a').map(({ id }) => id);
  const isAA = targets.length - repeats.length < 2;
  return isAA || undecided.some(({ candidate }) => !repeats.includes(candidate)) ? undecided : [];
}

/** The end of a sequential test. */
export interface Ending {
  /** Complete rounds, and the rounds of the whole schedule. */
  rounds: number;
  of: number;
  /**
   * `hopeless`: what is undecided has lost too many rounds. `budget`: the rest of it held no further round. `early`: because of
   * the budget or an interruption, which only the run itself knows.
   */
  why: 'decided' | 'hopeless' | 'schedule-over' | 'budget' | 'interrupted' | 'early';
  /** The comparisons that are undecided at the end, and all of them. */
  undecided: number;
  comparisons: number;
  /** The fewest rounds that decide them; undefined if no number does. */
  fewest: number | undefined;
}

/** Returns when and why a sequential test ended; undefined for a run of fixed rounds. `interrupted` is known to the run itself. */
export function endingOf(
  { plan, stops = [], trials }: ComparedRun,
  interrupted?: boolean,
  before = trackRun(plan, stops),
): Ending | undefined {
  if (plan.sequentialTest === undefined) return undefined;
  const all = before.stopsAfter(trials);
  const tracker = all.length === stops.length ? before : trackRun(plan, all);
  const rounds = tracker.countRounds(trials);
  const standing = tracker.standing(trials);
  const rows = standing?.rows ?? [];
  const isBudget = plan.sequentialTest.budgetSeconds !== undefined && interrupted !== true;
  const early = !isBudget ? 'interrupted' : interrupted === false ? 'budget' : 'early';
  return {
    rounds,
    of: plan.rounds,
    why: all.includes(rounds)
      ? early
      : (causeOf(standing) ?? (rounds >= plan.rounds ? 'schedule-over' : early)),
    undecided: rows.filter(isUndecided).length,
    comparisons: rows.length,
    fewest: before.foreseen.fewestRounds,
  };
}

/** Returns why a test needs no further rounds; undefined if it does. */
function causeOf(standing: Standing | undefined): 'hopeless' | 'decided' | undefined {
  if (standing === undefined || standing.open.length > 0) return undefined;
  return standing.lost.length > 0 ? 'hopeless' : 'decided';
}
