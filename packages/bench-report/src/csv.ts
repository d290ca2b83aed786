import { stringify } from 'csv-stringify/sync';
import { METRIC_IDS, METRICS, type MetricId } from 'bench-model/metrics';
import { isSamePlace } from 'bench-model/planned';
import { UNITS } from 'bench-model/units';
import { describeInterpreter } from './interpreters.ts';
import type { Model, ModelRow, Point } from './model/model.ts';

type Cell = string | number | undefined;

/** The outcomes of requests, as a record counts them. */
const COUNTS = [
  'sent',
  'ok',
  'non2xx',
  'mismatch',
  'timeout',
  'reset',
  'closedEarly',
  'inFlight',
  'failed',
] as const;

/**
 * Renders every trial of a run as a row of CSV (RFC 4180), in the order in which they were measured. A missing figure
 * is an empty cell. Words that a spreadsheet would take for a formula begin with an apostrophe.
 */
export function renderCsv(model: Model): string {
  const trials = model.rows
    .flatMap((row) => row.trials.map((trial) => ({ row, trial })))
    .toSorted((a, b) => a.trial.order - b.trial.order);
  const rows = trials.map(({ row, trial }) => toRow(model, row, trial));
  return stringify(rows, { header: true, escape_formulas: true });
}

function toRow(model: Model, row: ModelRow, trial: Point): Record<string, Cell> {
  const { runtime, interpreter } = model.servers.find(({ target }) => target.id === row.target) ?? {};
  return {
    run: model.run,
    trial: trial.id,
    started_at: trial.startedAt,
    workload: model.plan.workload,
    target: row.target,
    class: row.class,
    runtime: runtime && [runtime.kind, runtime.version].join(' '),
    interpreter: interpreter && describeInterpreter(interpreter),
    connections: row.connections,
    ...(model.plan.routes && { request: row.route }),
    round: trial.round,
    order: trial.order,
    status: trial.status,
    reasons: trial.reasons.map(({ code }) => code).join(' '),
    limit: trial.limit,
    ...scaleOf(model, row, trial),
    ...Object.fromEntries(
      METRIC_IDS.flatMap((metric): [string, Cell][] => {
        const figure = trial.figures[metric];
        return [
          [nameWithUnit(metric), figure?.value],
          [`${metric}_validity`, figure && validityOf(figure)],
          // Of the target at this number of connections, over all rounds.
          [`${metric}_rank`, row.figures[metric]?.rank],
        ];
      }),
    ),
    ...Object.fromEntries(COUNTS.map((name) => [`requests_${toSnake(name)}`, trial.counts?.[name]])),
  };
}

/** The size of the server and its speed-up, if the run scales servers. A speed-up on shared cores is a lower bound. */
function scaleOf({ scalings }: Model, row: ModelRow, { round }: Point): Record<string, Cell> {
  if (scalings === undefined) return {};
  const found = scalings
    .filter((one) => isSamePlace(one, row))
    .flatMap(({ rows }) => rows)
    .find(({ target }) => target === row.target);
  const speedUp = found?.rounds.find((one) => one.round === round)?.speedUp;
  const { workers, threads, cores = 1 } = found?.scale ?? {};
  return {
    workers,
    threads,
    cores,
    cores_shared: found && (found.isShared ? 'yes' : 'no'),
    speed_up: speedUp,
    speed_up_validity: speedUp === undefined ? undefined : found?.speedUp && validityOf(found.speedUp),
    efficiency: speedUp === undefined ? undefined : speedUp / cores,
  };
}

/** A lower bound is named so even if the same reason invalidates it for comparisons. */
function validityOf({ valid, atLeast }: { valid: boolean; atLeast: boolean }): string {
  if (atLeast) return 'lower bound';
  return valid ? 'valid' : 'invalid';
}

function toSnake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Names a metric together with its unit in ASCII: `cpu_us_per_request`. */
function nameWithUnit(metric: MetricId): string {
  return `${metric} ${UNITS[METRICS[metric].unit].ascii}`.replaceAll(' ', '_');
}
