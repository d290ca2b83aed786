/** The cover of a run in the index: its outcome, and the few figures of a picture that shows it. */
import type { MetricId } from 'bench-model/metrics';
import { describeVerdict } from '../compare.ts';
import { nameTarget } from '../format.ts';
import { decidingMetric } from '../leaders.ts';
import type { Model, ModelComparisons, ModelRow } from '../model/definition.ts';

/** A cover has room for so many rows. */
const MOST_ROWS = 6;

/** The outcome of a run, at its least connections. */
export interface Cover {
  outcome: string;
  metric: MetricId;
  connections: number;
  /** The comparisons, if they are the outcome. */
  compared?: {
    threshold: number;
    rows: (Pick<ModelComparisons['rows'][number], 'comparison'> & { name: string; words: string })[];
  };
  ranked: Pick<ModelRow, 'target' | 'figures'>[];
}

/** Makes the cover of a run; undefined without a trial. */
export function toCover(model: Model): Cover | undefined {
  const { outcome, comparisons } = model;
  if (outcome === undefined) return undefined;
  const metric = decidingMetric(model);
  const compared = outcome.isCompared ? comparisons.find(({ by }) => by === metric) : undefined;
  const rows = (compared?.rows ?? model.rows) as readonly { connections: number }[];
  const connections = Math.min(...rows.map((row) => row.connections));
  const isHere = (row: { connections: number }): boolean => row.connections === connections;
  const isOne = new Set(compared?.rows.map(({ candidate }) => candidate)).size === 1;
  return {
    outcome: outcome.text,
    metric,
    connections,
    ...(compared && {
      compared: {
        threshold: compared.threshold,
        rows: compared.rows
          .filter((row) => isHere(row) && row.comparison.ratio !== undefined)
          .slice(0, MOST_ROWS)
          .map((row) => ({
            name:
              isOne && row.route !== undefined ? row.route : nameTarget({ ...row, target: row.candidate }),
            comparison: row.comparison,
            words: describeVerdict(row),
          })),
      },
    }),
    ranked:
      compared === undefined
        ? model.rows.flatMap(({ figures: { [metric]: figure }, ...row }) =>
            isHere(row) && figure !== undefined
              ? [{ target: nameTarget(row), figures: { [metric]: figure } }]
              : [],
          )
        : [],
  };
}
