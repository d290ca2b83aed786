/** The first lines of the page: the outcome of the run, and what a reader must know before using it. */
import { FEWEST_WITH_SPREAD } from 'bench-statistics/two-way';
import { METRICS, type MetricId } from 'bench-model/metrics';
import { median, sum } from 'bench-statistics/numbers';
import type { Limit } from 'bench-model/measured';
import { describeBaseline } from '../compare.ts';
import { describeConnections, formatChange, formatWhole } from '../format.ts';
import { findStanding, type Placed } from '../leaders.ts';
import type { Model, ModelComparisons, ModelRow } from '../model/definition.ts';
import { describeMachine } from '../view.ts';
import { showValue, VERDICTS } from '../words.ts';
import { decidingMetric } from '../deciding.ts';

/** The outcome at one rung, or of the comparisons. */
export interface Answer {
  heading: string;
  sentences: string[];
}

/** Fewer rounds have no confidence interval. */
const FEWEST_FOR_INTERVAL = 6;

const MOST_NAMED = 4;

/** Describes the outcome: the best target at each rung, then the comparisons. */
export function describeAnswers(model: Model): Answer[] {
  const by = decidingMetric(model);
  const asked = [...new Set<MetricId>([by, 'goodput'])];
  const rungs = Map.groupBy(model.rows, ({ connections }) => connections);
  return [
    ...[...rungs].map(([connections, rows]) => ({
      heading: describeConnections([connections]),
      sentences: asked.map((id) => describeBest(id, rows)),
    })),
    ...model.comparisons.filter((table) => table.by === by).map(describeCompared),
  ];
}

function describeBest(id: MetricId, rows: ModelRow[]): string {
  const show = (value: number): string => showValue(id, value);
  const name = ({ row, figure }: Placed): string =>
    `${row.target} with ${figure.atLeast ? 'at least ' : ''}${show(figure.median)}`;
  const { placed, best, obstacle, isUnranked } = findStanding(rows, id);
  const first = best[0] ?? placed[0];
  const second = placed.find((one) => one !== first);
  const title = METRICS[id].superlative;
  if (first === undefined) return `${title}: no target has a valid figure.`;
  const limit = id === 'goodput' ? describeLimits(first.row, first.figure) : '';
  const lead = `${title}: ${first.row.target}, ${first.figure.atLeast ? 'at least ' : ''}${show(first.figure.median)}${limit}`;
  if (second === undefined) return `${lead}. No other target has a valid figure.`;
  const both = `${lead}; then ${name(second)}`;
  if (obstacle?.kind === 'bound') return `${both}. ${describeBound(obstacle.row, [first, second])}`;
  if (obstacle?.kind === 'no-rank') return `${both}. ${describeFew(obstacle.row, id)}`;
  if (isUnranked) return `${both}. ${describeFew(first.row, id)}`;
  if (best.length > 1) {
    const values = best.map(({ figure }) => figure.median);
    const range = [...new Set([Math.min(...values), Math.max(...values)].map(show))].join(' to ');
    return `${title}: ${listNames(best.map(({ row }) => row.target))} share the first rank, ${range}. Their rounds do not distinguish them.`;
  }
  return `${both}.`;
}

/** Says that a lower bound prevents a ranking. */
function describeBound({ target }: ModelRow, shown: readonly Placed[]): string {
  return shown.some(({ row }) => row.target === target)
    ? 'Lower bounds are not ranked.'
    : `The figure of ${target} is a lower bound, so it could be the best.`;
}

/** Says why a row has no rank. */
function describeFew({ target, rounds: measured, figures }: ModelRow, id: MetricId): string {
  if (measured < FEWEST_WITH_SPREAD) return 'One round cannot rank targets.';
  const { rounds = 0, valid = false } = figures[id] ?? {};
  const usable = valid ? rounds : 0;
  return usable < measured
    ? `Only ${usable} of ${measured} rounds ${usable === 1 ? 'is' : 'are'} valid: too few to rank ${target}.`
    : 'The comparisons do not rank these targets.';
}

/** Names what was saturated in most rounds; for a lower bound, also if a saturated generator is the reason in some. */
function describeLimits({ limits: [most, ...others] }: ModelRow, { atLeast }: { atLeast: boolean }): string {
  if (most === undefined) return '';
  if (atLeast && others.includes('generator')) return ' (the load generator was saturated in some rounds)';
  return describeLimit(most);
}

function describeLimit(limit: Limit): string {
  const words: Partial<Record<Limit, string>> = {
    server: 'the server was saturated',
    generator: 'the load generator was saturated',
    others: 'other processes took the CPU',
    waiting: 'nothing was saturated',
    unknown: 'the limit is unknown',
  };
  return ` (${words[limit] ?? `the ${limit} was saturated`})`;
}

function listNames(names: string[]): string {
  const shown = names.slice(0, MOST_NAMED);
  const rest = names.length - shown.length;
  return rest > 0
    ? `${shown.join(', ')} and ${rest} more`
    : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}

function describeCompared({ by, baseline, rows }: ModelComparisons): Answer {
  const groups = Map.groupBy(rows, ({ comparison }) => comparison.verdict);
  const heading = `${capitalise(METRICS[by].name)}, each ${describeBaseline({ baseline, rows })}`;
  const undecided = rows.flatMap(({ comparison }) => ('why' in comparison ? [comparison.why] : []));
  if (undecided.length === rows.length && rows.length > 0) {
    const why = [...new Set(undecided)].map((one) => REASONS[one]).join(', ');
    return { heading, sentences: [`No comparison is decided: ${why}.`] };
  }
  const sentences = (['faster', 'slower', 'same', 'undecided'] as const).flatMap((verdict) => {
    const all = groups.get(verdict) ?? [];
    if (all.length === 0) return [];
    const named = all
      .slice(0, MOST_NAMED)
      .map(({ candidate, connections, comparison: { ratio } }) =>
        [
          candidate,
          ...(new Set(rows.map((row) => row.connections)).size > 1 ? [`at ${formatWhole(connections)}`] : []),
          ...(verdict === 'undecided' || ratio === undefined ? [] : [`(${formatChange(ratio.estimate)})`]),
        ].join(' '),
      );
    const rest = all.length - named.length;
    return [`${capitalise(VERDICTS[verdict])}: ${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}.`];
  });
  return { heading, sentences };
}

const REASONS = {
  'too-few-rounds': 'there are too few rounds',
  unbounded: 'too many rounds have no valid figure',
  wide: 'the intervals are too wide',
} as const;

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
