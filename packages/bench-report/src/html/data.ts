/** The data of the page: the model of a run, with the words that need no browser. */
import type { MetricId } from 'bench-model/metrics';
import type { WhyFile } from 'bench-model/why';
import { nameOfRuntime } from 'bench-model/planned';
import type { Model, ModelRow, ModelServer, Point } from '../model/definition.ts';
import type { ComparedTable } from 'bench-analysis/compare';
import { describeBaseline, describeVerdict } from '../compare.ts';
import type { ScalingView, View } from '../content.ts';
import { toScalingView } from '../scaling.ts';
import { toTimesView } from '../times.ts';
import { describeRuntime } from '../interpreters.ts';
import { listNotes } from '../notes.ts';
import { explainSigns, readSigns } from '../signs.ts';
import { toTable } from '../table.ts';
import { describeMachine, describeSetting, titleOf } from '../view.ts';
import { decidingMetric } from '../leaders.ts';
import { toPageWhy } from './flame.ts';
import { toVerdict, type PageVerdict } from './verdict.ts';

/** A target at a rung, and the properties that the page filters by. */
export interface PageRow extends ModelRow {
  stack: string;
  /** `python 3.14`; empty for a binary and for a server that was already running. */
  runtime: string;
}

/** The comparisons of one metric, with their verdicts in words. */
export interface PageComparisons extends Pick<ComparedTable, 'by' | 'threshold'> {
  against: string;
  rows: (ComparedTable['rows'][number] & { words: string })[];
}

/** A measured target, and its interpreter or runtime in words. */
interface PageServer extends ModelServer {
  words: string;
}

/** Everything that the page shows. */
export interface Page extends Pick<Model, 'run' | 'repeat' | 'rounds' | 'metrics' | 'host' | 'versions'> {
  /** What was measured, and on which machine. */
  title: string;
  machine: string;
  /** Present if the run compares two things. */
  verdict?: PageVerdict;
  servers: PageServer[];
  startedAt?: string;
  /** The metric that the page opens with. */
  metric: MetricId;
  /** The outcome in one sentence, and what the servers did. */
  outcome: string;
  /** True if the comparisons are the outcome, and not the ranking. */
  isCompared: boolean;
  /** What a reader must know before using a figure: the machine, and the notes in brief. */
  caveats: string[];
  /** True if something is wrong that a reader must see at once. */
  isDoubtful: boolean;
  setting: string[];
  /** The notes in full, and the meaning of the marks. */
  notes: string[];
  rows: PageRow[];
  comparisons: PageComparisons[];
  /** The reports of time(1) in words: a group for each rung, a column for each target. */
  times: Pick<View, 'columns' | 'words' | 'groups' | 'notes'>;
  /** The scaling of servers in words: a group for each target at each rung. */
  scaling?: ScalingView;
  /** Where the differences are spent, if the servers were profiled. */
  why?: ReturnType<typeof toPageWhy>;
  /** Trials whose course over time and log are left out, because the run has too many. */
  shortened: number;
}

/** The parts of a trial that are large. */
const DETAILS = new Set<string>(['goodputOverTime', 'memoryOverTime', 'logTail'] satisfies (keyof Point)[]);

/** The number of trials that keep their course over time and their log: about 1 MB. */
const MOST_DETAILED = 600;

/** Builds the data of the page from a model with distributions, and the profiles of the run if it has some. */
export function toPage(model: Model, why?: WhyFile): Page {
  const { run, repeat, rounds, metrics, servers, host, versions } = model;
  const named = model.plan.targets.length === 1 ? nameByRoute : <Cell>(cell: Cell): Cell => cell;
  const shownIn = detailedTrials(model.rows);
  const { columns, words, groups, notes } = toTimesView(model);
  const metric = decidingMetric(model);
  const trials = model.rows.flatMap((row) => row.trials);
  return {
    run,
    repeat,
    rounds,
    metrics,
    servers: servers.map((server) => ({ ...server, words: describeRuntime(server) })),
    host,
    versions,
    title: titleOf(model),
    machine: describeMachine(host),
    verdict: toVerdict(model),
    startedAt: trials.map((trial) => trial.startedAt).toSorted()[0],
    metric,
    outcome: model.outcome?.text ?? 'No trial has ended.',
    isCompared: model.outcome?.isCompared ?? false,
    caveats: [`Measured on: ${describeMachine(host)}.`, ...listNotes(model, 'brief')],
    isDoubtful: isDoubtful(model),
    setting: describeSetting(model),
    notes: [
      ...readSigns({ ...toTable(model.rows, metric), signs: explainSigns({ ...model, by: metric }) }),
      ...listNotes(model, 'full'),
    ],
    rows: model.rows.map((row) => named(toRow(row, model, shownIn))),
    comparisons: model.comparisons.map(({ by, threshold, baseline, rows }) => ({
      by,
      threshold,
      against: describeBaseline({ baseline, rows }),
      rows: rows.map((one) => ({ ...one, words: describeVerdict(one) })),
    })),
    times: { columns, words, groups, notes },
    scaling: toScalingView(model),
    why: why && toPageWhy(why),
    shortened: trials.length - shownIn.size,
  };
}

/** Returns true if a figure of the metric that decides is missing or invalid, or a target failed or was skipped. */
function isDoubtful(model: Model): boolean {
  const id = decidingMetric(model);
  return (
    model.leftOut.length > 0 ||
    model.rows.some(({ figures, statuses }) => statuses.failed > 0 || figures[id]?.valid !== true)
  );
}

/** Names a row of the only target by its request, so that the charts compare its requests. */
function nameByRoute<Cell extends { target: string; route?: string }>({ route, ...cell }: Cell): Cell {
  return { ...cell, ...(route !== undefined && { target: route }) } as Cell;
}

/** Selects the trials that are shown in full: those with a problem first, then the earliest. */
function detailedTrials(rows: ModelRow[]): Set<string> {
  const all = rows.flatMap(({ trials }) => trials);
  const ranked = all.toSorted((a, b) => weightOf(a) - weightOf(b) || a.order - b.order);
  return new Set(ranked.slice(0, MOST_DETAILED).map(({ id }) => id));
}

function weightOf({ status }: Point): number {
  return ['failed', 'suspect', 'ok'].indexOf(status);
}

function toRow(row: ModelRow, { servers }: Model, shownIn: Set<string>): PageRow {
  const target = servers.find((server) => server.target.id === row.target)?.target;
  const runtime = target?.runtime;
  const name = runtime && nameOfRuntime(runtime);
  return {
    ...row,
    stack: target?.stack ?? row.target,
    runtime: runtime === undefined ? '' : runtime.kind === name ? name : `${runtime.kind} ${name}`,
    trials: row.trials.map((trial) => {
      if (shownIn.has(trial.id)) return trial;
      const kept = Object.entries(trial).filter(([field]) => !DETAILS.has(field));
      return Object.fromEntries(kept) as typeof trial;
    }),
  };
}
