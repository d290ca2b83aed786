/** The notes on a run: what a reader must know beside its table, in the order in which every view shows them. */
import { EACH } from 'bench-analysis/judge/judge';
import { METRICS, metricsOf, type MetricId } from 'bench-model/metrics';
import { changeWithin, isFinding, makesLowerBound, meaningOf, type Reason } from 'bench-model/reasons';
import { sum } from 'bench-statistics/numbers';
import { describeControl } from './compare.ts';
import { describeBudget } from './detail.ts';
import { describeEnding } from './ending.ts';
import { briefFinding, describeFinding } from './findings.ts';
import { countOf, formatShare, formatUs, formatWhole, nameCell } from './format.ts';
import { describeIdleCloses } from './idle.ts';
import { explainBuilds } from './interpreters.ts';
import type { Model, ModelRow, Note, Problem } from './model/definition.ts';
import { listAll } from './words.ts';

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
  noteIdleCloses,
  noteTurnover,
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
function noteAlike(lines: string[]): Note[] {
  return [{ brief: lines, full: lines }];
}

/** A note of one line on all rows that something can be said of: after `head`, each with its words. Empty without any. */
function noteRows(
  rows: readonly ModelRow[],
  head: string,
  describe: (row: ModelRow) => string | undefined,
): Note[] {
  const places = describeEach(rows, describe).map(({ row, words }) => `${nameCell(row)}: ${words}`);
  return places.length === 0 ? [] : noteAlike([`${head} ${places.join('; ')}.`]);
}

function describeEach(
  rows: readonly ModelRow[],
  describe: (row: ModelRow) => string | undefined,
): { row: ModelRow; words: string }[] {
  return rows.flatMap((row) => {
    const words = describe(row);
    return words === undefined ? [] : [{ row, words }];
  });
}

/** Returns what servers did in a few words: with the row, if there are several, and the number of the other rows. */
function findEach(
  rows: readonly ModelRow[],
  describe: (row: ModelRow) => string | undefined,
): Pick<Note, 'found'> {
  const [first, ...others] = describeEach(rows, describe);
  if (first === undefined) return {};
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return { found: `${rows.length === 1 ? '' : `${nameCell(first.row)}${more}: `}${first.words}` };
}

function countTrials(rows: readonly ModelRow[]): string {
  return formatWhole(sum(rows.map(({ rounds }) => rounds)));
}

/** What was planted into turns of the baselines, and what was read of it; or that nothing could be planted. */
function noteControl({ plan, comparisons }: Facts): Note[] {
  const rows = comparisons.find(({ by }) => by === 'cpu')?.rows ?? [];
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
      ...findEach(rows, (row) => briefFinding(problem.reason.code, row)),
    }));
}

/** The disturbances that are described in a sentence each; the others are counted in one. */
const MOST_DISTURBANCES = 3;

function noteDisturbances({ problems, rows }: Facts): Note[] {
  const all = countTrials(rows);
  const counted = problems.flatMap((problem) => {
    const { reason, isFatal, places } = problem;
    return isFatal || isFinding(reason)
      ? []
      : [{ problem, reason, count: formatWhole(sum(places.map(({ rounds }) => rounds))) }];
  });
  const others = counted.slice(MOST_DISTURBANCES);
  return [
    ...counted.slice(0, MOST_DISTURBANCES).map(({ problem, reason, count }): Note => {
      const effect = describeEffect(reason, rows);
      return {
        brief: [
          `In ${count} of ${all} trials, ${meaningOf(reason).summary}${effect === '' ? '' : `; there, ${effect}`}.`,
        ],
        full: [describeProblem(problem, rows)],
      };
    }),
    {
      brief:
        others.length === 0
          ? []
          : [
              `Also: ${others.map(({ reason, count }) => `in ${count}, ${meaningOf(reason).summary}`).join('; ')}.`,
            ],
      full: others.map(({ problem }) => describeProblem(problem, rows)),
    },
  ];
}

/** `goodput is a lower bound, and latency does not count`; empty for a reason that invalidates none of the measured metrics. */
function describeEffect(reason: Reason, rows: readonly ModelRow[]): string {
  const affected = affectedBy(reason, rows);
  const bounds = affected.filter((id) => makesLowerBound(reason, id));
  const others = affected.filter((id) => !makesLowerBound(reason, id));
  const isWithin = (id: MetricId): boolean => changeWithin(reason.bounds?.[id]) !== undefined;
  const within = others.filter(isWithin);
  const rest = others.filter((id) => !isWithin(id));
  return [
    ...(bounds.length === 0 ? [] : [`${nameMetrics(bounds)} is a lower bound`]),
    ...(within.length === 0
      ? []
      : [`${nameMetrics(within)} ${isOne(within) ? 'is' : 'are'} known within bounds`]),
    ...(rest.length === 0 ? [] : [`${nameMetrics(rest)} ${isOne(rest) ? 'does' : 'do'} not count`]),
  ].join(', and ');
}

const RARE: readonly MetricId[] = ['capacity', 'services'];

/** Returns the metrics that a reason invalidates; those that few runs measure only if a row has them. */
function affectedBy({ invalidates }: Reason, rows: readonly ModelRow[]): MetricId[] {
  return invalidates.filter((id) => !RARE.includes(id) || rows.some(({ figures }) => figures[id]));
}

/** Names metrics in words; the median and the whole tail together are the latency. */
function listNames(metrics: readonly MetricId[]): string[] {
  const tail = metricsOf('tail');
  if (!tail.every((id) => metrics.includes(id))) return metrics.map((id) => METRICS[id].name);
  const isLatency = (id: MetricId): boolean => id === 'p50' || tail.includes(id);
  const names = metrics.map((id) => {
    if (!isLatency(id)) return METRICS[id].name;
    return metrics.includes('p50') ? 'latency' : 'tail latency';
  });
  return [...new Set(names)];
}

function nameMetrics(metrics: readonly MetricId[]): string {
  return listAll(listNames(metrics));
}

function isOne(metrics: readonly MetricId[]): boolean {
  return listNames(metrics).length === 1;
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
  const notes = noteRows(rows, 'statuses:', ({ answered }) => {
    if (answered === undefined) return undefined;
    const counts = Object.entries(answered).toSorted(([, a], [, b]) => b - a);
    const [only] = counts;
    return counts.length === 1 && only !== undefined
      ? `all ${formatWhole(only[1])} responses had status ${only[0]}`
      : counts.map(([status, count]) => `${formatWhole(count)} with status ${status}`).join(', ');
  });
  return rows.some(({ answered = {} }) => '304' in answered)
    ? [
        ...notes,
        ...noteAlike([
          '304 has no body: without if-none-match and if-modified-since, the server sends whole responses.',
        ]),
      ]
    : notes;
}

/** Names the idle servers whose requests wait for each other, and the likely cause. */
function noteIdleness({ rows }: Facts): Note[] {
  const lines = rows.flatMap((row) =>
    row.idle === undefined ? [] : [`latency, ${nameCell(row)}: ${describeIdle(row.idle, row.connections)}.`],
  );
  const found = findEach(
    rows,
    ({ idle, connections }) =>
      idle && `the server, though idle, serves ${describeAtOnce(idle.atOnce, connections)}`,
  );
  return [{ brief: lines, full: lines, ...found }];
}

function describeIdle({ atOnce, aloneUs }: NonNullable<ModelRow['idle']>, connections: number): string {
  const causes =
    atOnce === 1
      ? 'a lock, one worker, or a call that blocks its event loop'
      : `a pool of ${formatWhole(atOnce)} connections, threads or workers`;
  return `a response takes ${formatUs(aloneUs)} alone, and the server, though idle, serves ${describeAtOnce(atOnce, connections)}: look for ${causes}`;
}

function describeAtOnce(atOnce: number, connections: number): string {
  return atOnce === 1
    ? 'one request at a time'
    : `about ${formatWhole(atOnce)} of ${formatWhole(connections)} requests at a time`;
}

/** Above this share of the CPU of its responses, the work that a server does later is shown. */
const LEAST_DEFERRED = 0.01;

/** Names the servers that do work of their responses later, and how much. */
function noteDeferred({ rows }: Facts): Note[] {
  const head =
    'Part of CPU µs/req is deferred work: the server does it after its responses, between its turns.';
  const found = findEach(rows, (row) => {
    const share = describeDeferred(row);
    return share && `${share} of its CPU per request is spent after the responses`;
  });
  return noteRows(rows, head, describeDeferred).map((note) => ({ ...note, ...found }));
}

function describeDeferred({ deferredShare = 0 }: ModelRow): string | undefined {
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
      `each request opened a new connection${cause}. Latency and CPU µs/req include connecting.`,
      ({ opened }) => (opened === undefined || opened.share < EACH ? undefined : describeConnects(opened)),
    ),
    ...noteRows(rows, 'some requests opened a new connection:', ({ opened }) =>
      opened === undefined || opened.share < LEAST_OPENED || opened.share >= EACH
        ? undefined
        : `${formatShare(opened.share)}, ${describeConnects(opened)}`,
    ),
  ];
}

/** `10,000 connects/s (p50 100 µs, p99 400 µs)`. */
function describeConnects({ perSecond, p50, p99 }: NonNullable<ModelRow['opened']>): string {
  const times = Object.entries({ p50, p99 }).flatMap(([of, us]) =>
    us === undefined ? [] : `${of} ${formatUs(us)}`,
  );
  const took = times.length === 0 ? '' : ` (${times.join(', ')})`;
  return `${formatWhole(Math.round(perSecond))} connects/s${took}`;
}

/** Names the servers that closed idle connections, and what happened to the requests that met such a close. */
function noteIdleCloses({ rows }: Facts): Note[] {
  return noteRows(
    rows,
    'the server closes idle connections.',
    ({ idleCloses }) => idleCloses && describeIdleCloses(idleCloses),
  );
}

/** Names the servers whose processes came and went under load, and what that cost. */
function noteTurnover({ rows }: Facts): Note[] {
  const head = 'processes of the server came and went.';
  const found = findEach(rows, describeTurnover);
  return noteRows(rows, head, describeTurnover).map((note) => ({ ...note, ...found }));
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
    'background: counts, goodput and latency exclude the background requests; CPU µs/req, memory and limit include their cost.',
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
  const own = rows.flatMap(({ budget, ...row }) => (budget === undefined ? [] : [{ ...row, budget }]));
  const count = new Set(own.map(({ target }) => target)).size;
  const head =
    count === 1
      ? '1 server was saturated with idle cores beside it'
      : `${count} servers were saturated with idle cores beside them`;
  return [
    {
      brief: count === 0 ? [] : [`${head}: an event loop, a thread or a GIL uses at most one core.`],
      full: own.map((row) => `limit server, ${nameCell(row)}: ${describeBudget(row.budget)}.`),
    },
  ];
}
