import type { Row } from '../analyse/summary.ts';
import { describeBackground } from '../catalogue/background.ts';
import { describeLoad, engineNamed } from '../catalogue/engines.ts';
import { describeRight, describeStatus, isSampled, showFigure, showLimit, showMetric } from './cells.ts';
import { describeCopies } from './copies.ts';
import { describeAsking, describeRequests } from './requests.ts';
import { METRIC_IDS, METRICS, type MetricId } from '../metrics.ts';
import type { CompanionHeads, Placement } from '../results/record.ts';
import { enginesOf, estimateSeconds } from '../plan/plan.ts';
import { joinWords } from '../catalogue/apps/words.ts';
import { LONGEST_WARMUP_SECONDS } from '../plan/warmup.ts';
import type { Plan } from '../plan/definition.ts';
import type { Host } from '../results/host.ts';
import { describeCrossCheck } from './cross-check.ts';
import {
  countOf,
  describeConnections,
  formatBudget,
  formatShare,
  formatSpan,
  formatUs,
  formatWhole,
} from './format.ts';
import { describeBudget } from './detail.ts';
import { explainKinds } from './kinds.ts';
import { describeKnees } from './knee.ts';
import type { Range } from './model/definition.ts';
import type { Model, ModelRow, ModelServer, Problem } from './model/model.ts';
import { describeProspects } from './stopping.ts';
import { sum } from '../numbers.ts';

/** The content of every report format: text in cells, in reading order. */
export interface View {
  title: string;
  /** The conditions of the measurement, one fact per line. */
  setting: string[];
  columns: string[];
  /** The left-aligned columns of words; columns of figures are right-aligned. */
  words: string[];
  /** The columns that a narrow page omits, in that order. */
  expendable: string[];
  groups: { heading: string; rows: string[][] }[];
  /** The knees in one line, if there are any. */
  knees?: string;
  /** The notes that a reader needs to interpret the figures. */
  notes: string[];
}

type Cell = (row: Row) => string;

/** Columns of words that a narrow page can omit, with their rank among the metrics. */
const EXPENDABLE_WORDS: [string, number][] = [
  ['status', 2],
  ['limit', 4],
  ['class', 6],
];

/** Lists the columns that a narrow page omits, in that order. */
function listExpendable(): string[] {
  const metrics = METRIC_IDS.flatMap((id): [string, number][] => {
    const { label, column } = METRICS[id];
    return column.expendable === undefined ? [] : [[label, column.expendable]];
  });
  return [...metrics, ...EXPENDABLE_WORDS].toSorted(([, a], [, b]) => a - b).map(([name]) => name);
}

/** Builds the view of a run: rows grouped by rung, with notes that explain each status. */
export function toView(model: Model): View {
  const { plan, rounds, rows, ladders } = model;
  const rungs = [...new Set(rows.map(({ connections }) => connections))];
  const knees = describeKnees(ladders);
  const cells = cellsFor(rows);
  return {
    title: `${describeWorkload(plan)}, ${describeRounds(rounds)}${plan.quick ? ' — quick run (--quick): too short for comparisons' : ''}`,
    setting: describeSetting(model),
    columns: Object.keys(cells),
    words: ['target', 'class', 'limit', 'status'],
    expendable: listExpendable(),
    groups: rungs.map((rung) => ({
      heading: describeConnections([rung]),
      rows: rows
        .filter(({ connections }) => connections === rung)
        .map((row) => Object.values(cells).map((show) => show(row))),
    })),
    ...(knees !== undefined && { knees }),
    notes: describeNotes(model),
  };
}

/** The notes that a reader needs to interpret the figures: marks, checks that failed, and what was skipped. */
export function describeNotes(model: Model): string[] {
  return [
    ...model.crossChecks.map(describeCrossCheck),
    ...explain(model),
    ...explainKinds(model.rows),
    ...explainBudgets(model.rows),
    ...explainBackground(model.rows),
    ...explainResolved(model.servers),
    ...model.leftOut.map(
      ({ target, reason, hint }) => `${target} was skipped: ${reason}${hint ? ` (${hint})` : ''}`,
    ),
  ];
}

/** `3 rounds`; `11 of 24 rounds` if the run ended early. */
function describeRounds({ measured, planned }: Model['rounds']): string {
  const all = countOf(planned, 'round');
  return measured < planned ? `${formatWhole(measured)} of ${all}` : all;
}

/** The conditions of the measurement, one fact per line. */
export function describeSetting(model: Model): string[] {
  const { plan, host, placement } = model;
  return [
    `run ${plan.run}, seed ${plan.seed}, ${describeSpan(plan)}, timeout ${plan.timeoutSeconds} s`,
    describeMachine(host),
    ...(placement === undefined
      ? []
      : [
          [
            `${describeSender(plan)} in ${describeGenerators(plan)}`,
            ...(plan.attached === undefined ? [`${describeWorkers(plan)} per server`] : []),
            describePlacement(placement),
          ].join(', '),
          ...describeApps(plan),
          ...describeCopies(plan),
          ...describeAttached(model),
          ...describeAge(model),
          ...describeCollected(model),
          ...describeAsking(plan.asked, model.sent),
          ...describeEngines(plan),
          ...describeCompanions(model),
          ...describeDisturbance(plan),
        ]),
    ...describeWarmups(plan),
  ];
}

/** The commands of the apps, as they were typed. */
function describeApps({ apps = [] }: Plan): string[] {
  return apps.map(({ name, command, folder }) => `${name}: ${joinWords(command)} in ${folder}`);
}

/** Describes the process of each server that was already running, and the processes that replaced it. */
function describeAttached({ plan: { attached = [] }, servers }: Model): string[] {
  return attached.map(({ target }) => {
    const name = attached.length === 1 ? 'server' : target;
    const own = servers.filter((server) => attached.length === 1 || server.target.id === target);
    const [first, ...others] = own.flatMap(({ processes }) => processes);
    if (first === undefined)
      return `${name}: already running, its process is unknown, so its CPU and memory are not measured`;
    const { pid, version, executable, command } = first;
    const restarts = others.length === 0 ? '' : `; restarted as ${others.map((one) => one.pid).join(', ')}`;
    const words = [`process ${pid}`, version ?? executable, command?.join(' ')];
    return `${name}: already running, ${words.filter((word) => word !== undefined).join(', ')}${restarts}`;
  });
}

/** The range of the ages of the servers when their windows opened; empty if no record tells them. */
function describeAge({ age }: Model): string[] {
  if (age === undefined) return [];
  const given = age.answers === undefined ? '' : `, ${formatRange(age.answers, formatWhole)} answers`;
  return [`process age at the window: ${formatRange(age.seconds, (value) => value.toFixed(1))} s${given}`];
}

/** Says which Node servers collected garbage before the load; empty without a Node server. */
function describeCollected({ plan, servers }: Model): string[] {
  if (plan.fresh === true) return ['Node servers were loaded as they started (--fresh)'];
  const missed = servers.filter(({ collected }) => collected === 0);
  return [
    ...(servers.some(({ collected = 0 }) => collected > 0)
      ? ['Node servers collected garbage once before the load, as in production sooner or later']
      : []),
    ...missed.map(({ target }) => `${target.id}: could not be asked to collect garbage before the load`),
  ];
}

/** `2.3 to 2.6`; one figure if both ends look the same. */
function formatRange(range: Range, format: (value: number) => string): string {
  const [least, most] = [range.least, range.most].map(format);
  return least === most ? String(least) : `${least} to ${most}`;
}

/** The engine and its load mode; a closed loop is the default and is not mentioned. */
function describeSender({ engine, load }: Plan): string {
  return load.mode === 'closed' ? engine : `${engine}, ${describeLoad(load)},`;
}

function describeGenerators({ engine, generators }: Plan): string {
  const isThreaded = engineNamed(engine)?.generators === 'threads';
  return countOf(generators, isThreaded ? 'thread' : 'process');
}

/** The notes on engines other than the default. */
function describeEngines(plan: Plan): string[] {
  return enginesOf(plan).flatMap((name) => {
    const engine = engineNamed(name);
    return engine === undefined || name === 'autocannon' ? [] : [`${name}: ${engine.note}`];
  });
}

/** One line for each companion of the servers. */
function describeCompanions({ companions = {}, placement }: Model): string[] {
  // The background request has a separate line.
  const { upstream, database, services, background: _, ...others } = companions;
  const onCore = (name: string): string => {
    const cores = Object.entries(placement?.beside ?? {}).find(([one]) => one === name)?.[1];
    return cores === undefined || placement?.kind !== 'separate' ? '' : ` on core ${cores.join(',')}`;
  };
  return [
    ...(upstream === undefined
      ? []
      : [`upstream: ${upstream.kind} ${upstream.version}${onCore('upstream')}`]),
    ...(database === undefined
      ? []
      : [
          `database: PostgreSQL ${database.version}, ${database.kind}, max_connections ${database.maxConnections}${onCore('database')}`,
        ]),
    ...(services === undefined ? [] : [`services: ${describeServices(services)}${onCore('services')}`]),
    ...Object.entries(others).map(([name, head]) => `${name}: ${JSON.stringify(head)}${onCore(name)}`),
  ];
}

/** The services of the manifest and how long each lives, and the setup. */
function describeServices({ services, setup }: CompanionHeads['services']): string {
  const told = services.map(({ name, kind, per, version = '' }) =>
    kind === 'postgres'
      ? `${name}: PostgreSQL ${version}, a new database per trial`
      : `${name}: ${per === 'run' ? 'one for the run' : 'a new one per trial'}`,
  );
  return [...told, ...(setup === undefined ? [] : [`setup before each trial: ${joinWords(setup)}`])].join(
    '; ',
  );
}

function describeDisturbance({ background }: Plan): string[] {
  return background === undefined
    ? []
    : [`background: ${describeBackground(background)}, kept in flight during the warm-up and the window`];
}

/** The machine in one line. */
export function describeMachine({ virtualised, cpuModel, cores, platform, release }: Host): string {
  return [virtualised ? 'VM' : '', cpuModel ?? '', `${cores} cores`, `${platform} ${release}`]
    .filter(Boolean)
    .join(', ');
}

/** A workload and its parameters: `fib n=20`; the requests of a user with their weights. */
export function describeWorkload({ workload, params = {}, asked }: Plan): string {
  if (asked !== undefined) return describeRequests(asked);
  return [workload, ...Object.entries(params).map(([name, value]) => `${name}=${value}`)].join(' ');
}

/** The resources of each server: `1 worker of 2 threads on 2 cores`. */
function describeWorkers({ workers, threads, cores }: Plan): string {
  return [
    countOf(workers, 'worker'),
    ...(threads === undefined ? [] : [`of ${countOf(threads, 'thread')}`]),
    ...(cores === undefined ? [] : [`on ${countOf(cores, 'core')}`]),
  ].join(' ');
}

function describePlacement({ kind, server, generator }: Placement): string {
  if (kind === 'separate')
    return `server on core ${server?.join(',')}, generator on core ${generator?.join(',')}`;
  if (generator === undefined) return 'nothing pinned to cores';
  const load = `generator on core ${generator.join(',')}`;
  if (kind === 'unpinned') return `the server’s cores are unknown, ${load}`;
  return server?.join() === generator.join()
    ? 'server and generator share the cores'
    : `the server is not pinned (cores ${server?.join(',')}), ${load}`;
}

/**
 * The columns of a run: one per metric, except optional ones that no row has. If some answers were wrong, the share of
 * right ones follows the goodput. If servers reported their time, the two parts of the latency follow it.
 */
function cellsFor(rows: Row[]): Record<string, Cell> {
  const beside: Partial<Record<MetricId, Record<string, Cell>>> = {
    goodput: hasWrong(rows) ? { [RIGHT]: describeRight } : {},
    p99: timingCells(rows),
  };
  const metrics = METRIC_IDS.filter(
    (id) => !METRICS[id].column.isOptional || rows.some(({ figures }) => figures[id] !== undefined),
  );
  return {
    target: ({ target }) => target,
    class: (row) => row.class,
    ...Object.fromEntries(
      metrics.flatMap((id): [string, Cell][] => [
        [METRICS[id].label, (row) => showMetric(id, row)],
        ...Object.entries(beside[id] ?? {}),
      ]),
    ),
    limit: showLimit,
    status: describeStatus,
  };
}

function timingCells(rows: Row[]): Record<string, Cell> {
  const metric = metricOf(rows);
  if (metric === undefined) return {};
  return {
    [metric]: ({ timing }) => showFigure(timing?.told, formatUs),
    [REST]: ({ timing }) => showFigure(timing?.rest, formatUs),
  };
}

/** The column with the share of right answers. */
const RIGHT = 'right';

/** Says how many bodies the share of right answers is based on. */
function describeSample(rows: Row[]): string {
  const sampled = rows.flatMap(({ checked }) =>
    checked !== undefined && isSampled(checked) ? [checked] : [],
  );
  if (sampled.length === 0) return '';
  const [bodies, answers] = (['bodies', 'answers'] as const).map((key) =>
    formatWhole(sum(sampled.map((one) => one[key]))),
  );
  return ` ≤ is an upper bound: ${bodies} of ${answers} answers were compared byte by byte, the others by status and length.`;
}

function hasWrong(rows: Row[]): boolean {
  return rows.some(({ right = 1 }) => right < 1);
}

/** The column with the latency minus the time that the server reported. */
const REST = 'respond';

function metricOf(rows: Row[]): string | undefined {
  return rows.find(({ timing }) => timing !== undefined)?.timing?.metric;
}

/** Explains the marks, and each kind of reason once, with the rows that it affects. */
function explain({ rows, companions, problems }: Model): string[] {
  const metric = metricOf(rows);
  const service = nameService(rows, companions);
  const figures = rows.flatMap((row) => [
    ...Object.values(row.figures),
    ...[row.timing?.told, row.timing?.rest].filter((figure) => figure !== undefined),
  ]);
  const bounds = [
    ...(figures.some(({ atLeast }) => atLeast)
      ? ['≥ lower bound (the generator was saturated, or requests timed out).']
      : []),
    ...(figures.some(({ valid }) => !valid) ? ['? invalid, see the note.'] : []),
  ];
  const marks = [
    ...(figures.some(({ rounds }) => rounds > 1)
      ? [
          `± half the range over the rounds. Each figure is the median of its valid rounds. Overlapping ranges: ${countOf(Math.max(...rows.map((row) => row.rounds)), 'round')} cannot rank these rows.`,
        ]
      : []),
    ...(bounds.length > 0 ? [bounds.join(' ')] : []),
    `limit: what was saturated: the server, ${service === undefined ? '' : `the ${service}, `}the load generator, or nothing (waiting).`,
    ...(rows.some(({ limits }) => limits.includes('others'))
      ? ['others: processes that do not belong to this run took the CPU that the server needed.']
      : []),
    ...(rows.some(({ limits }) => limits.includes('unknown'))
      ? ['unknown: the CPU of the server was not measured, so it may or may not have been the limit.']
      : []),
    ...(hasWrong(rows)
      ? [
          `${RIGHT}: the share of requests completed in the windows that were answered correctly.${describeSample(rows)}`,
        ]
      : []),
    ...(metric === undefined
      ? []
      : [
          `${metric}: the median time that servers reported (Server-Timing). ${REST}: the median of the latency minus that time. At more than 1 connection, ${REST} includes time in queues.`,
        ]),
  ];
  const goodputs = rows.flatMap(({ figures: { goodput } }) => goodput ?? []);
  const isUnfit = goodputs.length > 0 && goodputs.every(({ valid, atLeast }) => !valid && !atLeast);
  return [
    ...(isUnfit ? ['No row has a goodput or latency that can be compared. The reasons follow.'] : []),
    ...marks,
    ...problems.map(describeProblem),
  ];
}

/** Names the companion that could be saturated, if any: a service that the servers used, or the limit of a row. */
function nameService(rows: Row[], companions: Model['companions']): string | undefined {
  const limits = new Set<string>(['upstream', 'database', ...rows.flatMap((row) => row.limits)]);
  return Object.keys(companions ?? {}).find((name) => limits.has(name));
}

/** Explains which servers were saturated although cores were idle, and why. */
function explainBudgets(rows: ModelRow[]): string[] {
  return inOrder(rows).flatMap((row) =>
    row.budget === undefined ? [] : [`limit server, ${placeOf(row)}: ${describeBudget(row.budget)}.`],
  );
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
function placeOf({ target, connections }: Pick<ModelRow, 'target' | 'connections'>): string {
  return `${target} at ${formatWhole(connections)}`;
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

function describeProblem({ reason, isFatal, places }: Problem): string {
  const { code, text, invalidates } = reason;
  const seen = places.map((place) => {
    const often = place.of > 1 ? ` (${place.rounds} of ${place.of} rounds)` : '';
    return `${placeOf(place)}${often}`;
  });
  // A failed trial has no figures that could be invalid.
  const effect = invalidates.length === 0 || isFatal ? '' : `; this invalidates ${invalidates.join(', ')}`;
  return `${code}: ${places.length > 1 ? 'e.g. ' : ''}${text}. Seen in ${seen.join(', ')}${effect}.`;
}

function describeSpan(plan: Plan): string {
  const { load, windowSeconds } = plan;
  return `${describeLength(plan)} warm-up${load.mode === 'amount' ? '' : `, ${windowSeconds} s window`}`;
}

/** `2 s`; `2 to 24 s` if it differs by target; `2 to 30 s` in a plan that has not looked it up yet. */
function describeLength({ warmupSeconds, autoWarmup, warmups }: Plan): string {
  if (!autoWarmup) return `${warmupSeconds} s`;
  const lengths = warmups?.map(({ seconds }) => seconds) ?? [warmupSeconds, LONGEST_WARMUP_SECONDS];
  const [least, most] = [Math.min(...lengths), Math.max(...lengths)];
  return `${least < most ? `${least} to ${most}` : least} s`;
}

/** The targets whose warm-up is longer than that of the workload, or not known. */
function describeWarmups({ autoWarmup, warmupSeconds, warmups = [] }: Plan): string[] {
  if (!autoWarmup || warmups.length === 0) return [];
  const unknown = [
    ...new Set(warmups.filter(({ study }) => study === undefined).map(({ target }) => target)),
  ];
  const longer = Map.groupBy(
    warmups.filter(({ seconds }) => seconds > warmupSeconds),
    ({ target }) => target,
  );
  const parts = [
    ...[...longer].map(
      ([target, all]) => `${target} ${[...new Set(all.map(({ seconds }) => seconds))].join(' and ')} s`,
    ),
    ...(unknown.length === 0 ? [] : [`${unknown.join(', ')} ${warmupSeconds} s, not studied`]),
  ];
  return parts.length === 0
    ? []
    : [`warm-up by target, at most ${LONGEST_WARMUP_SECONDS} s: ${parts.join('; ')}`];
}

/** Describes the plan as `--dry-run` prints it. `load` replaces the description of a rate that is not yet known. */
export function describePlan(plan: Plan, load = describeLoad(plan.load)): string {
  const lines = [
    `${countOf(plan.trials.length, 'trial')}: ${countOf(plan.targets.length, 'target')} at ${describeConnections(plan.rungs)}, ${countOf(plan.rounds, 'round')}, ${plan.asked === undefined ? 'workload ' : ''}${describeWorkload(plan)}`,
    `${plan.engine}, ${load}, ${describeSpan(plan)}, timeout ${plan.timeoutSeconds} s${plan.attached === undefined ? `, ${describeWorkers(plan)}` : ''}, seed ${plan.seed}`,
    ...describeDisturbance(plan),
    ...describeWarmups(plan),
    ...describeSequentialTest(plan),
    `about ${formatSpan(estimateSeconds(plan))}${plan.sequentialTest === undefined ? '' : ' at most'}`,
    ...describeProspects(plan).map((line) => `warning: ${line}`),
    '',
    ...plan.trials.map(
      ({ order, round, target, connections }) =>
        `${String(order + 1).padStart(4)}  round ${round}  ${target} at ${formatWhole(connections)}`,
    ),
  ];
  return lines.join('\n');
}

function describeSequentialTest({ duel, sequentialTest }: Plan): string[] {
  const kind = duel ? ['duels: all servers of a round run at once and take short turns'] : [];
  if (sequentialTest === undefined) return kind;
  const { looks, by, threshold, budgetSeconds } = sequentialTest;
  const budget = budgetSeconds === undefined ? '' : `, or after ${formatBudget(budgetSeconds)}`;
  return [
    ...kind,
    `looks after ${looks.split('/').join(', ')} rounds, and stops when every comparison by ${METRICS[by].label} (±${formatShare(threshold)}) is decided${budget}`,
  ];
}
