/** The last line of a report: the outcome, and the command that comes next. */
import { FEWEST_ROUNDS } from 'bench-analysis/verdict';
import { joinWords } from 'bench-targets/catalogue/apps/words';
import { completeParams, workloadOf } from 'bench-targets/catalogue/workloads/index';
import { commandLine } from 'bench-machine/home';
import type { ComparedRow } from 'bench-analysis/compare';
import { isUsualLoad } from 'bench-model/engines';
import { METRICS, type MetricId } from 'bench-model/metrics';
import { keyOfPlace } from 'bench-model/planned';
import { describePromises } from 'bench-model/promise';
import type { Target } from 'bench-model/target';
import { sum } from 'bench-statistics/numbers';
import type { Plan } from 'bench-model/plan';
import { describeBaseline, describeVerdict } from './compare.ts';
import type { Closing } from './content.ts';
import {
  countOf,
  describeConnections,
  formatChange,
  formatShare,
  formatWhole,
  nameCell,
  nameTarget,
} from './format.ts';
import { decidingMetric, findStanding, isKnown, isUsable, type Placed, type Standing } from './leaders.ts';
import type { Model, ModelComparisons, ModelFigure, ModelRow, Outcome } from './model/definition.ts';
import { listFound } from './notes.ts';
import { describeScalings, describeThreads } from './scaling.ts';
import { describeUpgrade } from './upgrade.ts';
import { listAll, listAny, nameSome, QUALITIES, showValue } from './words.ts';

/** The findings that the last line says. */
const MOST_FINDINGS = 3;

/** What the reader of a report knows or can do. */
export interface Circumstances {
  /** The causes of its differences are shown too. */
  isExplained?: boolean | undefined;
  /** The run was begun elsewhere, so nothing here executes its plan. */
  isForeign?: boolean;
}

/** Closes the report of a run; undefined without a trial. */
export function closeReport(
  model: Model,
  { isExplained = false, isForeign = false }: Circumstances = {},
): Closing | undefined {
  if (model.outcome === undefined) return undefined;
  const { text } = model.outcome;
  if (isForeign && model.repeat !== undefined)
    return { sentence: `${text} To measure the same`, command: model.repeat };
  const { purpose, command } = isForeign
    ? { purpose: 'For charts', command: joinWords(['report', model.run, '--open']) }
    : chooseNext(model, isExplained);
  return { sentence: `${text} ${purpose}`, command: commandLine(command) };
}

/** Describes the outcome of a run in one sentence, and what its servers did in another; undefined without a trial. */
export function describeOutcome(model: Omit<Model, 'outcome'>): Outcome | undefined {
  if (model.rows.length === 0) return undefined;
  const metric = decidingMetric(model);
  const compared = comparedBy(model, metric);
  const sentence =
    describeThreads(model.threadRaces ?? [], MOST_NAMED) ??
    describeScalings(model.scalings ?? []) ??
    describeCapacities(model, compared) ??
    (compared === undefined
      ? describeLeaders(leadersOf(model.rows, metric), model.rows, metric)
      : model.plan.upgrade
        ? describeUpgrade(model, compared)
        : describeCompared(compared));
  const found = nameSome(listFound(model), MOST_FINDINGS);
  const text = [`${sentence}.`, ...(found.length === 0 ? [] : [`Found: ${found.join('; ')}.`])].join(' ');
  return { text, isCompared: compared !== undefined };
}

/**
 * Says how much load each target carries at each place: `fastapi carries 3,900/s (3,700/s to 4,100/s) at p99 < 50 ms`, and for which
 * ones that is not valid; undefined without promises or capacities.
 */
function describeCapacities(
  { plan: { load }, rows }: Pick<Model, 'plan' | 'rows'>,
  compared: ModelComparisons | undefined,
): string | undefined {
  if (load.mode !== 'promise') return undefined;
  const found = rows.flatMap(({ target, figures: { capacity }, ...row }) =>
    capacity === undefined ? [] : [{ ...row, target, capacity }],
  );
  if (found.length === 0) return undefined;
  const promises = describePromises(load.promises);
  const carried = found.filter(({ capacity }) => isBounded(capacity));
  if (carried.length === 0) return `No capacity at ${promises} is valid`;
  const isOnePlace = new Set(found.map(keyOfPlace)).size === 1;
  const nameOf = (row: (typeof found)[number]): string => (isOnePlace ? row.target : nameCell(row));
  const parts = carried
    .toSorted((a, b) => b.capacity.median - a.capacity.median)
    .map((row, index) => {
      const promise = index === 0 ? ` at ${promises}` : '';
      return `${nameOf(row)} ${index === 0 ? 'carries ' : ''}${describeCapacity(row)}${promise}`;
    });
  const [only] = compared?.rows.length === 1 ? compared.rows : [];
  const difference =
    only === undefined ? '' : `; ${only.candidate} against ${only.baseline}: ${describeVerdict(only)}`;
  const lost = found.filter((row) => !carried.includes(row)).map(nameOf);
  const rest = lost.length === 0 ? '' : `; not valid: ${lost.join(', ')}`;
  return `${parts.join(', ')}${rest}${difference}`;
}

/** True for a capacity that is known within bounds, or is a bound itself. */
function isBounded(capacity: ModelFigure): boolean {
  return capacity.reasons.every((code) => code === 'promise-broken') || isUsable(capacity);
}

/** `3,900/s (3,700/s to 4,100/s)`, `at least 3,900/s`, `less than 40.0/s`; `probably less than` that by most of its rounds. */
function describeCapacity({
  capacity: { median, interval, atLeast, reasons },
  rounds,
  reasons: doubts,
}: Pick<ModelRow, 'rounds' | 'reasons'> & { capacity: ModelFigure }): string {
  const isRare = doubts.some((one) => one.reason.code === 'promise-rarely-kept' && one.rounds > rounds / 2);
  const less = reasons.includes('promise-broken') ? 'less than ' : isRare ? 'probably less than ' : '';
  const bound = atLeast ? 'at least ' : less;
  const [value, low, high] = [median, interval?.low ?? 0, interval?.high ?? 0].map((one) =>
    showValue('capacity', one),
  );
  return `${bound}${value}${interval === undefined || bound !== '' ? '' : ` (${low} to ${high})`}`;
}

/**
 * Returns the comparisons by a metric if they are the answer: those of a sequential test, of a plan of enough rounds if one
 * is decided, and the only one of two targets. A table of fewer rounds is answered by its best target.
 */
function comparedBy(
  { comparisons, plan }: Pick<Model, 'comparisons' | 'plan'>,
  metric: MetricId,
): ModelComparisons | undefined {
  const table = comparisons.find(({ by }) => by === metric);
  const verdicts = (table?.rows ?? []).map(({ comparison }) => comparison.verdict);
  const isDecided = verdicts.some((verdict) => verdict !== 'undecided');
  if (plan.sequentialTest !== undefined) return table === undefined || isUnknown(table) ? undefined : table;
  return isDecided && (plan.rounds >= FEWEST_ROUNDS || verdicts.length === 1) ? table : undefined;
}

/** Returns true if no comparison has an interval. */
function isUnknown({ rows }: ModelComparisons): boolean {
  return rows.every(({ comparison }) => comparison.interval === undefined);
}

function describeCompared({ by, baseline, threshold, rows }: ModelComparisons): string {
  const name = METRICS[by].name;
  const [first] = rows;
  if (rows.length === 1 && first !== undefined) {
    const { candidate, connections, route, comparison } = first;
    const at = `${describeConnections([connections])}${route === undefined ? '' : `, ${route}`}`;
    const pair = `${candidate} and ${first.baseline} at ${at}`;
    const { ratio, verdict } = comparison;
    if (verdict === 'undecided') return `The ${name} of ${pair}: ${describeVerdict(first)}`;
    if (verdict === 'same' || ratio === undefined)
      return `${pair} have the same ${name} within ${formatShare(threshold)}`;
    const side = ratio.estimate < 1 ? 'lower' : 'higher';
    const change =
      ratio.estimate < 2
        ? `${formatChange(ratio.estimate).slice(1)} ${side} than`
        : formatChange(ratio.estimate).replace(' ×', ' times');
    const { interval } = ratio;
    // The intervals of few rounds are wide, and hold only if rounds vary normally.
    const within =
      comparison.rounds >= FEWEST_ROUNDS || interval === undefined
        ? ''
        : ` (${formatChange(interval.low)} to ${formatChange(interval.high)} in ${countOf(comparison.rounds, 'round')})`;
    return `The ${name} of ${candidate} is ${change} that of ${first.baseline} at ${at}${within}`;
  }
  const counts = Object.entries(QUALITIES).flatMap(([verdict, word]) => {
    const found = rows.filter(({ comparison }) => comparison.verdict === verdict);
    return found.length === 0 ? [] : [`${found.length} ${word}${nameDifferent(found, rows)}`];
  });
  return `${rows.length} comparisons of ${name} ${describeBaseline({ baseline, rows })}: ${counts.join(', ')}`;
}

/** ` (GET /orders +12 %)`: the rows that differ, with their differences, the largest first. */
function nameDifferent(found: readonly ComparedRow[], all: readonly ComparedRow[]): string {
  const candidates = new Set(all.map(({ candidate }) => candidate));
  const changes = found.flatMap(({ candidate: target, route, comparison: { verdict, ratio } }) => {
    if ((verdict !== 'slower' && verdict !== 'faster') || ratio === undefined) return [];
    const name = candidates.size === 1 && route !== undefined ? route : nameTarget({ target, route });
    return [{ size: Math.abs(Math.log(ratio.estimate)), text: `${name} ${formatChange(ratio.estimate)}` }];
  });
  if (changes.length === 0) return '';
  return ` (${nameSome(
    changes.toSorted((a, b) => b.size - a.size).map(({ text }) => text),
    MOST_NAMED,
  ).join(', ')})`;
}

/** Returns the standings of the places at which a row or several are the best. */
function leadersOf(rows: readonly ModelRow[], metric: MetricId): Standing[] {
  const isContest = new Set(rows.map(({ target }) => target)).size > 1;
  return [...Map.groupBy(rows, keyOfPlace).values()]
    .map((own) => findStanding(own, metric))
    .filter(({ placed, best }) => best.length > 0 && (placed.length > 1 || !isContest));
}

/** True if no round is invalid: there are too few of them. */
function countsAll(rows: readonly ModelRow[], metric: MetricId): boolean {
  return rows.every(
    ({ figures, rounds }) => figures[metric]?.valid === true && figures[metric].rounds === rounds,
  );
}

function describeLeaders(leaders: readonly Standing[], rows: readonly ModelRow[], metric: MetricId): string {
  if (rows.every(({ rounds, statuses }) => statuses.failed === rounds)) return 'Every trial failed';
  if (new Set(rows.map(({ target }) => target)).size === 1) return describeOnly(rows, metric);
  if (leaders.length === 0)
    return `Too few ${countsAll(rows, metric) ? 'rounds' : 'rounds are valid'} to compare the ${METRICS[metric].name} of the targets`;
  const superlative = METRICS[metric].better === 'lower' ? 'Lowest' : 'Highest';
  const groups = [...Map.groupBy(leaders, ({ best }) => nameAny(best))];
  const rungCount = new Set(rows.map(keyOfPlace)).size;
  const isSame = groups.length === 1 && leaders.length > 1 && leaders.length === rungCount;
  const parts = groups.map(([names, all], index) => {
    const isTie = all.some(({ best }) => best.length > 1);
    const value = index === 0 || isTie ? ` (${describeRange(metric, all)})` : '';
    const where = isSame ? nameEvery(all) : nameWhere(all, index === 0);
    return `${names} ${where}${value}`;
  });
  const rounds = Math.max(...rows.map((row) => row.rounds)) === 1 ? 'one round' : 'so few rounds';
  const few = leaders.every(({ isUnranked }) => isUnranked) ? `; ${rounds} cannot rank them` : '';
  return `${superlative} ${METRICS[metric].name}: ${parts.join(', ')}${few}`;
}

function nameEvery([first]: readonly Standing[]): string {
  return first?.route === undefined ? 'at every number of connections' : 'for every request';
}

/** `at 10, 100 connections`; `for GET /orders at 10`. */
function nameWhere(all: readonly Standing[], isFirst: boolean): string {
  if (all.some(({ route }) => route !== undefined)) {
    const names = all.map(({ connections, route = '' }) => `${route} at ${formatWhole(connections)}`);
    return `for ${listAll(nameSome(names, MOST_NAMED))}`;
  }
  const rungs = all.map(({ connections }) => formatWhole(connections));
  const unit = String(rungs) === '1' ? ' connection' : ' connections';
  return `at ${listAll(rungs)}${isFirst ? unit : ''}`;
}

/** `10.1 to 19.7 µs`. */
function describeRange(metric: MetricId, leaders: readonly Standing[]): string {
  const values = leaders.flatMap(({ best }) => best.map(({ figure }) => figure.median));
  const [least, most] = [Math.min(...values), Math.max(...values)].map((value) => showValue(metric, value));
  if (least === most) return String(least);
  const unit = / \S+$/.exec(most ?? '')?.[0] ?? '';
  return `${least?.endsWith(unit) ? least.slice(0, least.length - unit.length) : least} to ${most}`;
}

const MOST_NAMED = 3;

/** `vanilla`; `vanilla or fastify` if either may be the best. */
function nameAny(placed: readonly Placed[]): string {
  const names = placed.map(({ row }) => row.target);
  return listAny(
    names.length > MOST_NAMED
      ? [...names.slice(0, MOST_NAMED), `one of ${names.length - MOST_NAMED} more`]
      : names,
  );
}

function goodputOf({ figures: { goodput } }: ModelRow): number {
  return goodput?.median ?? 0;
}

/** Describes the requests of the only target of a run, from the best to the worst. */
function describeRoutes(rows: readonly ModelRow[], metric: MetricId): string | undefined {
  const { placed } = findStanding(rows, metric);
  const [first, last] = [placed[0], placed.at(-1)];
  if (first === undefined || last === undefined || first === last) return undefined;
  const name = ({ row, figure }: Placed): string =>
    `${showValue(metric, figure.median)} for ${row.route} at ${formatWhole(row.connections)}`;
  return `The ${METRICS[metric].name} of ${first.row.target}: from ${name(first)} to ${name(last)}`;
}

/** Describes the only target of a run, at the rung with its highest goodput. */
function describeOnly(rows: readonly ModelRow[], metric: MetricId): string {
  const found = rows.some(({ route }) => route !== undefined) ? describeRoutes(rows, metric) : undefined;
  if (found !== undefined) return found;
  const [row] = rows.toSorted((a, b) => goodputOf(b) - goodputOf(a));
  if (row === undefined) return '';
  const { target, connections, figures } = row;
  const show = (id: MetricId, name = ''): string[] => {
    const figure = figures[id];
    if (!isUsable(figure)) return [];
    const { median, atLeast, within } = figure;
    const doubt = within === undefined ? '' : ` (in doubt by up to ${formatShare(within)})`;
    return [`${atLeast ? 'at least ' : ''}${showValue(id, median)}${name}${doubt}`];
  };
  const shown = [
    ...show('goodput'),
    ...(metric === 'goodput' || !isKnown(figures[metric]) ? [] : show(metric, ` ${METRICS[metric].name}`)),
  ];
  return `${target} at ${describeConnections([connections])}: ${shown.join(', ')}`;
}

interface Next {
  purpose: string;
  command: string;
}

/** Chooses the next step after a run: complete it, look into failures, decide, find the cause, or look at the charts. */
function chooseNext(model: Model, isExplained: boolean): Next {
  const { plan, rows } = model;
  const metric = decidingMetric(model);
  const compared = comparedBy(model, metric);
  const leaders = leadersOf(rows, metric);
  const run = joinWords([model.run]);
  const failed = sum(rows.map(({ statuses }) => statuses.failed));
  if (isIncomplete(model)) return { purpose: 'To complete the run', command: `bench --resume ${run}` };
  if (failed > 0) {
    const trials = failed === 1 ? 'the failed trial' : `the ${formatWhole(failed)} failed trials`;
    return {
      purpose: `For the ${failed === 1 ? 'log' : 'logs'} of ${trials}`,
      command: `report ${run} --detail`,
    };
  }
  if (compared === undefined && leaders.length === 0)
    return { purpose: 'For the reasons', command: `report ${run} --detail` };
  const pair = plan.sequentialTest === undefined && compared === undefined ? closestOf(leaders) : undefined;
  if (pair !== undefined && canRepeat(plan)) {
    const { names, connections } = pair;
    return {
      purpose: 'For a verdict on the best two',
      command: joinWords([
        'bench',
        ...names,
        ...optionsOf(plan),
        '--connections',
        String(connections),
        '--until-decided',
      ]),
    };
  }
  if (compared !== undefined && !isExplained && hasCause(plan, compared))
    return { purpose: 'For the cause', command: `why ${run}` };
  return { purpose: 'For charts', command: `report ${run} --open` };
}

/** Returns true if versions of one program that Bench launches use more or less CPU. */
function hasCause({ targets, attached }: Plan, { by, rows }: ModelComparisons): boolean {
  const isOne = new Set(targets.map(({ stack }) => stack)).size === 1;
  const differs = rows.some(({ comparison: { verdict } }) => verdict === 'slower' || verdict === 'faster');
  return by === 'cpu' && isOne && attached === undefined && differs;
}

/** Returns true if trials of a run of fixed rounds are missing. */
function isIncomplete({ plan, rows, leftOut }: Model): boolean {
  if (plan.sequentialTest !== undefined) return false;
  const skipped = new Set(leftOut.map(({ target }) => target));
  const due = plan.trials.filter(({ target }) => !skipped.has(target)).length;
  return sum(rows.map(({ rounds }) => rounds)) < due;
}

/**
 * Returns the two best targets that the rounds do not distinguish, at the second rung where there are such, at which a
 * sequential test compares by default.
 */
function closestOf(leaders: readonly Standing[]): { names: string[]; connections: number } | undefined {
  const open = leaders.filter(({ best, isUnranked }) => best.length > 1 || isUnranked);
  const { best = [], placed = [], isUnranked, connections = 0 } = open[1] ?? open[0] ?? {};
  const names = (isUnranked === true ? placed : best).slice(0, 2).map(({ row }) => row.target);
  return names.length < 2 ? undefined : { names, connections };
}

function isPlain({ copy, packages, repeats, scale }: Target): boolean {
  return [copy, packages, repeats, scale].every((part) => part === undefined);
}

/** Returns true if the names of its targets are all that a command needs to measure them alike. */
function canRepeat({
  targets,
  stacks,
  apps,
  userRequests,
  attached,
  background,
  load,
  engine,
}: Plan): boolean {
  return (
    targets.every(isPlain) &&
    stacks.length === 0 &&
    [apps, userRequests, attached, background].every((part) => part === undefined) &&
    isUsualLoad(load) &&
    engine === 'autocannon'
  );
}

/** Returns the options that name the workload of a plan; empty for the default. */
function optionsOf({ workload, params = {} }: Plan): string[] {
  const usual = completeParams(workloadOf({ workload, userRequests: undefined }), {});
  return [
    ...(workload === 'devices' ? [] : ['--workload', workload]),
    ...Object.entries(params).flatMap(([name, value]) =>
      usual[name] === value ? [] : ['--param', `${name}=${value}`],
    ),
  ];
}
