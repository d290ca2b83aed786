/** The last line of a report: the outcome, and the command that comes next. */
import { completeParams, workloadOf } from '../catalogue/workloads/index.ts';
import { commandLine } from '../home.ts';
import { METRICS, type MetricId } from '../metrics.ts';
import type { Target } from '../model.ts';
import { sum } from '../numbers.ts';
import type { Plan } from '../plan/definition.ts';
import { describeBaseline } from './compare.ts';
import { describeConnections, formatChange, formatShare, formatWhole } from './format.ts';
import { decidingMetric } from './deciding.ts';
import { findStanding, type Placed, type Standing } from './leaders.ts';
import type { Model, ModelComparisons, ModelRow } from './model/definition.ts';
import { describeScalings } from './scaling.ts';
import { listAll, showValue, VERDICTS } from './words.ts';

/** The outcome of a run, and the command that comes next. */
export interface Closing {
  /** The outcome, and the purpose of the command that follows. */
  sentence: string;
  command: string;
}

/** Closes the report of a run; undefined without a trial. */
export function closeReport(model: Model): Closing | undefined {
  if (model.rows.length === 0) return undefined;
  const metric = decidingMetric(model);
  const decided = decidedBy(model, metric);
  const leaders = leadersOf(model.rows, metric);
  const found =
    describeScalings(model.scalings ?? []) ??
    (decided === undefined ? describeLeaders(leaders, model.rows, metric) : describeDecided(decided));
  const { purpose, command } = chooseNext(model, leaders, decided !== undefined);
  return { sentence: `${found}. ${purpose}`, command: commandLine(command) };
}

/** Returns the comparisons by a metric, if at least one is decided. */
function decidedBy({ comparisons }: Model, metric: MetricId): ModelComparisons | undefined {
  const table = comparisons.find(({ by }) => by === metric);
  return table?.rows.some(({ comparison }) => comparison.verdict !== 'undecided') ? table : undefined;
}

function describeDecided({ by, baseline, threshold, rows }: ModelComparisons): string {
  const name = METRICS[by].name;
  const [first] = rows;
  if (rows.length === 1 && first !== undefined) {
    const { candidate, connections, comparison } = first;
    const pair = `${candidate} and ${first.baseline} at ${describeConnections([connections])}`;
    const { ratio, verdict } = comparison;
    if (verdict === 'same' || ratio === undefined)
      return `${pair} have the same ${name} within ${formatShare(threshold)}`;
    const side = ratio.estimate < 1 ? 'lower' : 'higher';
    const change = formatChange(ratio.estimate).slice(1);
    return `The ${name} of ${candidate} is ${change} ${side} than that of ${first.baseline} at ${describeConnections([connections])}`;
  }
  const counts = Object.entries(VERDICTS).flatMap(([verdict, word]) => {
    const count = rows.filter(({ comparison }) => comparison.verdict === verdict).length;
    return count === 0 ? [] : [`${count} ${word}`];
  });
  return `${rows.length} comparisons of ${name} ${describeBaseline({ baseline, rows })}: ${counts.join(', ')}`;
}

/** Returns the standings of the rungs at which a row or several are the best. */
function leadersOf(rows: readonly ModelRow[], metric: MetricId): Standing[] {
  const isContest = new Set(rows.map(({ target }) => target)).size > 1;
  return [...Map.groupBy(rows, ({ connections }) => connections).values()]
    .map((own) => findStanding(own, metric))
    .filter(({ placed, best }) => best.length > 0 && (placed.length > 1 || !isContest));
}

function describeLeaders(leaders: readonly Standing[], rows: readonly ModelRow[], metric: MetricId): string {
  if (rows.every(({ rounds, statuses }) => statuses.failed === rounds)) return 'Every trial failed';
  if (new Set(rows.map(({ target }) => target)).size === 1) return describeOnly(rows, metric);
  if (leaders.length === 0)
    return `Too few rounds are valid to compare the ${METRICS[metric].name} of the targets`;
  const superlative = METRICS[metric].better === 'lower' ? 'Lowest' : 'Highest';
  const groups = [...Map.groupBy(leaders, ({ best }) => nameAll(best))];
  const rungCount = new Set(rows.map(({ connections }) => connections)).size;
  const isSame = groups.length === 1 && leaders.length > 1 && leaders.length === rungCount;
  const parts = groups.map(([names, all], index) => {
    const rungs = all.map(({ connections }) => formatWhole(connections));
    const where = isSame ? 'every number of' : listAll(rungs);
    const value = index === 0 ? ` (${describeRange(metric, all)})` : '';
    return `${names} at ${where}${index > 0 ? '' : String(rungs) === '1' ? ' connection' : ' connections'}${value}`;
  });
  const few = leaders.every(({ isUnranked }) => isUnranked) ? ', in too few rounds for a rank' : '';
  return `${superlative} ${METRICS[metric].name}: ${parts.join(', ')}${few}`;
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

function nameAll(placed: readonly Placed[]): string {
  const names = placed.map(({ row }) => row.target);
  const shown =
    names.length > MOST_NAMED ? [...names.slice(0, MOST_NAMED), `${names.length - MOST_NAMED} more`] : names;
  return `${listAll(shown)}${names.length > 1 ? ' alike' : ''}`;
}

function goodputOf({ figures: { goodput } }: ModelRow): number {
  return goodput?.median ?? 0;
}

/** Describes the only target of a run, at the rung with its highest goodput. */
function describeOnly(rows: readonly ModelRow[], metric: MetricId): string {
  const [row] = rows.toSorted((a, b) => goodputOf(b) - goodputOf(a));
  if (row === undefined) return '';
  const { target, connections, figures } = row;
  const { goodput } = figures;
  const shown = [
    ...(goodput === undefined || (!goodput.valid && !goodput.atLeast)
      ? []
      : [`${goodput.atLeast ? 'at least ' : ''}${showValue('goodput', goodput.median)}`]),
    ...(metric === 'goodput' || figures[metric]?.valid !== true
      ? []
      : [`${showValue(metric, figures[metric].median)} ${METRICS[metric].name}`]),
  ];
  return `${target} at ${describeConnections([connections])}: ${shown.join(', ')}`;
}

interface Next {
  purpose: string;
  command: string;
}

/** Chooses the next step after a run: complete it, look into failures, decide, or look at the charts. */
function chooseNext(model: Model, leaders: readonly Standing[], isDecided: boolean): Next {
  const { plan, run, rows } = model;
  const failed = sum(rows.map(({ statuses }) => statuses.failed));
  if (isIncomplete(model)) return { purpose: 'To complete the run', command: `bench --resume ${run}` };
  if (failed > 0) {
    const trials = failed === 1 ? 'the failed trial' : `the ${formatWhole(failed)} failed trials`;
    return {
      purpose: `For the ${failed === 1 ? 'log' : 'logs'} of ${trials}`,
      command: `report ${run} --detail`,
    };
  }
  if (!isDecided && leaders.length === 0)
    return { purpose: 'For the reasons', command: `report ${run} --detail` };
  const pair = isDecided || plan.sequentialTest !== undefined ? undefined : closestOf(leaders);
  if (pair !== undefined && canRepeat(plan)) {
    const { names, connections } = pair;
    return {
      purpose: 'For a verdict on the best two',
      command: ['bench', ...names, ...optionsOf(plan), '--connections', connections, '--until-decided'].join(
        ' ',
      ),
    };
  }
  return { purpose: 'For charts', command: `report ${run} --open` };
}

/** Returns true if trials of a run of fixed rounds are missing. */
function isIncomplete({ plan, rows, leftOut }: Model): boolean {
  if (plan.sequentialTest !== undefined) return false;
  const skipped = new Set(leftOut.map(({ target }) => target));
  const due = plan.trials.filter(({ target }) => !skipped.has(target)).length;
  return sum(rows.map(({ rounds }) => rounds)) < due;
}

/** Returns the two best targets at the second rung, at which a sequential test compares by default. */
function closestOf(leaders: readonly Standing[]): { names: string[]; connections: number } | undefined {
  const { placed = [], connections = 0 } = leaders[1] ?? leaders[0] ?? {};
  const names = placed.slice(0, 2).map(({ row }) => row.target);
  return names.length < 2 ? undefined : { names, connections };
}

function isPlain({ copy, packages, repeats, resolved, engine, scale }: Target): boolean {
  return [copy, packages, repeats, resolved, engine, scale].every((part) => part === undefined);
}

/** Returns true if the names of its targets are all that a command needs to measure them alike. */
function canRepeat({ targets, stacks, apps, asked, attached, background, load, engine }: Plan): boolean {
  return (
    targets.every(isPlain) &&
    stacks.length === 0 &&
    [apps, asked, attached, background].every((part) => part === undefined) &&
    load.mode === 'closed' &&
    engine === 'autocannon'
  );
}

/** Returns the options that name the workload of a plan; empty for the default. */
function optionsOf({ workload, params = {} }: Plan): string[] {
  const usual = completeParams(workloadOf({ workload, asked: undefined }), {});
  return [
    ...(workload === 'devices' ? [] : ['--workload', workload]),
    ...Object.entries(params).flatMap(([name, value]) =>
      usual[name] === value ? [] : ['--param', `${name}=${value}`],
    ),
  ];
}
