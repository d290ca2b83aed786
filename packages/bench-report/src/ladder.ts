import { PLATEAU } from 'bench-analysis/ladder';
import type { Row } from 'bench-analysis/summary';
import { METRICS, type MetricId } from 'bench-model/metrics';
import { showLimit, showMetric } from './cells.ts';
import { formatWhole, nameTarget } from './format.ts';
import { describeKnee } from './course.ts';
import type { Model, ModelLadder } from './model/model.ts';
import type { View } from './content.ts';
import { toView, type Extent } from './view.ts';

const BAR = 'of highest';
const BAR_WIDTH = 10;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** The run grouped by target: each rung is a row, and the heading names the knee. */
export function toLadderView(model: Model, extent?: Extent): View {
  const { title, setting, signs, notes, closing } = toView(model, extent);
  return {
    title,
    setting,
    signs,
    ...(closing && { closing }),
    columns: [
      'connections',
      labelOf('goodput'),
      BAR,
      labelOf('p99'),
      labelOf('cpu'),
      labelOf('memory'),
      'limit',
    ],
    words: [BAR, 'limit'],
    expendable: ['limit', BAR],
    isPlain: true,
    groups: model.ladders.map((ladder) => toGroup(ladder, model.rows)),
    notes: [
      `knee: the lowest number of connections whose goodput is within ${PLATEAU * 100} % of the highest. Beyond it, more connections only add latency. It lies between two numbers if every round of the lower one fell short.`,
      'Requests must queue above N* (asymptotic bounds). The figure is an upper bound: highest goodput × shortest cycle of a connection.',
      ...notes,
    ],
  };
}

const labelOf = (id: MetricId): string => METRICS[id].label;

function toGroup(ladder: ModelLadder, all: Row[]): View['groups'][number] {
  const rows = all.filter(({ target, route }) => target === ladder.target && route === ladder.route);
  const highest = Math.max(...rows.map(goodputOf));
  return {
    heading: `${nameTarget(ladder)} (${ladder.class}): ${describeKnee(ladder)}`,
    rows: rows.map((row) => [
      formatWhole(row.connections),
      showMetric('goodput', row),
      drawBar(goodputOf(row) / highest),
      showMetric('p99', row),
      showMetric('cpu', row),
      showMetric('memory', row),
      showLimit(row),
    ]),
  };
}

function goodputOf({ figures: { goodput } }: Row): number {
  return goodput?.median ?? 0;
}

function drawBar(share: number): string {
  const eighths = Math.round((share || 0) * BAR_WIDTH * 8);
  return '█'.repeat(eighths >> 3) + EIGHTHS[eighths & 7];
}
