/** The last line of a report: the outcome, and the command that comes next. */
import { FEWEST_ROUNDS } from 'bench-analysis/verdict';
import { joinWords } from 'bench-targets/catalogue/projects/words';
import { commandLine } from 'bench-machine/home';
import type { ComparedRow, ComparedTable } from 'bench-analysis/compare';
import type { Timed } from 'bench-analysis/comparison';
import { isUsualLoad } from 'bench-model/engines';
import { METRICS, type MetricId } from 'bench-model/metrics';
import { isSamePlace, keyOfPlace } from 'bench-model/planned';
import { describePromises } from 'bench-model/promise';
import { sum } from 'bench-statistics/numbers';
import type { Plan } from 'bench-model/plan';
import {
  describeBaseline,
  describeDifference,
  describeKinds,
  describeRate,
  describeVerdict,
} from './compare.ts';
import type { Closing } from './content.ts';
import {
  countOf,
  describeConnections,
  formatAlike,
  formatChange,
  formatRange,
  formatShare,
  formatUs,
  formatWhole,
  nameCell,
  nameTarget,
} from './format.ts';
import { decidingMetric, findStanding, isKnown, isUsable, type Placed, type Standing } from './leaders.ts';
import type { Model, ModelFigure, ModelRow, Outcome } from './model/definition.ts';
import { listFound } from './notes.ts';
import { describeScalings } from './scaling.ts';
import { describeUpgrade } from './upgrade.ts';
import { listAll, listAny, listGiven, nameSome, QUALITIES, showValue } from './words.ts';

/** The findings that the last line says. */
const MOST_FINDINGS = 3;

/** What the reader of a report knows or can do. */
export interface Circumstances {
  /** The causes of its differences are shown too. */
  isExplained?: boolean;
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
  const [purpose, command] = isForeign
    ? ['For charts', joinWords(['report', model.run, '--open'])]
    : chooseNext(model, isExplained);
  return { sentence: `${text} ${purpose}`, command: commandLine(command) };
}

/** Describes the outcome of a run in one sentence, and what its servers did in another; undefined without a trial. */
export function describeOutcome(model: Omit<Model, 'outcome'>): Outcome | undefined {
  if (model.rows.length === 0) return undefined;
  const metric = decidingMetric(model);
  const compared = comparedBy(model, metric);
  const sentence =
    describeScalings(model.scalings ?? []) ??
    describeCapacities(model, compared) ??
    (compared === undefined
      ? describeLeaders(leadersOf(model.rows, metric), model.rows, metric)
      : model.plan.upgrade
        ? describeUpgrade(model, compared)
        : describeCompared(compared, model.rows));
  const found = nameSome(listFound(model), MOST_FINDINGS);
  const text = listGiven([`${sentence}.`, found.length > 0 && `Found: ${found.join('; ')}.`]).join(' ');
  return { text, isCompared: compared !== undefined };
}

/**
 * Says how much load each target carries at each place: `fastapi carries 3,900/s (3,700/s to 4,100/s) at p99 < 50 ms in this run`, and for which
 * ones that is not valid; undefined without promises or capacities.
 */
function describeCapacities(
  { plan: { load }, rows }: Pick<Model, 'plan' | 'rows'>,
  compared: ComparedTable | undefined,
): string | undefined {
  if (load.mode !== 'promise') return undefined;
  const found = rows.flatMap(({ target, figures: { capacity }, ...row }) =>
    capacity === undefined ? [] : [{ ...row, target, capacity }],
  );
  if (found.length === 0) return undefined;
  const promises = describePromises(load.promises);
  // Known within bounds, or a bound itself.
  const carried = found.filter(
    ({ capacity }) => capacity.reasons.every((code) => code === 'slo-violated') || isUsable(capacity),
  );
  if (carried.length === 0) return `No capacity at ${promises} is valid`;
  const isOnePlace = new Set(found.map(keyOfPlace)).size === 1;
  const nameOf = (row: (typeof found)[number]): string => (isOnePlace ? row.target : nameCell(row));
  const parts = carried
    .toSorted((a, b) => b.capacity.median - a.capacity.median)
    .map((row, index) => {
      const promise = index === 0 ? ` at ${promises} in this run` : '';
      return `${nameOf(row)} ${index === 0 ? 'carries ' : ''}${describeCapacity(row)}${promise}`;
    });
  const [only] = compared?.rows.length === 1 ? compared.rows : [];
  const difference =
    only === undefined ? '' : `; ${only.candidate} against ${only.baseline}: ${describeVerdict(only)}`;
  const lost = found.filter((row) => !carried.includes(row)).map(nameOf);
  const rest = lost.length === 0 ? '' : `; not valid: ${lost.join(', ')}`;
  return `${parts.join(', ')}${rest}${difference}`;
}

/** `3,900/s (3,700/s to 4,100/s)`, `at least 3,900/s`, `less than 40.0/s`; `probably less than` that by most of its rounds. */
function describeCapacity({
  capacity: { median, interval, atLeast, reasons },
  rounds,
  reasons: doubts,
}: Pick<ModelRow, 'rounds' | 'reasons'> & { capacity: ModelFigure }): string {
  const isRare = doubts.some((one) => one.reason.code === 'slo-rarely-met' && one.rounds > rounds / 2);
  const less = reasons.includes('slo-violated') ? 'less than ' : isRare ? 'probably less than ' : '';
  const bound = atLeast ? 'at least ' : less;
  const found = `${bound}${showValue('capacity', median)}`;
  return bound !== '' || interval === undefined
    ? found
    : `${found} (${showValue('capacity', interval.low)} to ${showValue('capacity', interval.high)})`;
}

/**
 * Returns the comparisons by a metric if they are the response: those of a sequential test, of a plan of enough rounds if one
 * is decided, and the only one of two targets. A table of fewer rounds is answered by its best target.
 */
function comparedBy(
  { comparisons, plan }: Pick<Model, 'comparisons' | 'plan'>,
  metric: MetricId,
): ComparedTable | undefined {
  const table = comparisons.find(({ by }) => by === metric);
  const verdicts = (table?.rows ?? []).map(({ comparison }) => comparison.verdict);
  const isDecided = verdicts.some((verdict) => verdict !== 'undecided');
  if (plan.sequentialTest !== undefined) return table;
  return isDecided && (plan.rounds >= FEWEST_ROUNDS || verdicts.length === 1) ? table : undefined;
}

function describeCompared(
  { by, baseline, threshold, rows }: ComparedTable,
  all: readonly ModelRow[],
): string {
  const name = METRICS[by].name;
  const [first] = rows;
  if (rows.length === 1 && first !== undefined) {
    const { candidate, connections, route, comparison } = first;
    const at = `${describeConnections([connections])}${route === undefined ? '' : `, ${route}`}`;
    const pair = `${candidate} and ${first.baseline} at ${at}`;
    const { ratio, verdict, whole: { cost = verdict, times = [], rate } = {} } = comparison;
    if (verdict === 'undecided') return `The ${name} of ${pair}: ${describeVerdict(first)}`;
    const time = listAll(times.map((one) => describeTime(one, first, all)));
    if (cost === 'undecided')
      return `${pair}: ${rate === undefined ? '' : 'the difference is time, not cost: '}${time}; ${name} ${describeDifference(comparison)}${describeRate(rate)}`;
    const also = `${time === '' ? '' : `, and ${time}`}${describeKinds(first)}`;
    if (cost === 'same' || ratio === undefined)
      return `${pair} have the same ${name} within ${formatShare(threshold)}${also}`;
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
        : ` (${formatAlike(ratio.estimate, interval).slice(1).join(' to ')} in ${countOf(comparison.rounds, 'round')})`;
    return `The ${name} of ${candidate} is ${change} that of ${first.baseline} at ${at}${within}${also}`;
  }
  const counts = Object.entries(QUALITIES).flatMap(([verdict, word]) => {
    const found = rows.filter(({ comparison }) => comparison.verdict === verdict);
    return found.length === 0 ? [] : [`${found.length} ${word}${nameDifferent(found, rows)}`];
  });
  return `${rows.length} comparisons of ${name} ${describeBaseline({ baseline, rows })}: ${counts.join(', ')}`;
}

/** `the median response of HEAD takes 4.1 ms more`, `HEAD serves 7.5 % fewer requests`. */
function describeTime(
  { by, comparison: { ratio, verdict } }: Timed,
  { candidate, baseline, ...place }: ComparedRow,
  rows: readonly ModelRow[],
): string {
  const { estimate } = ratio ?? { estimate: 1 };
  if (by === 'goodput') return `${candidate} serves ${formatChange(estimate).slice(1)} fewer requests`;
  const before = rows.find(({ target, ...own }) => target === baseline && isSamePlace(own, place));
  const change = formatUs(Math.abs(estimate - 1) * (before?.figures[by]?.median ?? 0));
  const what = by === 'p50' ? 'median response' : 'slowest 1 %';
  if (verdict === 'same') return `the ${what} of ${candidate} takes as long`;
  return `the ${what} of ${candidate} takes ${change} ${estimate < 1 ? 'less' : 'more'}`;
}

/** ` (GET /orders +12 %)`: the rows that differ, with their differences, the largest first. */
function nameDifferent(found: readonly ComparedRow[], all: readonly ComparedRow[]): string {
  const candidates = new Set(all.map(({ candidate }) => candidate));
  const isPlace = new Set(all.map(({ connections }) => connections)).size > 1;
  const changes = found.flatMap(({ candidate: target, connections, route, comparison }) => {
    const { verdict, ratio: own, whole: { cost = verdict, times = [] } = {} } = comparison;
    const time = cost === verdict ? undefined : times.find((one) => one.comparison.verdict === verdict);
    const ratio = time?.comparison.ratio ?? own;
    if ((verdict !== 'slower' && verdict !== 'faster') || ratio === undefined) return [];
    const name = candidates.size === 1 && route !== undefined ? route : nameTarget({ target, route });
    const where = isPlace ? `${name} at ${formatWhole(connections)}:` : name;
    const what = time === undefined ? where : `${where} ${METRICS[time.by].name}`;
    return [{ size: Math.abs(Math.log(ratio.estimate)), text: `${what} ${formatChange(ratio.estimate)}` }];
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
  const groups = [...Map.groupBy(leaders, ({ near }) => nameAny(near))];
  const rungCount = new Set(rows.map(keyOfPlace)).size;
  const isSame = groups.length === 1 && leaders.length > 1 && leaders.length === rungCount;
  const parts = groups.map(([names, all], index) => {
    const isTie = all.some(({ near }) => near.length > 1);
    const value = index === 0 || isTie ? ` (${describeRange(metric, all)})` : '';
    const every = all[0]?.route === undefined ? 'at every number of connections' : 'for every request';
    const where = isSame ? every : nameWhere(all, index === 0);
    return `${names} ${where}${value}`;
  });
  const rounds = Math.max(...rows.map((row) => row.rounds)) === 1 ? 'one round' : 'so few rounds';
  const isOpen = leaders.every(({ isUnranked, best, near }) => isUnranked || best.length > near.length);
  const few = isOpen ? `; ${rounds} cannot rank them` : '';
  return `${superlative} ${METRICS[metric].name}: ${parts.join(', ')}${few}`;
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
  const values = leaders.flatMap(({ near }) => near.map(({ figure }) => figure.median));
  const range = { least: Math.min(...values), most: Math.max(...values) };
  // A unit of both ends is said once.
  return formatRange(range, (value) => showValue(metric, value)).replace(/( \S+)(?= to .*\1$)/, '');
}

const MOST_NAMED = 3;

/** `vanilla`; `vanilla or fastify` if either may be the best. */
function nameAny(placed: readonly Placed[]): string {
  const names = placed.map(({ row }) => row.target);
  return listAny(
    names.length > MOST_NAMED + 1
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
  const show = (id: MetricId, name = ''): string | undefined => {
    const figure = figures[id];
    if (!isUsable(figure)) return undefined;
    const { median, atLeast, within } = figure;
    const doubt = within === undefined ? '' : ` (in doubt by up to ${formatShare(within)})`;
    return `${atLeast ? 'at least ' : ''}${showValue(id, median)}${name}${doubt}`;
  };
  const isOther = metric !== 'goodput' && isKnown(figures[metric]);
  const shown = listGiven([show('goodput'), isOther && show(metric, ` ${METRICS[metric].name}`)]);
  return `${target} at ${describeConnections([connections])}: ${shown.join(', ')}`;
}

/** Chooses the next step after a run: complete it, look into failures, decide, find the cause, or look at the charts. */
function chooseNext(model: Model, isExplained: boolean): [purpose: string, command: string] {
  const { plan, rows } = model;
  const metric = decidingMetric(model);
  const compared = comparedBy(model, metric);
  const leaders = leadersOf(rows, metric);
  const run = joinWords([model.run]);
  const failed = sum(rows.map(({ statuses }) => statuses.failed));
  if (isIncomplete(model)) return ['To complete the run', `bench --resume ${run}`];
  if (failed > 0) {
    const trials = failed === 1 ? 'the failed trial' : `the ${formatWhole(failed)} failed trials`;
    return [`For the ${failed === 1 ? 'log' : 'logs'} of ${trials}`, `report ${run} --detail`];
  }
  if (compared === undefined && leaders.length === 0) return ['For the reasons', `report ${run} --detail`];
  const closest = plan.sequentialTest === undefined && compared === undefined ? closestOf(leaders) : [];
  if (closest.length === 2 && isPlain(plan))
    return ['For a verdict on the best two', joinWords(['compare', ...closest])];
  if (compared !== undefined && !isExplained && hasCause(plan, compared))
    return ['For the cause', `why ${run}`];
  return ['For charts', `report ${run} --open`];
}

/** Returns true if versions of one program that Bench launches use more or less CPU, or take more or less time. */
function hasCause({ targets, attached }: Plan, { by, rows }: ComparedTable): boolean {
  const isOne = new Set(targets.map(({ stack }) => stack)).size === 1;
  const differs = rows.some(({ comparison: { verdict, whole: { cost = verdict } = {} } }) =>
    [verdict, cost].some((one) => one === 'slower' || one === 'faster'),
  );
  return by === 'cpu' && isOne && attached === undefined && differs;
}

/** Returns true if trials of a run of fixed rounds are missing. */
function isIncomplete({ plan, rows, leftOut }: Model): boolean {
  if (plan.sequentialTest !== undefined) return false;
  const skipped = new Set(leftOut.map(({ target }) => target));
  const due = plan.trials.filter(({ target }) => !skipped.has(target)).length;
  return sum(rows.map(({ rounds }) => rounds)) < due;
}

/** Returns the two best targets that the rounds do not distinguish; fewer if there are none. */
function closestOf(leaders: readonly Standing[]): string[] {
  const open = leaders.find(({ best, isUnranked }) => best.length > 1 || isUnranked);
  const placed = open?.isUnranked === true ? open.placed : (open?.best ?? []);
  return placed.slice(0, 2).map(({ row }) => row.target);
}

/** Returns true if the names of its targets are all that a command needs to measure them alike. */
function isPlain({ targets, stacks, workload, load, engine, ...plan }: Plan): boolean {
  return (
    targets.every(({ copy, packages, repeats, scale }) => !(copy ?? packages ?? repeats ?? scale)) &&
    !(plan.apps ?? plan.userRequests ?? plan.attached ?? plan.background) &&
    stacks.length === 0 &&
    workload === 'devices' &&
    isUsualLoad(load) &&
    engine === 'autocannon'
  );
}
