/** The times at which a running comparison may be examined, and the error that each look may spend. */
import type { Look, Schedule } from 'bench-targets/catalogue/looks';
import { errorOfTrim, trimFor } from 'bench-statistics/signed-rank';
import { levelWithin, spentBy, type Spent } from 'bench-statistics/spending';

/** The total error of one table of comparisons. */
export const ERROR_BUDGET = 0.05;

/**
 * The part of a look's error that several rows may divide among themselves. At smaller levels the looks of a schedule
 * depend less on each other, so their joint error falls more slowly than the levels: undiminished, 12/18/27/40/60 would
 * spend up to 5.8 %. The tests hold the joint error of every schedule against 5 %, for up to 120 rows.
 */
const SHARED_PART = 0.88;

/**
 * The part of the error that the first look may spend so that it can decide many rows at all: each needs at least the error
 * of the widest interval. One clear regression of ten is then found after as many rounds as one of one.
 */
const FIRST_PART = 0.3;

/**
 * The part of the unspent error that the look at a stop spends. The rest is for the looks of the run if it is continued:
 * at 82 %, six rounds can decide, and the intervals are 5 % wider than without the rest.
 */
const STOP_PART = 0.82;

/** The part of the error that looks at a stop and after it share: normal scores underestimate their joint error. */
const STOPPED_PART = 0.96;

/** Builds a schedule with one look after a fixed number of rounds. Below 6 rounds it is not an exact one. */
export function fixedSchedule(rounds: number): Schedule {
  const k = trimFor(rounds, ERROR_BUDGET);
  return [k === undefined ? { rounds } : { rounds, k }];
}

/** Returns the looks of a run that was stopped after these rounds. A stop at a planned look takes its place, if rank sums can decide there. */
export function withStops(schedule: Schedule, stops: readonly number[] = []): Schedule {
  const all = new Map<number, Look>(schedule.map((look) => [look.rounds, look]));
  for (const rounds of stops) {
    const { k, error } = all.get(rounds) ?? { rounds };
    if (error !== undefined && trimFor(rounds, ERROR_BUDGET) === undefined) continue;
    all.set(rounds, { rounds, ...(k !== undefined && { k }), isStop: true });
  }
  return [...all.values()].toSorted((a, b) => a.rounds - b.rounds);
}

/** The last look that `rounds` rounds have reached; undefined before the first. */
export function lastLook(schedule: Schedule, rounds: number): Look | undefined {
  return schedule.findLast((look) => look.rounds <= rounds);
}

/** The look at a comparison that ends after `rounds` rounds: a planned one, or else a stop. Undefined without rounds. */
export function lookAt(schedule: Schedule, rounds: number): Look | undefined {
  const last = lastLook(schedule, rounds);
  if (rounds === 0 || last?.rounds === rounds || last === schedule.at(-1)) return last;
  return { rounds, isStop: true };
}

/**
 * The two-sided error of an interval at a look, in a table of `rows` comparisons. One row gets the whole budget of a
 * single look, or the error of the look's k; several rows get equal shares (Bonferroni). 0 without a look, or if it decides nothing.
 *
 * With equal shares, all intervals of a table hold simultaneously, so each claim made from one of them ("slower", "same",
 * a rank, the whole interval above 2 %) is covered by the same 5 %. Holm's intervals are not simultaneous. A max-T test by
 * sign flips needs jointly symmetric rows: simulated at 12 rounds, it missed in up to 8 % of tables.
 *
 * A stop spends `STOP_PART` of the error that the looks before it have left. That is honest because a budget or an
 * interruption ends a run whatever its figures are. If the run is continued, its planned looks spend the rest, in
 * proportion to what they would have spent.
 */
export function levelOf(look: Look | undefined, schedule: Schedule, rows = 1): number {
  if (look === undefined) return 0;
  if (isEarly(look)) return look.error / rows;
  if (look.k === undefined && !look.isStop) return isFixed(schedule) ? ERROR_BUDGET / rows : 0;
  const wasStopped = schedule.some(({ rounds, isStop }) => isStop && rounds < look.rounds);
  if (!look.isStop && !wasStopped) return plannedLevel(look, schedule, rows);
  const key = JSON.stringify([look, schedule, rows]);
  const level =
    levels.get(key) ??
    levelWithin(limitOf(look, schedule, rows), spentBefore(look, schedule, rows), look.rounds);
  levels.set(key, level);
  return level;
}

/** Simulations and tables ask for the same levels again and again. */
const levels = new Map<string, number>();

function plannedLevel({ rounds, k, error = 0 }: Look, schedule: Schedule, rows: number): number {
  if (k === undefined) return error / rows;
  if (isFixed(schedule)) return ERROR_BUDGET / rows;
  const alone = errorOfTrim(rounds, k);
  // The part of a row that shares its error only with its own time.
  if (rows < 2) return alone / rows;
  const first = firstLevels(schedule, rows);
  if (rounds === first.rounds) return first.level;
  const left = (ERROR_BUDGET - rows * first.level) / (ERROR_BUDGET - rows * first.share);
  return (left * SHARED_PART * alone) / rows;
}

/** The level of a row at the first look that can decide one, and the equal share that it would be without `FIRST_PART`. */
function firstLevels(schedule: Schedule, rows: number): { rounds: number; share: number; level: number } {
  const { rounds, k = 0 } = schedule.find((look) => look.k !== undefined) as Look;
  const share = (SHARED_PART * errorOfTrim(rounds, k)) / rows;
  const least = errorOfTrim(rounds, 0);
  return { rounds, share, level: rows * least > FIRST_PART * ERROR_BUDGET ? share : Math.max(share, least) };
}

/** Returns true for the schedule of a run of fixed rounds, whatever its stops are. */
export function isFixed(schedule: Schedule): boolean {
  return schedule.filter(isPlanned).length === 1;
}

function isPlanned({ k, isStop }: Look): boolean {
  return k !== undefined || !isStop;
}

/** Returns true for a look for large differences, with Student's interval. */
export function isEarly(look: Look): look is Look & { error: number } {
  return look.error !== undefined;
}

/** The looks before this one, with the error that each really spends: sums of ranks are discrete. */
function spentBefore(look: Look, schedule: Schedule, rows: number): Spent[] {
  return schedule
    .filter(({ rounds }) => rounds < look.rounds)
    .map((one) => spend(one, levelOf(one, schedule, rows)));
}

function spend(look: Look, level: number): Spent {
  const { rounds } = look;
  if (isEarly(look)) return { rounds, level };
  const k = trimFor(rounds, level);
  return { rounds, level: k === undefined ? 0 : errorOfTrim(rounds, k) };
}

/** The error that all looks up to this one may spend together. */
function limitOf(look: Look, schedule: Schedule, rows: number): number {
  const budget = (STOPPED_PART * ERROR_BUDGET) / rows;
  if (look.isStop) {
    const spent = spentBy(spentBefore(look, schedule, rows));
    return spent + STOP_PART * Math.max(0, budget - spent);
  }
  const stop = schedule.findLast(({ rounds, isStop }) => isStop && rounds < look.rounds) as Look;
  const spent = spentBy([...spentBefore(stop, schedule, rows), spend(stop, levelOf(stop, schedule, rows))]);
  const planned = schedule.filter(isPlanned);
  const upTo = (rounds: number): number =>
    spentBy(
      planned
        .filter((one) => one.rounds <= rounds)
        .map((one) => spend(one, plannedLevel(one, planned, rows))),
    );
  const [before, now, all] = [stop.rounds, look.rounds, Infinity].map(upTo) as [number, number, number];
  return spent + (Math.max(0, budget - spent) * (now - before)) / (all - before);
}

/** The first look at which a table of `rows` comparisons can have intervals; undefined if no look suffices. */
export function firstDecisive(schedule: Schedule, rows: number): Look | undefined {
  return schedule.find((look) => trimFor(look.rounds, levelOf(look, schedule, rows)) !== undefined);
}

/** The fewest rounds after which a stop can decide a table of `rows` comparisons; undefined if none can. */
export function fewestToStop(schedule: Schedule, rows: number): number | undefined {
  const most = schedule.at(-1)?.rounds ?? 0;
  for (let rounds = 1; rounds <= most; rounds++) {
    if (trimFor(rounds, ERROR_BUDGET / rows) === undefined) continue;
    const level = levelOf({ rounds, isStop: true }, schedule, rows);
    if (trimFor(rounds, level) !== undefined) return rounds;
  }
  return undefined;
}
