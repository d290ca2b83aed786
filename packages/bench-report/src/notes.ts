/** The notes on a run: what a reader must know beside its table, in the order in which every view shows them. */
import { EACH } from 'bench-analysis/judge/judge';
import { METRICS, metricsOf, type MetricId } from 'bench-model/metrics';
import {
  briefOf,
  changeWithin,
  isFinding,
  makesLowerBound,
  meaningOf,
  type Reason,
  type ReasonCode,
} from 'bench-model/reasons';
import { sum } from 'bench-statistics/numbers';
import { FEWEST_WITH_SPREAD } from 'bench-statistics/two-way';
import { describeControl } from './compare.ts';
import { describeBudget, describeIdleCloses } from './detail.ts';
import { describeEnding } from './ending.ts';
import { countOf, formatShare, formatUs, formatWhole, nameCell } from './format.ts';
import { explainBuilds } from './interpreters.ts';
import type { Model, ModelRow, Note, Problem } from './model/definition.ts';
import { listAll, listLatencies } from './words.ts';

/** Returns the lines of all notes: brief for a first look, or in full. */
export function listNotes({ notes }: Pick<Model, 'notes'>, extent: 'brief' | 'full'): string[] {
  return notes.flatMap((note) => note[extent]);
}

/** Returns what the servers of a run did, each in a few words with its figure. */
export function listFound({ notes }: Pick<Model, 'notes'>): string[] {
  return notes.flatMap(({ found }) => found ?? []);
}

/** A model whose notes are not written yet. Its rows are in the order in which they were first measured. */
type Facts = Omit<Model, 'notes' | 'outcome'>;

const NOTES: readonly ((facts: Facts) => Note[])[] = [
  ({ ending, plan }) => noteAlike(describeEnding(ending, plan).map((line) => `The run ${line}.`)),
  noteControl,
  ({ servers }) => noteAlike(explainBuilds(servers)),
  noteFailures,
  noteFindings,
  noteDisturbances,
  noteSkipped,
  noteStatuses,
  noteIdleness,
  noteDeferred,
  noteOpened,
  ({ rows }) =>
    noteRows(
      rows,
      'The server closes idle connections.',
      ({ idleCloses }) => idleCloses && describeIdleCloses(idleCloses),
    ),
  ({ rows }) => noteRows(rows, 'Processes of the server came and went.', describeTurnover, describeTurnover),
  noteBackground,
  noteBudgets,
];

/** Returns all notes on a run. */
export function notesOf(model: Facts): Note[] {
  const facts = { ...model, rows: model.rows.toSorted((a, b) => startOf(a) - startOf(b)) };
  return NOTES.flatMap((note) => note(facts)).filter(({ full }) => full.length > 0);
}

function startOf({ trials }: ModelRow): number {
  return Math.min(...trials.map(({ order }) => order));
}

/** A note that is as long in brief. */
function noteAlike(lines: string[], found?: string): Note[] {
  return [{ brief: lines, full: lines, found }];
}

/** Says something of a row in words; undefined if there is nothing to say. */
type Describe = (row: ModelRow) => string | undefined;

/**
 * A note of one line on all rows that something can be said of: after `head`, each with its words. Empty without any. `find` says
 * in a few words what a server did.
 */
function noteRows(rows: readonly ModelRow[], head: string, describe: Describe, find?: Describe): Note[] {
  const places = describeEach(rows, describe).map(({ row, words }) => `${nameCell(row)}: ${words}`);
  if (places.length === 0) return [];
  return noteAlike([`${head} ${places.join('; ')}.`], find && findEach(rows, find));
}

function describeEach(rows: readonly ModelRow[], describe: Describe): { row: ModelRow; words: string }[] {
  return rows.flatMap((row) => {
    const words = describe(row);
    return words === undefined ? [] : [{ row, words }];
  });
}

/** Returns what servers did in a few words: with the row, if there are several, and the number of the other rows. */
function findEach(rows: readonly ModelRow[], describe: Describe): string | undefined {
  const [first, ...others] = describeEach(rows, describe);
  if (first === undefined || rows.length === 1) return first?.words;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return `${nameCell(first.row)}${more}: ${first.words}`;
}

/** What was planted into turns of the baselines, and what was read of it; or that nothing could be planted. */
function noteControl({ plan, comparisons }: Facts): Note[] {
  const all = comparisons.find(({ by }) => by === 'cpu')?.rows ?? [];
  const rows = all.filter(({ comparison: one }) => !one.control || one.rounds >= FEWEST_WITH_SPREAD);
  if (plan.control === undefined || rows.length === 0) return [];
  // Candidates share the control of their baseline.
  const readings = new Map(
    rows.flatMap((row) => {
      const text = describeControl(row.comparison);
      return text === '' ? [] : [[nameCell({ ...row, target: row.baseline }), text]];
    }),
  );
  const [only, ...others] = readings.values();
  if (only === undefined)
    return noteAlike([
      'No known cost was planted: that needs a cgroup around a server that Bench starts, and requests that can be repeated.',
    ]);
  if (others.length === 0) return noteAlike([`A ${only}.`]);
  return noteAlike([`Known costs: ${[...readings].map(([name, text]) => `${name}, ${text}`).join('; ')}.`]);
}

function noteFailures({ problems, rows }: Facts): Note[] {
  const fatal = problems.filter(({ isFatal }) => isFatal);
  const [first] = fatal;
  const [place] = first?.places ?? [];
  if (first === undefined || place === undefined) return [];
  const failed = sum(rows.map(({ statuses }) => statuses.failed));
  const cause = `${nameCell(place)}: ${first.reason.text.replace(/\.*$/, '.')}`;
  return [
    {
      brief: [
        `${formatWhole(failed)} of ${countTrials(rows)} trials failed${failed > 1 ? ', such as' : ':'} ${cause}`,
      ],
      full: fatal.map((problem) => describeProblem(problem, rows)),
    },
  ];
}

function noteFindings({ problems, rows }: Facts): Note[] {
  return problems
    .filter(({ reason }) => isFinding(reason))
    .map((problem) => ({
      brief: describeFinding(problem, rows),
      full: [describeProblem(problem, rows)],
      found: findEach(rows, (row) => findUsual(problem.reason.code, row)),
    }));
}

/** Returns a finding of most rounds of a row with its figure: `memory grows by 4.0 KB per response`; undefined for another row. */
function findUsual(code: ReasonCode, { reasons, rounds, statuses }: ModelRow): string | undefined {
  const own = reasons.find(({ reason }) => reason.code === code);
  const isUsual = own !== undefined && own.rounds > (rounds - statuses.failed) / 2;
  return isUsual ? briefOf(own.reason) : undefined;
}

/** Findings with more texts than these are counted. */
const MOST_TEXTS = 2;

/** Describes a finding: its whole text with its rows, or how often it was found, with an example. */
function describeFinding(problem: Problem, rows: readonly ModelRow[]): string[] {
  const { code } = problem.reason;
  const found = describeEach(
    rows,
    (row) => row.reasons.find(({ reason }) => reason.code === code)?.reason.text,
  );
  const texts = [...Map.groupBy(found, ({ words }) => words)];
  if (texts.length <= MOST_TEXTS)
    return texts.map(([text, own]) => `${own.map(({ row }) => nameCell(row)).join(', ')}: ${text}.`);
  return found
    .slice(0, 1)
    .map(({ row, words }) => `${summarise(problem, rows)}, such as ${nameCell(row)}: ${words}.`);
}

/** The disturbances that are described in a sentence each; the others are counted in one. */
const MOST_DISTURBANCES = 3;

function noteDisturbances({ problems, rows }: Facts): Note[] {
  const all = problems.filter(({ reason, isFatal }) => !isFatal && !isFinding(reason));
  const others = all.slice(MOST_DISTURBANCES);
  const counted = others.map((one) => `in ${countProblem(one)}, ${meaningOf(one.reason).summary}`);
  return [
    ...all.slice(0, MOST_DISTURBANCES).map((problem): Note => {
      const effect = describeEffect(problem.reason, rows);
      return {
        brief: [`${summarise(problem, rows)}${effect === '' ? '' : `; there, ${effect}`}.`],
        full: [describeProblem(problem, rows)],
      };
    }),
    {
      brief: counted.length === 0 ? [] : [`Also: ${counted.join('; ')}.`],
      full: others.map((problem) => describeProblem(problem, rows)),
    },
  ];
}

/** `In 3 of 60 trials, other processes used the CPU`. */
function summarise(problem: Problem, rows: readonly ModelRow[]): string {
  return `In ${countProblem(problem)} of ${countTrials(rows)} trials, ${meaningOf(problem.reason).summary}`;
}

function countProblem({ places }: Problem): string {
  return formatWhole(sum(places.map(({ rounds }) => rounds)));
}

function countTrials(rows: readonly ModelRow[]): string {
  return formatWhole(sum(rows.map(({ rounds }) => rounds)));
}

/** The effects of a disturbance on one metric, and on several. */
const EFFECTS = {
  bound: ['is a lower bound', 'are lower bounds'],
  within: ['is known within bounds', 'are known within bounds'],
  lost: ['does not count', 'do not count'],
} as const;

/** `goodput is a lower bound, and latency does not count`; empty for a reason that invalidates none of the measured metrics. */
function describeEffect(reason: Reason, rows: readonly ModelRow[]): string {
  const affected = Map.groupBy(affectedBy(reason, rows), (id): keyof typeof EFFECTS => {
    if (makesLowerBound(reason, id)) return 'bound';
    return changeWithin(reason.bounds?.[id]) === undefined ? 'lost' : 'within';
  });
  const parts = (Object.keys(EFFECTS) as (keyof typeof EFFECTS)[]).flatMap((effect) => {
    const names = nameMetrics(affected.get(effect) ?? []);
    return names.length === 0 ? [] : `${listAll(names)} ${EFFECTS[effect][names.length === 1 ? 0 : 1]}`;
  });
  return parts.join(', and ');
}

const RARE: readonly MetricId[] = ['capacity', 'services'];

/** Returns the metrics that a reason invalidates; those that few runs measure only if a row has them. */
function affectedBy({ invalidates }: Reason, rows: readonly ModelRow[]): MetricId[] {
  return invalidates.filter((id) => !RARE.includes(id) || rows.some(({ figures }) => figures[id]));
}

/** Names metrics in words; the median and the whole tail together are the latency. */
function nameMetrics(metrics: readonly MetricId[]): string[] {
  const tail = metricsOf('tail');
  if (!tail.every((id) => metrics.includes(id))) return metrics.map((id) => METRICS[id].name);
  const whole = metrics.includes('p50') ? 'latency' : 'tail latency';
  return [...new Set(metrics.map((id) => (id === 'p50' || tail.includes(id) ? whole : METRICS[id].name)))];
}

function describeProblem({ reason, isFatal, places }: Problem, rows: readonly ModelRow[]): string {
  const { code, text } = reason;
  const invalidates = affectedBy(reason, rows);
  const seen = places.map((place) => {
    const often = place.of > 1 ? ` (${place.rounds} of ${place.of} rounds)` : '';
    return `${nameCell(place)}${often}`;
  });
  // A failed trial has no figures that could be invalid.
  const effect = invalidates.length === 0 || isFatal ? '' : `; this invalidates ${invalidates.join(', ')}`;
  return `${code}: ${places.length > 1 ? 'e.g. ' : ''}${text}. Seen in ${seen.join(', ')}${effect}.`;
}

/** More notes of one kind are counted. */
const MOST_ALIKE = 2;

function noteSkipped({ leftOut }: Facts): Note[] {
  const full = leftOut.map(
    ({ target, reason, hint }) => `${target} was skipped: ${reason}${hint ? ` (${hint})` : ''}`,
  );
  const names = leftOut.map(({ target }) => target).join(', ');
  return [
    { brief: full.length > MOST_ALIKE ? [`${full.length} targets were skipped: ${names}.`] : full, full },
  ];
}

/** Lists the statuses of rows whose responses were not all 200, and what 304 means for their figures. */
function noteStatuses({ rows }: Facts): Note[] {
  const notes = noteRows(rows, 'Statuses:', ({ answered }) => {
    if (answered === undefined) return undefined;
    const counts = Object.entries(answered).toSorted(([, a], [, b]) => b - a);
    const [only] = counts;
    return counts.length === 1 && only !== undefined
      ? `all ${formatWhole(only[1])} responses had status ${only[0]}`
      : counts.map(([status, count]) => `${formatWhole(count)} with status ${status}`).join(', ');
  });
  const bare =
    '304 has no body: without if-none-match and if-modified-since, the server sends whole responses.';
  return rows.some(({ answered = {} }) => '304' in answered) ? [...notes, ...noteAlike([bare])] : notes;
}

/** Names the idle servers whose requests wait for each other, and the likely cause. */
function noteIdleness({ rows }: Facts): Note[] {
  const lines = describeEach(
    rows,
    ({ idle, connections }) =>
      idle &&
      `a response takes ${formatUs(idle.aloneUs)} alone, and ${describeAtOnce(idle, connections)}: look for ${
        idle.atOnce === 1
          ? 'a lock, one worker, or a call that blocks its event loop'
          : `a pool of ${formatWhole(idle.atOnce)} connections, threads or workers`
      }`,
  ).map(({ row, words }) => `Latency of ${nameCell(row)}: ${words}.`);
  const found = findEach(rows, ({ idle, connections }) => idle && describeAtOnce(idle, connections));
  return noteAlike(lines, found);
}

function describeAtOnce({ atOnce }: NonNullable<ModelRow['idle']>, connections: number): string {
  const requests =
    atOnce === 1 ? 'one request' : `about ${formatWhole(atOnce)} of ${formatWhole(connections)} requests`;
  return `the server, though idle, serves ${requests} at a time`;
}

/** Above this share of the CPU of its responses, the work that a server does later is shown. */
const LEAST_DEFERRED = 0.01;

/** Names the servers that do work of their responses later, and how much. */
function noteDeferred({ rows }: Facts): Note[] {
  return noteRows(
    rows,
    'Part of CPU µs/req is deferred work: the server does it after its responses, between its turns.',
    shareDeferred,
    (row) =>
      shareDeferred(row) && `${shareDeferred(row)} of its CPU per request is spent after the responses`,
  );
}

function shareDeferred({ deferredShare = 0 }: ModelRow): string | undefined {
  return deferredShare > LEAST_DEFERRED ? formatShare(Number(deferredShare.toPrecision(2))) : undefined;
}

/** From this share of the requests on, opened connections are named. */
const LEAST_OPENED = 0.01;

/** Names the servers whose requests opened connections in the window, and what that cost. */
function noteOpened({ rows, plan }: Facts): Note[] {
  const cause = plan.load.newConnections === true ? ' (--new-connections)' : ': the server closes them';
  return [
    ...noteRows(
      rows,
      `Each request opened a new connection${cause}. Latency and CPU µs/req include connecting.`,
      ({ opened }) => (opened === undefined || opened.share < EACH ? undefined : describeConnects(opened)),
    ),
    ...noteRows(rows, 'Some requests opened a new connection:', ({ opened }) =>
      opened === undefined || opened.share < LEAST_OPENED || opened.share >= EACH
        ? undefined
        : `${formatShare(opened.share)}, ${describeConnects(opened)}`,
    ),
  ];
}

/** `10,000 connects/s (p50 100 µs, p99 400 µs)`. */
function describeConnects({ perSecond, p50, p99 }: NonNullable<ModelRow['opened']>): string {
  const times = listLatencies({ p50, p99 }).join(', ');
  return `${formatWhole(Math.round(perSecond))} connects/s${times === '' ? '' : ` (${times})`}`;
}

/** `workers were replaced 5 times under load in 5 trials, 20 requests got no response (0.04 %)`. */
function describeTurnover({ turnover }: ModelRow): string | undefined {
  if (turnover === undefined) return undefined;
  const { began, ended, trials, failed, share } = turnover;
  const cost =
    failed === 0
      ? 'no request was lost'
      : `${countOf(failed, 'request')} got no response (${formatShare(share)})`;
  const what =
    ended === began
      ? `workers were replaced ${countOf(ended, 'time')}`
      : `${countOf(ended, 'process')} ended and ${formatWhole(began)} began`;
  return `${what} under load in ${countOf(trials, 'trial')}, ${cost}`;
}

/** Describes the outcome of the background requests and the figures that include them. */
function noteBackground({ rows }: Facts): Note[] {
  return noteRows(
    rows,
    'Counts, goodput and latency exclude the background requests; CPU µs/req, memory and limit include their cost.',
    ({ background }) => {
      if (background === undefined) return undefined;
      const { answered, cancelled, longestUs } = background;
      const longest = answered > 0 ? ` (the longest after ${formatUs(longestUs)})` : '';
      return `${formatWhole(answered)} answered${longest}, ${cancelled} unfinished at the end and cancelled`;
    },
  );
}

/** Explains which servers were saturated although cores were idle, and why. */
function noteBudgets({ rows }: Facts): Note[] {
  const own = describeEach(rows, ({ budget }) => budget && describeBudget(budget));
  const count = new Set(own.map(({ row }) => row.target)).size;
  const head =
    count === 1
      ? '1 server was saturated with idle cores beside it'
      : `${count} servers were saturated with idle cores beside them`;
  return [
    {
      brief: count === 0 ? [] : [`${head}: an event loop, a thread or a GIL uses at most one core.`],
      full: own.map(({ row, words }) => `The limit of ${nameCell(row)} is the server: ${words}.`),
    },
  ];
}
