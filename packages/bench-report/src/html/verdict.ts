/** The first screen of a run that compares two things at one place: its verdict, and the figures of both before and after. */
import type { ComparedRow } from 'bench-analysis/compare';
import { METRICS, type MetricId } from 'bench-model/metrics';
import type { Verdict } from 'bench-model/options';
import { isSamePlace } from 'bench-model/planned';
import { labelOf } from 'bench-targets/catalogue/copy-label';
import { showFigure } from '../cells.ts';
import { describeVerdict } from '../compare.ts';
import { formatChange, FORMATS } from '../format.ts';
import { decidingMetric } from '../leaders.ts';
import type { Model, ModelRow } from '../model/definition.ts';

/** One side of a comparison, and the subject of its commit. */
interface Side {
  name: string;
  subject?: string;
}

/** A figure of both sides. */
interface Tile {
  label: string;
  before: string;
  after: string;
  /** `+56 %`; absent for equal figures. */
  change?: string;
  /** Present if a comparison judged it. */
  verdict?: Verdict;
}

/** The verdict of a run that compares two things. */
export interface PageVerdict {
  verdict: Verdict;
  /** `Slower: +56 % CPU per request (+50 % to +73 %)`. */
  heading: string;
  sides: [Side, Side];
  tiles: Tile[];
}

const TILES = ['cpu', 'p50', 'goodput', 'memory'] as const satisfies MetricId[];

/** Returns the verdict of a run; undefined unless it has one comparison. */
export function toVerdict(model: Model): PageVerdict | undefined {
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
    heading: words[0]?.toUpperCase() + words.slice(1),
    sides: [nameSide(before, model), nameSide(after, model)],
    tiles: [by, ...TILES.filter((id) => id !== by)]
      .filter((id) => before.figures[id] !== undefined && after.figures[id] !== undefined)
      .map((id) => toTile(id, [before, after], { by, row })),
  };
}

function nameSide({ target }: ModelRow, { servers }: Model): Side {
  const copy = servers.find((server) => server.target.id === target)?.target.copy;
  return { name: copy === undefined ? target : labelOf(copy), subject: copy?.subject };
}

function toTile(
  id: MetricId,
  [before, after]: [ModelRow, ModelRow],
  { by, row: { comparison } }: { by: MetricId; row: ComparedRow },
): Tile {
  const judged = id === by ? comparison : comparison.whole?.times?.find((one) => one.by === id)?.comparison;
  const [old = 0, now = 0] = [before, after].map(({ figures }) => figures[id]?.median);
  const change = formatChange(judged?.ratio?.estimate ?? now / old);
  const { label, name, unit } = METRICS[id];
  return {
    label: id === 'p50' ? name : label,
    before: showFigure(before.figures[id], FORMATS[unit]),
    after: showFigure(after.figures[id], FORMATS[unit]),
    change: old > 0 && now !== old ? change : undefined,
    verdict: judged?.verdict,
  };
}
