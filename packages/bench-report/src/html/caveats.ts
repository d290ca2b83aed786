/** What a reader of the page must know before using a figure. */
import { METRICS } from 'bench-model/metrics';
import { median, sum } from 'bench-statistics/numbers';
import { formatWhole } from '../format.ts';
import { decidingMetric } from '../leaders.ts';
import type { Model } from '../model/definition.ts';
import { describeMachine } from '../view.ts';

/** Fewer rounds have no confidence interval. */
const FEWEST_FOR_INTERVAL = 6;

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

/** Returns true if a figure of the metric that decides is missing or invalid, or a target failed or was skipped. */
export function isDoubtful(model: Model): boolean {
  const id = decidingMetric(model);
  return (
    model.leftOut.length > 0 ||
    model.rows.some(({ figures, statuses }) => statuses.failed > 0 || figures[id]?.valid !== true)
  );
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
