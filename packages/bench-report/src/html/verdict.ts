/** The first screen of a run that compares two things at one place: its verdict, and the figures of both before and after. */
import type { ComparedRow } from 'bench-analysis/compare';
import { METRICS, type MetricId } from 'bench-model/metrics';
import { isSamePlace } from 'bench-model/planned';
import { labelOf } from 'bench-targets/catalogue/copy-label';
import { showFigure } from '../cells.ts';
import { describeVerdict } from '../compare.ts';
import { formatChange, FORMATS } from '../format.ts';
import { decidingMetric } from '../leaders.ts';
import type { Model, ModelRow } from '../model/definition.ts';

/** The verdict of a run that compares two things. */
export type PageVerdict = NonNullable<ReturnType<typeof toVerdict>>;

const TILES = ['cpu', 'p50', 'goodput', 'memory'] as const satisfies MetricId[];

/** Returns the verdict of a run; undefined unless it has one comparison. */
export function toVerdict(model: Model) {
  const by = decidingMetric(model);
  const [row, ...others] = model.comparisons.find((table) => table.by === by)?.rows ?? [];
  if (row === undefined || others.length > 0) return undefined;
  const [before, after] = [row.baseline, row.candidate].map((target) =>
    model.rows.find((one) => one.target === target && isSamePlace(one, row)),
  );
  if (before === undefined || after === undefined) return undefined;
  const { verdict } = row.comparison;
  const words = describeVerdict(row).replace(/ \(/, ` ${METRICS[by].name} (`);
  return {
    verdict,
    /** `Slower: +56 % CPU per request (+50 % to +73 %)`. */
    heading: words[0]?.toUpperCase() + words.slice(1),
    sides: [before, after].map((side) => nameSide(side, model)),
    tiles: [by, ...TILES.filter((id) => id !== by)]
      .filter((id) => before.figures[id] !== undefined && after.figures[id] !== undefined)
      .map((id) => toTile(id, [before, after], { by, row })),
  };
}

/** Names a side, with the subject of its commit. */
function nameSide({ target }: ModelRow, { servers }: Model) {
  const copy = servers.find((server) => server.target.id === target)?.target.copy;
  return { name: copy === undefined ? target : labelOf(copy), subject: copy?.subject };
}

function toTile(
  id: MetricId,
  [before, after]: [ModelRow, ModelRow],
  { by, row: { comparison } }: { by: MetricId; row: ComparedRow },
) {
  const judged = id === by ? comparison : comparison.whole?.times?.find((one) => one.by === id)?.comparison;
  const [old = 0, now = 0] = [before, after].map(({ figures }) => figures[id]?.median);
  const change = formatChange(judged?.ratio?.estimate ?? now / old);
  const { label, name, unit } = METRICS[id];
  return {
    label: id === 'p50' ? name : label,
    before: showFigure(before.figures[id], FORMATS[unit]),
    after: showFigure(after.figures[id], FORMATS[unit]),
    /** `+56 %`; absent for equal figures. */
    change: old > 0 && now !== old ? change : undefined,
    /** Present if a comparison judged it. */
    verdict: judged?.verdict,
  };
}
