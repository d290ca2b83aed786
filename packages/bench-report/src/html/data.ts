/** The data of the page: the model of a run, with the words that need no browser. */
import type { WhyFile } from 'bench-model/why';
import { nameOfRuntime } from 'bench-model/planned';
import type { Model, ModelRow, Point } from '../model/definition.ts';
import { describeBaseline, describeVerdict } from '../compare.ts';
import { toScalingView } from '../scaling.ts';
import { toTimesView } from '../times.ts';
import { describeRuntime } from '../interpreters.ts';
import { listNotes } from '../notes.ts';
import { readSigns } from '../content.ts';
import { toTable } from '../table.ts';
import { describeMachine, describeSetting, titleOf } from '../view.ts';
import { decidingMetric } from '../leaders.ts';
import { buildFlame } from './flame.ts';
import { describeMissing, viewWhy } from '../why.ts';
import { toVerdict } from './verdict.ts';

/** A target at a rung, and the properties that the page filters by. */
export interface PageRow extends ModelRow {
  stack: string;
  /** `python 3.14`; empty for a binary and for a server that was already running. */
  runtime: string;
}

/** Everything that the page shows. */
export type Page = ReturnType<typeof toPage>;

/** The comparisons of one metric, with their verdicts in words. */
export type PageComparisons = Page['comparisons'][number];

/** The explanation of a pair, with its flame graph unless a side had no profiler. */
export type PageWhy = NonNullable<Page['why']>['pairs'][number];

/** The parts of a trial that are large. */
const DETAILS = new Set<string>(['goodputOverTime', 'memoryOverTime', 'logTail'] satisfies (keyof Point)[]);

/** The number of trials that keep their course over time and their log: about 1 MB. */
const MOST_DETAILED = 600;

/** Builds the data of the page from a model with distributions, and the profiles of the run if it has some. */
export function toPage(model: Model, why?: WhyFile) {
  const { run, repeat, rounds, metrics, host, versions } = model;
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
    servers: model.servers.map((server) => ({ ...server, words: describeRuntime(server) })),
    host,
    versions,
    title: titleOf(model),
    machine: describeMachine(host),
    /** Present if the run compares two things. */
    verdict: toVerdict(model),
    startedAt: trials.map((trial) => trial.startedAt).toSorted()[0],
    /** The metric that the page opens with. */
    metric,
    outcome: model.outcome?.text ?? 'No trial has ended.',
    /** True if the comparisons are the outcome, and not the ranking. */
    isCompared: model.outcome?.isCompared ?? false,
    /** What a reader must know before using a figure. */
    caveats: [`Measured on: ${describeMachine(host)}.`, ...listNotes(model, 'brief')],
    isDoubtful: isDoubtful(model),
    setting: describeSetting(model),
    notes: [...readSigns(toTable(model.rows, metric, model)), ...listNotes(model, 'full')],
    rows: model.rows.map((row) => named(toRow(row, model, shownIn))),
    comparisons: model.comparisons.map(({ by, threshold, baseline, rows }) => ({
      by,
      threshold,
      against: describeBaseline({ baseline, rows }),
      rows: rows.map((one) => ({ ...one, words: describeVerdict(one) })),
    })),
    times: { columns, words, groups, notes },
    scaling: toScalingView(model),
    why: why && {
      missing: describeMissing(why),
      pairs: viewWhy(why).map((pair) => ({ ...pair, flame: buildFlame(why, pair) })),
    },
    /** Trials whose course over time and log are left out, because the run has too many. */
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
