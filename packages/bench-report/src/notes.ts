/** The notes below the table of a run: the meaning of its marks, the failed checks, and what was skipped. */
import { joinWords } from 'bench-targets/catalogue/apps/words';
import { EACH } from 'bench-analysis/judge/judge';
import type { Row } from 'bench-analysis/summary';
import { describeIdleCloses } from './idle.ts';
import { FEWEST_WITH_SPREAD } from 'bench-statistics/two-way';
import { commandLine } from 'bench-machine/home';
import { METRICS, metricsOf, type MetricId } from 'bench-model/metrics';
import { sum } from 'bench-statistics/numbers';
import type { Plan } from 'bench-model/plan';
import { thresholdFor } from 'bench-model/options';
import { changeWithin, isFinding, makesLowerBound, summaryOf } from 'bench-model/reasons';
import type { Reason } from 'bench-model/reasons';
import { isSampled, showLimit } from './cells.ts';
import { describeBudget } from './detail.ts';
import { describeFindings } from './findings.ts';
import { decidingMetric } from './leaders.ts';
import { countOf, formatShare, formatUs, formatWhole, nameCell } from './format.ts';
import { explainBuilds } from './interpreters.ts';
import type { Model, ModelRow, ModelServer, Problem } from './model/model.ts';
import { GROWTH, hasWrong, RANK, REST, RIGHT, timingMetricOf, toTable } from './table.ts';
import type { Sign, View } from './content.ts';
import { listAll, listAny } from './words.ts';

/** Explains the marks and the columns that a table may have. */
export function explainSigns({
  rows,
  companions,
  by = 'cpu',
  plan,
}: {
  rows: readonly Row[];
  companions?: Model['companions'] | undefined;
  /** The metric of the ranks. */
  by?: MetricId | undefined;
  plan?: Pick<Plan, 'sequentialTest'> | undefined;
}): Sign[] {
  const { threshold = thresholdFor(by) } = plan?.sequentialTest ?? {};
  const metric = timingMetricOf(rows);
  const rounds = Math.max(0, ...rows.map((row) => row.rounds));
  const few = rounds < FEWEST_WITH_SPREAD ? ` ${countOf(rounds, 'round')} cannot rank targets.` : '';
  const isSearched = rows.some(({ figures }) => figures.capacity);
  const searched = isSearched ? '; of a capacity, half of its 95 % interval' : '';
  const limits = describeLimits(rows, companions);
  const paired =
    plan?.sequentialTest === undefined ? '' : ' Verdicts compare within rounds, so ± does not limit them.';
  return [
    {
      column: RANK,
      text: `${RANK} rank by ${METRICS[by].name}. Targets share a rank if the rounds show no difference of at least ${formatShare(threshold)}.`,
    },
    {
      mark: '±',
      text: `± half the range of the valid rounds, around their median${searched}.${paired}${few}`,
    },
    { mark: '≥', text: '≥ lower bound.' },
    { mark: '~', text: '~ in doubt in every round, by this share at most.' },
    { mark: '?', text: '? invalid in every round.' },
    ...(limits === undefined ? [] : [{ column: 'limit', text: limits }]),
    {
      column: GROWTH,
      text: `${GROWTH}: the memory that the server gained for each answer to the request, garbage included.`,
    },
    ...(hasWrong(rows)
      ? [
          {
            column: RIGHT,
            text: `${RIGHT}: the share of requests with a right answer.${describeSample(rows)}`,
          },
        ]
      : []),
    ...(metric === undefined
      ? []
      : [
          {
            column: REST,
            text: `${metric}: the median time that servers reported (Server-Timing). ${REST}: the median of the latency minus that time. At more than 1 connection, ${REST} includes time in queues.`,
          },
        ]),
  ];
}

/** Selects the texts of the marks and columns that a table shows. */
export function readSigns({ signs, columns, groups }: Pick<View, 'signs' | 'columns' | 'groups'>): string[] {
  const cells = groups.flatMap(({ rows }) => rows.flat());
  return signs
    .filter(
      ({ mark, column }) =>
        (column === undefined || columns.includes(column)) &&
        // A name may have the character of a mark: shop[HEAD~1], GET /orders?limit=20.
        (mark === undefined || cells.some((cell) => cell.split(' ').some((word) => word.startsWith(mark)))),
    )
    .map(({ text }) => text);
}

/** Explains the limits that occur; undefined if no row has one. */
function describeLimits(rows: readonly Row[], companions: Model['companions']): string | undefined {
  const shown = new Set<string>(rows.map(showLimit));
  const services = Object.keys(companions ?? {}).filter((name) => shown.has(name));
  const saturated = [
    ...(shown.has('server') ? ['the server'] : []),
    ...services.map((name) => `the ${name}`),
    ...(shown.has('generator') ? ['the load generator'] : []),
    ...(shown.has('waiting') ? ['nothing (waiting)'] : []),
    ...(shown.has('others') ? ['the CPU, by processes that do not belong to this run (others)'] : []),
    ...(shown.has('unknown') ? ['unknown, because the CPU of the server was not measured'] : []),
  ];
  if (saturated.length === 0) return undefined;
  return `limit: what was saturated: ${listAny(saturated)}.`;
}

/** Says how many bodies the share of right answers is based on. */
function describeSample(rows: readonly Row[]): string {
  const sampled = rows.flatMap(({ checked }) =>
    checked !== undefined && isSampled(checked) ? [checked] : [],
  );
  if (sampled.length === 0) return '';
  const [bodies, answers] = (['bodies', 'answers'] as const).map((key) =>
    formatWhole(sum(sampled.map((one) => one[key]))),
  );
  return ` ≤ upper bound: ${bodies} of ${answers} answers were compared byte by byte.`;
}

/** Describes everything that a reader needs to interpret the figures, marks included. */
export function describeAll(model: Model): string[] {
  const by = decidingMetric(model);
  return [
    ...readSigns({ ...toTable(model.rows, by), signs: explainSigns({ ...model, by }) }),
    ...describeNotes(model),
  ];
}

/** Describes each failed check with every row that it affects, and what else a reader must know. */
export function describeNotes(model: Model): string[] {
  const { problems, rows, servers, leftOut } = model;
  return [
    ...describeUnfit(rows),
    ...explainBuilds(servers),
    ...problems.map((problem) => describeProblem(problem, rows)),
    ...explainStatuses(rows),
    ...explainIdleness(rows),
    ...explainBudgets(rows),
    ...explainDeferred(rows),
    ...explainOpened(model),
    ...explainIdleCloses(rows),
    ...explainTurnover(rows),
    ...explainBackground(rows),
    ...explainResolved(servers),
    ...leftOut.map(describeSkipped),
  ];
}

/** More notes of one kind are counted. */
const MOST_ALIKE = 2;

/** Describes the same in few lines: counts instead of lists. */
export function summariseNotes(model: Model): string[] {
  const { problems, rows, servers, leftOut } = model;
  const saturated = new Set(rows.flatMap(({ budget, target }) => (budget === undefined ? [] : [target])));
  const skipped = leftOut.map(describeSkipped);
  const resolved = explainResolved(servers);
  return [
    ...describeUnfit(rows),
    ...explainBuilds(servers),
    ...summariseProblems(model),
    ...(skipped.length > MOST_ALIKE
      ? [`${skipped.length} targets were skipped: ${leftOut.map(({ target }) => target).join(', ')}.`]
      : skipped),
    ...explainStatuses(rows),
    ...explainIdleness(rows),
    ...explainDeferred(rows),
    ...explainOpened(model),
    ...explainIdleCloses(rows),
    ...explainTurnover(rows),
    ...explainBackground(rows),
    ...(saturated.size === 0
      ? []
      : [
          `${saturated.size === 1 ? '1 server was saturated with idle cores beside it' : `${saturated.size} servers were saturated with idle cores beside them`}: an event loop, a thread or a GIL uses at most one core.`,
        ]),
    ...(resolved.length > MOST_ALIKE
      ? [`--resolve replaced locked versions in ${countOf(resolved.length, 'target')}.`]
      : resolved),
    ...(problems.length === 0
      ? []
      : [`Which trials, and why: ${commandLine(joinWords(['report', model.run, '--detail']))}`]),
  ];
}

/** The problems that are described in a sentence each. */
const MOST_PROBLEMS = 3;

/** Counts the trials with each problem: failures first, then the most frequent, and the others in one line. */
function summariseProblems({ rows, problems }: Model): string[] {
  const all = formatWhole(sum(rows.map((row) => row.rounds)));
  const failed = sum(rows.map(({ statuses }) => statuses.failed));
  const fatal = problems.find((problem) => problem.isFatal);
  const [place] = fatal?.places ?? [];
  const doubts = problems
    .filter(({ reason }) => !isFinding(reason))
    .flatMap(({ reason, places }) => {
      const summary = summaryOf(reason);
      return summary === undefined
        ? []
        : [{ reason, summary, count: sum(places.map(({ rounds }) => rounds)) }];
    })
    .toSorted((a, b) => b.count - a.count);
  return [
    ...(fatal === undefined || place === undefined
      ? []
      : [
          `${formatWhole(failed)} of ${all} trials failed${failed > 1 ? ', such as' : ':'} ${placeOf(place)}: ${fatal.reason.text.replace(/\.*$/, '.')}`,
        ]),
    ...describeFindings(inOrder(rows)),
    ...doubts.slice(0, MOST_PROBLEMS).map(({ reason, summary, count }) => {
      const effect = describeEffect(reason, rows);
      return `In ${formatWhole(count)} of ${all} trials, ${summary}${effect === '' ? '' : `; there, ${effect}`}.`;
    }),
    ...(doubts.length > MOST_PROBLEMS
      ? [
          `Also: ${doubts
            .slice(MOST_PROBLEMS)
            .map(({ summary, count }) => `in ${formatWhole(count)}, ${summary}`)
            .join('; ')}.`,
        ]
      : []),
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

/** Returns the metrics that a reason invalidates; the capacity only if a row has one, because few runs search it. */
function affectedBy({ invalidates }: Reason, rows: readonly ModelRow[]): MetricId[] {
  return invalidates.filter((id) => id !== 'capacity' || rows.some(({ figures }) => figures.capacity));
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

/** Says that no row of a run can be compared by its pace; empty if one can. */
function describeUnfit(rows: readonly ModelRow[]): string[] {
  const goodputs = rows.flatMap(({ figures: { goodput } }) => goodput ?? []);
  const isUnfit =
    goodputs.length > 0 &&
    goodputs.every(({ valid, atLeast, within }) => !valid && !atLeast && within === undefined);
  return isUnfit ? ['No row has a goodput or latency that can be compared. The reasons follow.'] : [];
}

function describeSkipped({ target, reason, hint }: Model['leftOut'][number]): string {
  return `${target} was skipped: ${reason}${hint ? ` (${hint})` : ''}`;
}

/** Explains which servers were saturated although cores were idle, and why. */
function explainBudgets(rows: ModelRow[]): string[] {
  return inOrder(rows).flatMap((row) =>
    row.budget === undefined ? [] : [`limit server, ${placeOf(row)}: ${describeBudget(row.budget)}.`],
  );
}

/** From this share of the CPU in its turns on, the work of a server between its turns matters. */
const LEAST_DEFERRED = 0.01;

/** Names the servers that work between their turns, and how much. */
function explainDeferred(rows: ModelRow[]): string[] {
  const places = inOrder(rows).flatMap((row) =>
    row.deferredShare === undefined || row.deferredShare <= LEAST_DEFERRED
      ? []
      : [`${placeOf(row)}: ${formatShare(row.deferredShare)}`],
  );
  return places.length === 0
    ? []
    : [
        `CPU µs/req excludes work that a server defers to the time between its turns. As a share of the CPU in its turns: ${places.join('; ')}.`,
      ];
}

/** From this share of the requests on, opened connections are named. */
const LEAST_OPENED = 0.01;

/** Names the servers whose requests opened connections in the window, and what that cost. */
function explainOpened({ rows, plan }: Pick<Model, 'rows' | 'plan'>): string[] {
  const cause = plan.load.newConnections === true ? ' (--new-connections)' : ': the server closes them';
  const all = inOrder(rows).flatMap((row) => (row.opened === undefined ? [] : [{ row, opened: row.opened }]));
  const each = all.filter(({ opened }) => opened.share >= EACH);
  const some = all.filter(({ opened: { share } }) => share >= LEAST_OPENED && share < EACH);
  const name = ({ row, opened: { perSecond, p50, p99 } }: (typeof all)[number]): string => {
    const times = Object.entries({ p50, p99 }).flatMap(([of, us]) =>
      us === undefined ? [] : `${of} ${formatUs(us)}`,
    );
    const took = times.length === 0 ? '' : ` (${times.join(', ')})`;
    return `${placeOf(row)}: ${formatWhole(Math.round(perSecond))} connects/s${took}`;
  };
  return [
    ...(each.length === 0
      ? []
      : [
          `each request opened a new connection${cause}. Latency and CPU µs/req include connecting. ${each.map(name).join('; ')}.`,
        ]),
    ...(some.length === 0
      ? []
      : [
          `some requests opened a new connection: ${some.map((one) => `${formatShare(one.opened.share)}, ${name(one)}`).join('; ')}.`,
        ]),
  ];
}

/** Names the likely causes of the latency of idle servers. */
function explainIdleness(rows: ModelRow[]): string[] {
  return inOrder(rows).flatMap((row) => {
    if (row.idle === undefined) return [];
    return [`latency, ${placeOf(row)}: ${describeIdle(row.idle, row.connections)}.`];
  });
}

function describeIdle(idle: NonNullable<ModelRow['idle']>, connections: number): string {
  switch (idle.cause) {
    case 'queue': {
      const { atOnce, aloneUs } = idle;
      const alone = `an answer takes ${formatUs(aloneUs)} alone`;
      return atOnce === 1
        ? `${alone}, and the server, though idle, serves one request at a time: look for a lock, one worker, or a call that blocks its event loop`
        : `${alone}, and the server, though idle, serves about ${formatWhole(atOnce)} of ${formatWhole(connections)} requests at a time: look for a pool of ${formatWhole(atOnce)} connections, threads or workers`;
    }
    case 'pause':
      return `nearly every answer takes ${formatUs(idle.us)}, with and without a load: look for a fixed sleep or timer`;
    case 'wait':
      return `an answer takes about ${formatUs(idle.us)}, with and without a load, while the server is idle: it waits for an upstream, a database or a timer`;
  }
}

/** Lists the statuses of rows whose answers were not all 200, and what 304 means for their figures. */
function explainStatuses(rows: ModelRow[]): string[] {
  const places = inOrder(rows).flatMap((row) => {
    if (row.answered === undefined) return [];
    const counts = Object.entries(row.answered).toSorted(([, a], [, b]) => b - a);
    const [only] = counts;
    const words =
      counts.length === 1 && only !== undefined
        ? `all ${formatWhole(only[1])} answers had status ${only[0]}`
        : counts.map(([status, count]) => `${formatWhole(count)} with status ${status}`).join(', ');
    return [`${placeOf(row)}: ${words}`];
  });
  if (places.length === 0) return [];
  const isUnchanged = rows.some(({ answered = {} }) => '304' in answered);
  return [
    `statuses: ${places.join('; ')}.${isUnchanged ? ' 304 has no body: without if-none-match and if-modified-since, the server sends whole answers.' : ''}`,
  ];
}

/** Names the servers that closed idle connections, and what happened to the requests that met such a close. */
function explainIdleCloses(rows: ModelRow[]): string[] {
  const places = inOrder(rows).flatMap((row) =>
    row.idleCloses === undefined ? [] : [`${placeOf(row)}: ${describeIdleCloses(row.idleCloses)}`],
  );
  return places.length === 0 ? [] : [`the server closes idle connections. ${places.join('; ')}.`];
}

/** Names the servers whose processes came and went under load, and what that cost. */
function explainTurnover(rows: ModelRow[]): string[] {
  const places = inOrder(rows).flatMap((row) => {
    if (row.turnover === undefined) return [];
    const { began, ended, trials, failed, share } = row.turnover;
    const cost =
      failed === 0
        ? 'no request was lost'
        : `${countOf(failed, 'request')} got no answer (${formatShare(share)})`;
    return [
      `${placeOf(row)}: ${formatWhole(ended)} ended and ${formatWhole(began)} began in ${countOf(trials, 'trial')}, ${cost}`,
    ];
  });
  return places.length === 0
    ? []
    : [`processes of the server came and went under load. ${places.join('; ')}.`];
}

/** Describes the outcome of the background requests and the figures that include them. */
function explainBackground(rows: ModelRow[]): string[] {
  const places = inOrder(rows).flatMap((row) => {
    if (row.background === undefined) return [];
    const { answered, cancelled, longestUs } = row.background;
    return [
      `${placeOf(row)}: ${formatWhole(answered)} answered${answered > 0 ? ` (the longest after ${formatUs(longestUs)})` : ''}, ${cancelled} unfinished at the end and cancelled`,
    ];
  });
  return places.length === 0
    ? []
    : [
        `background: counts, goodput and latency exclude the background requests; CPU µs/req, memory and limit include their cost. ${places.join('; ')}.`,
      ];
}

/** Sorts rows by the order in which they were first measured. */
function inOrder(rows: ModelRow[]): ModelRow[] {
  return rows.toSorted((a, b) => startOf(a) - startOf(b));
}

function startOf({ trials }: ModelRow): number {
  return Math.min(...trials.map(({ order }) => order));
}

/** `fastify at 1,000`. */
function placeOf(row: Pick<ModelRow, 'target' | 'connections' | 'route'>): string {
  return nameCell(row);
}

/** Lists the versions that `--resolve` used instead of the locked ones, by target. */
function explainResolved(servers: ModelServer[]): string[] {
  return servers.flatMap(({ target, runtime }) => {
    if (target.resolved !== true || runtime === undefined) return [];
    const { version, build } = runtime;
    const taken = build['resolved'] ?? 'every locked version';
    return `${target.id}: on ${runtime.kind} ${version}, --resolve used ${taken}.`;
  });
}

function describeProblem({ reason, isFatal, places }: Problem, rows: readonly ModelRow[]): string {
  const { code, text } = reason;
  const invalidates = affectedBy(reason, rows);
  const seen = places.map((place) => {
    const often = place.of > 1 ? ` (${place.rounds} of ${place.of} rounds)` : '';
    return `${placeOf(place)}${often}`;
  });
  // A failed trial has no figures that could be invalid.
  const effect = invalidates.length === 0 || isFatal ? '' : `; this invalidates ${invalidates.join(', ')}`;
  return `${code}: ${places.length > 1 ? 'e.g. ' : ''}${text}. Seen in ${seen.join(', ')}${effect}.`;
}
