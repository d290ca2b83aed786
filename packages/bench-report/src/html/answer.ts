/** The first lines of the page: the outcome of the run, and what a reader must know before using it. */
import { METRICS, type MetricId } from 'bench-model/metrics';
import { VERDICTS } from 'bench-model/options';
import { median, sum } from 'bench-statistics/numbers';
import { describeBaseline } from '../compare.ts';
import { groupByPlace, nameTarget, formatChange, formatWhole } from '../format.ts';
import { decidingMetric, findStanding, type Obstacle, type Placed } from '../leaders.ts';
import type { Model, ModelComparisons, ModelRow } from '../model/definition.ts';
import { describeMachine } from '../view.ts';
import { listAll, nameSome, QUALITIES, showValue } from '../words.ts';

/** The outcome at one rung, or of the comparisons. */
export interface Answer {
  heading: string;
  sentences: string[];
}

/** Fewer rounds have no confidence interval. */
const FEWEST_FOR_INTERVAL = 6;

/** Describes the outcome: the best target at each rung, then the comparisons. */
export function describeAnswers(model: Model): Answer[] {
  const by = decidingMetric(model);
  const metrics = [...new Set<MetricId>([by, 'goodput'])];
  return [
    ...groupByPlace(model.rows).map(({ heading, rows }) => ({
      heading,
      sentences: metrics.map((id) => describeBest(id, rows)),
    })),
    ...model.comparisons.filter((table) => table.by === by).map(describeCompared),
  ];
}

function describeBest(id: MetricId, rows: ModelRow[]): string {
  const show = (value: number): string => showValue(id, value);
  const name = ({ row, figure }: Placed): string =>
    `${nameTarget(row)}, ${figure.atLeast ? 'at least ' : ''}${show(figure.median)}`;
  const { placed, best, obstacle, isUnranked } = findStanding(rows, id);
  const title = METRICS[id].superlative;
  const first = best[0] ?? placed[0];
  if (first === undefined) return `${title}: no target has a valid figure.`;
  if (best.length > 1) {
    const values = best.map(({ figure }) => figure.median);
    const range = new Set([Math.min(...values), Math.max(...values)].map(show));
    const names = listAll(nameSome(best.map(({ row }) => nameTarget(row))));
    return `${title}: ${names} share the first rank, ${[...range].join(' to ')}. Their rounds do not distinguish them.`;
  }
  const second = placed.find((one) => one !== first);
  const doubt = obstacle?.kind ?? (isUnranked ? 'no-rank' : undefined);
  return `${title}: ${[first, ...(second === undefined ? [] : [second])].map(name).join('; then ')}.${second && doubt ? ` ${DOUBTS[doubt]}` : ''}`;
}

/** The reasons why the best median is not the best target. */
const DOUBTS: Record<Obstacle['kind'], string> = {
  none: '',
  alone: '',
  bound: 'Lower bounds are not ranked.',
  'no-rank': 'Too few valid rounds to rank them.',
};

function describeCompared({ by, baseline, rows }: ModelComparisons): Answer {
  const isLadder = new Set(rows.map(({ connections }) => connections)).size > 1;
  const groups = Map.groupBy(rows, ({ comparison }) => comparison.verdict);
  return {
    heading: `${capitalise(METRICS[by].name)}, each ${describeBaseline({ baseline, rows })}`,
    sentences: VERDICTS.flatMap((verdict) => {
      const names = (groups.get(verdict) ?? []).map(
        ({ candidate: target, connections, route, comparison: { ratio } }) => {
          const at = isLadder ? ` at ${formatWhole(connections)}` : '';
          const change = verdict === 'undecided' || !ratio ? '' : ` (${formatChange(ratio.estimate)})`;
          return `${nameTarget({ target, route })}${at}${change}`;
        },
      );
      return names.length === 0 ? [] : [`${capitalise(QUALITIES[verdict])}: ${listAll(nameSome(names))}.`];
    }),
  };
}

function capitalise(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

/** Describes what a reader must know before using a figure. */
export function describeCaveats(model: Model): string[] {
  const { host, rows, rounds, leftOut } = model;
  const count = (status: 'ok' | 'suspect' | 'failed'): number =>
    sum(rows.map(({ statuses }) => statuses[status]));
  const trials = sum(rows.map((row) => row.rounds));
  const bounds = rows.filter(({ limits }) => limits[0] === 'generator').length;
  const noise = noiseOf(model);
  return [
    `Measured on: ${describeMachine(host)}.`,
    `Rounds: ${rounds.measured} of ${rounds.planned} complete.${
      rounds.measured < FEWEST_FOR_INTERVAL
        ? ' With fewer than six, bars show the range of the rounds.'
        : ' Thick bars show the 95 % confidence interval of the median, thin bars the range of the rounds.'
    }`,
    ...(noise === undefined ? [] : [noise]),
    ...(bounds === 0
      ? []
      : [
          `The load generator was saturated in ${bounds} of ${rows.length} rows: their goodput is a lower bound, and their latency is not ranked.`,
        ]),
    ...(['suspect', 'failed'] as const).flatMap((status) =>
      count(status) === 0
        ? []
        : [
            `${formatWhole(count(status))} of ${formatWhole(trials)} trials ${describeStatus(status, count(status))}.`,
          ],
    ),
    ...(leftOut.length === 0
      ? []
      : [`${leftOut.length} ${leftOut.length === 1 ? 'target was' : 'targets were'} skipped.`]),
  ];
}

function describeStatus(status: 'suspect' | 'failed', count: number): string {
  if (status === 'failed') return `failed and ${count === 1 ? 'has' : 'have'} no figures`;
  return `${count === 1 ? 'is' : 'are'} suspect: the figures that a failed check concerns do not count`;
}

/** The spread of the rounds of a typical row, in the metric of the answers. */
function noiseOf(model: Model): string | undefined {
  const id = decidingMetric(model);
  const spreads = model.rows.flatMap(({ figures }) => {
    const figure = figures[id];
    if (figure === undefined || !figure.valid || figure.rounds < 2 || figure.median === 0) return [];
    return [(figure.most - figure.least) / 2 / figure.median];
  });
  if (spreads.length === 0) return undefined;
  const share = median(spreads) * 100;
  return `Noise: the rounds of a typical row differ by ±${share.toFixed(share < 10 ? 1 : 0)} % in ${METRICS[id].name}.`;
}
