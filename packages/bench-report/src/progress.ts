import { estimateSeconds, isSamePlace, usualMetric, type RunEvent } from 'bench-model/planned';
import { compareWithin, foreseeTable, questionOf, type ComparedRow } from 'bench-analysis/compare';
import type { Standing, Tracker } from 'bench-analysis/due';
import { figureOf } from 'bench-analysis/metrics';
import { summarise } from 'bench-analysis/summary';
import { METRICS } from 'bench-model/metrics';
import type { Plan, PlannedTrial } from 'bench-model/plan';
import type { Trial } from 'bench-model/record';
import { FEWEST_WITH_SPREAD } from 'bench-statistics/two-way';
import { describeBaseline, describeDifference, describeVerdict } from './compare.ts';
import {
  countOf,
  formatCost,
  formatCount,
  formatSpan,
  formatUs,
  formatWhole,
  FORMATS,
  nameCell,
  nameTarget,
} from './format.ts';
import type { Style } from './paint.ts';
import { toLine } from './printable.ts';
import { toTable } from './table.ts';
import { OF_VERDICT, renderTerminal, type Layout } from './terminal.ts';

/** The screen that shows progress. */
export interface Screen {
  /** True on a terminal, where the next line can replace the current one. */
  isLive: boolean;
  /** The layout of a report between two lines of progress. */
  layout(): Layout;
  /** Shows a line, or several, until the next text replaces them. Called only if `isLive`. */
  showLive(text: string): void;
  /** Shows a line that stays. */
  showLine(text: string, style?: Style): void;
  /** Shows a rendered report that stays. Called only if `isLive`. */
  showReport(text: string): void;
}

/** The least time between two tables, in seconds: rounds in turns are short. */
const BETWEEN_TABLES_SECONDS = 15;

/** From this time on, progress names the hour of the end too: the line stays unchanged during a trial. */
const SECONDS_WITH_HOUR = 90;

/**
 * Shows the progress of a run: one line per trial, and the comparisons at each look of a sequential test. On a terminal
 * also a live line with the time left and the figures so far, and the table after each round. `before` are the trials
 * that an interrupted run has stored.
 */
export function showProgress(
  plan: Plan,
  screen: Screen,
  { tracker, before }: { tracker: Tracker; before: readonly Trial[] },
): (event: RunEvent) => void {
  const began = performance.now();
  const trials = [...before];
  const budgetSeconds = plan.sequentialTest?.budgetSeconds ?? Infinity;
  let shown: Standing | undefined = tracker.standing(trials);
  let tableAt = began;
  let spent = 0;
  let round: number | undefined;
  let rows: [name: string, rest: string][] = [];
  const drawRows = liveRows(plan, tracker);

  // The pace of the trials so far corrects an estimate, once there are enough of them.
  const pace = (): number => {
    const ids = new Set(trials.slice(before.length).map(({ id }) => id));
    const measured = plan.trials.filter(({ id }) => ids.has(id));
    return spent > 0 && measured.length > 2 ? spent / estimateSeconds(plan, measured) : 1;
  };
  const estimate = (due: PlannedTrial[]): number => pace() * estimateSeconds(plan, due);

  const endRound = (ended: number): void => {
    if (plan.sequentialTest !== undefined) {
      const standing = tracker.standing(trials);
      if (standing === undefined || standing.rounds === shown?.rounds) return;
      for (const [line, style] of describeLook(standing, shown)) screen.showLine(line, style);
      shown = standing;
    } else if (screen.isLive && performance.now() - tableAt >= BETWEEN_TABLES_SECONDS * 1000) {
      tableAt = performance.now();
      screen.showReport(renderStanding(plan, trials, ended, screen.layout()));
    }
  };

  return (event) => {
    const { done, of } = event;
    if (event.kind === 'ended') {
      spent = (performance.now() - began) / 1000;
      trials.push(event.trial);
      round = event.trial.round;
      screen.showLine(describeTrial(event.trial, done, of), STYLES[event.trial.status]);
      return;
    }
    const { planned } = event;
    if (round !== undefined && planned.round > round) {
      endRound(round);
      if (screen.isLive) rows = drawRows(trials, round);
      round = planned.round;
    }
    if (!screen.isLive) return;
    const head = `[${done + 1}/${of}] ${describePlanned(plan, planned)}`;
    const due = tracker.left(trials);
    const leftSeconds = budgetSeconds - spent;
    const holds = (rounds: number): boolean =>
      estimate(due.filter((one) => one.round <= rounds)) <= leftSeconds;
    const found = describeFound(plan, planned, { trials, tracker, holds });
    const left = describeLeft(plan, Math.min(estimate(due), Math.max(0, leftSeconds)));
    const { width } = screen.layout();
    const live = [fitLine(head, found, left, width), ...rows.map(([name, rest]) => fit(name, rest, width))];
    screen.showLive(live.join('\n'));
  };
}

/** More comparisons would take long to compute after each round, and fill the terminal. */
const MOST_ROWS = 4;

/**
 * Returns a function that draws the open comparisons of a sequential test after a round, as if the run was stopped there: `new against
 * old at 10  ── ● ──   │   +29 % (+26 % to +31 %)  6 rounds`. The bars narrow: each is as wide as the widest interval so far.
 */
function liveRows(plan: Plan, tracker: Tracker): (trials: Trial[], rounds: number) => [string, string][] {
  const reaches = new Map<string, number>();
  const isShown = plan.sequentialTest !== undefined && tracker.foreseen.rows <= MOST_ROWS;
  return (trials, rounds) => {
    if (!isShown) return [];
    const { open } = tracker.standing(trials) ?? {};
    const { rows } = compareWithin({ plan, trials, stops: [rounds] }, questionOf(plan));
    return rows.flatMap((row) => {
      const { ratio, rounds: own } = row.comparison;
      const name = describePair(row);
      const isLeft = open !== undefined && !open.some((one) => describePair(one) === name);
      if (ratio === undefined || isLeft) return [];
      const { estimate, range, interval = range } = ratio;
      const reach = Math.max(reaches.get(name) ?? 0.05, ...[interval.low, interval.high].map(reachOf));
      reaches.set(name, reach);
      const figures = `${describeDifference(row.comparison)}  ${countOf(own, 'round')}`;
      return [[`  ${name}`, `  ${drawBar(estimate, interval, reach)}  ${figures}`]];
    });
  };
}

function reachOf(ratio: number): number {
  const reach = Math.abs(Math.log(ratio));
  return Number.isFinite(reach) ? reach : 0;
}

/** The columns of a bar; its middle is no difference. */
const BAR = 25;

/** Draws an interval of ratios on a scale that reaches this far to both sides, as a log ratio. */
function drawBar(estimate: number, { low, high }: { low: number; high: number }, reach: number): string {
  const placeOf = (ratio: number): number =>
    Math.round(((Math.min(1, Math.max(-1, Math.log(ratio) / reach)) + 1) / 2) * (BAR - 1));
  const [from, at, to] = [low, estimate, high].map(placeOf) as [number, number, number];
  return Array.from({ length: BAR }, (_, place) => {
    if (place === at) return '●';
    if (place >= from && place <= to) return '─';
    return place === placeOf(1) ? '│' : ' ';
  }).join('');
}

const STYLES: Partial<Record<Trial['status'], Style>> = { failed: 'bad', suspect: 'doubtful' };

/** More names do not fit into a line. */
const MOST_NAMED = 2;

/** `fastify at 100, round 2`; servers that take turns together. */
function describePlanned({ trials }: Plan, planned: PlannedTrial): string {
  const { target, connections, route, round, duel } = planned;
  const names =
    duel === undefined
      ? [target]
      : trials.filter((one) => one.duel === duel && one.route === route).map((one) => one.target);
  const named = names.length > MOST_NAMED ? `${names.length} servers in turns` : names.join(' and ');
  return `${nameCell({ target: named, connections, route })}, round ${round}`;
}

/** `at most 22 min left, until 15:12`: the time that the rest of a plan takes. */
function describeLeft({ sequentialTest }: Plan, seconds: number): string {
  const most = sequentialTest?.budgetSeconds === undefined ? '' : 'at most ';
  if (seconds < SECONDS_WITH_HOUR) return `${most}${formatSpan(seconds)} left`;
  const end = new Date(Date.now() + seconds * 1000);
  const hour = end.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
  return `${most}${formatSpan(seconds)} left, until ${hour}`;
}

/**
 * `may end after 3 rounds for large differences, after 12 for others, in about 4 min; 21 min left`: what a run has before it. `due` are the trials
 * that it has to measure in `leftSeconds`.
 */
export function describeAhead(plan: Plan, due: PlannedTrial[], leftSeconds: number): string {
  const left = describeLeft(plan, leftSeconds);
  const { rows, decisiveRounds } = foreseeTable(plan);
  const isNew = due.length === plan.trials.length;
  if (plan.sequentialTest === undefined || rows === 0 || decisiveRounds === undefined || !isNew) return left;
  const seconds = estimateSeconds(
    plan,
    due.filter(({ round }) => round <= decisiveRounds),
  );
  if (seconds >= leftSeconds) return left;
  return `may end after ${FEWEST_WITH_SPREAD} rounds for large differences, after ${decisiveRounds} for others, in about ${formatSpan(seconds)}; ${left}`;
}

/** The figures so far; the text may be cut, but not its unit. */
interface Found {
  text: string;
  unit: string;
}

/**
 * The figures so far at the rung of a trial, the best first; for a sequential test, what the last look decided. `holds` tells
 * whether its budget lasts to the end of a round.
 */
function describeFound(
  plan: Plan,
  planned: PlannedTrial,
  {
    trials,
    tracker,
    holds,
  }: { trials: readonly Trial[]; tracker: Tracker; holds: (rounds: number) => boolean },
): Found {
  if (plan.sequentialTest !== undefined) {
    const next = tracker.foreseen.schedule.find(({ rounds }) => rounds >= planned.round)?.rounds;
    const isHeld = next === undefined || holds(next);
    return { text: describeNextLook(tracker.standing(trials), next, isHeld), unit: '' };
  }
  const rows = summarise(trials.filter((trial) => isSamePlace(trial, planned)));
  for (const id of [usualMetric(plan), 'goodput'] as const) {
    const { unit, better } = METRICS[id];
    const figures = rows
      .flatMap(({ target, figures: { [id]: figure } }) =>
        figure?.valid === true ? [{ target, value: figure.median }] : [],
      )
      .toSorted((a, b) => (better === 'lower' ? a.value - b.value : b.value - a.value));
    if (figures.length === 0) continue;
    const text = figures.map(({ target, value }) => `${target} ${FORMATS[unit](value)}`).join(', ');
    return { text, unit: id === 'cpu' ? ' µs/req' : '/s' };
  }
  return { text: '', unit: '' };
}

/** `1 of 2 decided after 12 rounds, next look after 18`, or `first look at the end of the budget`. */
function describeNextLook(standing: Standing | undefined, next: number | undefined, isHeld: boolean): string {
  const [which, unit] = standing === undefined ? ['first', ' rounds'] : ['next', ''];
  const when = isHeld ? `after ${next}${unit}` : 'at the end of the budget';
  const upcoming = next === undefined ? '' : `${which} look ${when}`;
  if (standing === undefined) return upcoming;
  const { rows } = standing;
  const head = `${countDecided(rows, standing.open)} of ${rows.length} decided after ${countOf(standing.rounds, 'round')}`;
  return [head, upcoming].filter(Boolean).join(', ');
}

/** The comparisons of a sequential test at one of its looks, without those that had left before; empty if an early look says nothing new. */
function describeLook(
  { rounds, rows, open }: Standing,
  before: Standing | undefined,
): [line: string, style?: Style][] {
  if (rows.length === 0) return [];
  const were = before?.open.map(describePair);
  const fresh = rows.filter((row) => were?.includes(describePair(row)) ?? true);
  if (
    fresh.every(({ comparison }) => comparison.verdict === 'undecided' && comparison.why === 'too-few-rounds')
  )
    return [];
  return [
    [
      `after ${countOf(rounds, 'round')}, ${countDecided(rows, open)} of ${countOf(rows.length, 'comparison')} decided:`,
    ],
    ...fresh.map((row): [string, Style] => [
      `  ${describePair(row)}: ${describeVerdict(row)}`,
      OF_VERDICT[row.comparison.verdict],
    ]),
  ];
}

function describePair(row: ComparedRow): string {
  const against = describeBaseline({ baseline: row.baseline, rows: [row] });
  return `${nameTarget({ ...row, target: row.candidate })} ${against} at ${formatWhole(row.connections)}`;
}

function countDecided(rows: readonly ComparedRow[], open: readonly ComparedRow[]): number {
  return rows.filter((row) => !open.includes(row) && row.comparison.verdict !== 'undecided').length;
}

/** Renders the table after a round, with the trials so far. */
function renderStanding(plan: Plan, trials: Trial[], rounds: number, layout: Layout): string {
  const rows = summarise(trials);
  return renderTerminal(
    {
      title: `after ${formatWhole(rounds)} of ${countOf(plan.rounds, 'round')}:`,
      setting: [],
      ...toTable(rows, undefined, { companions: trials[0]?.companions }),
      notes: [],
    },
    layout,
  );
}

/** The least room for the figures so far, and for a name. */
const FEWEST_FOUND = 16;

/** Joins the parts of a live line, and shortens the figures so far to what fits: a longer line could not be replaced. */
function fitLine(head: string, { text, unit }: Found, left: string, width = Infinity): string {
  const room = width - 1 - `${head} · ${unit} · ${left}`.length;
  if (text === '' || room < FEWEST_FOUND) return fit(head, ` · ${left}`, width);
  return `${head} · ${cut(text, room)}${unit} · ${left}`;
}

/** Joins a name and the figures behind it, which move, and shortens the name to what fits. */
function fit(name: string, rest: string, width = Infinity): string {
  return cut(cut(name, Math.max(FEWEST_FOUND, width - 1 - rest.length)) + rest, width - 1);
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}

/** One trial in one line. */
export function describeTrial(trial: Trial, done: number, of: number): string {
  const where = trial.host === undefined ? '' : ` on ${trial.host}`;
  const head = `[${done}/${of}] ${nameCell({ ...trial, target: trial.target.id })}, round ${trial.round}${where}: ${trial.status}`;
  const [reason] = trial.reasons;
  const why = reason === undefined ? '' : ` — ${toLine(reason.text)}`;
  if (trial.status === 'failed') return `${head}${why}`;
  const [goodput, p99, cpu, startup] = (['goodput', 'p99', 'cpu', 'startup'] as const).map((id) =>
    figureOf(trial, METRICS[id]),
  );
  const figures = [
    goodput && `${formatCount(goodput.value)}/s`,
    p99 && `p99 ${p99.atLeast ? '≥ ' : ''}${formatUs(p99.value)}`,
    cpu && `${formatCost(cpu.value)} µs CPU/req`,
    !goodput && startup && `start-up ${FORMATS.s(startup.value)}`,
  ];
  return `${head}, ${figures.filter(Boolean).join(', ')}${why}`;
}
