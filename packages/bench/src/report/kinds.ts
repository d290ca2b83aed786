/** Kinds of processes in words. */
import type { ComparedRow } from '../analyse/compare.ts';
import type { ProcessKind } from '../analyse/trial-kinds.ts';
import type { RatioEstimate } from '../analyse/warmup/study.ts';
import { formatCost } from './format.ts';
import type { ModelRow } from './model/definition.ts';

/** `19 µs in 11 of 20 processes, 23 µs in 9`. */
export function describeKinds(
  kinds: readonly ProcessKind[],
  format: (centre: number) => string = (us) => `${formatCost(us)} µs`,
  noun = 'processes',
): string {
  return kinds
    .map(
      ({ centre, processes, of }, index) =>
        `${format(centre)} in ${index === 0 ? `${processes} of ${of} ${noun}` : processes}`,
    )
    .join(', ');
}

/** The rows whose processes are of several kinds. */
export function explainKinds(rows: readonly ModelRow[]): string[] {
  return rows.flatMap(({ target, connections, kinds }) =>
    kinds === undefined
      ? []
      : [
          `${target} at ${connections.toLocaleString('en-US')}: ${kinds.length} kinds of processes by CPU per request: ${describeKinds(kinds)}.`,
        ],
  );
}

/** Explains a comparison if the processes of a target are of several kinds: the shift, the shares and a fleet. */
export function explainComparedKinds({
  candidate,
  baseline,
  connections,
  kinds,
  roundKinds,
}: ComparedRow): string[] {
  const pair = `${candidate} against ${baseline} at ${connections.toLocaleString('en-US')}`;
  const within = kinds?.within;
  return [
    ...(kinds === undefined
      ? []
      : [
          [
            `${pair}: kinds of processes: ${candidate} ${describeKinds(kinds.candidate)}; ${baseline} ${describeKinds(kinds.baseline)}`,
            ...(within === undefined ? [] : [`within kinds ${formatRatio(within)}`]),
            `mean of many processes ${formatRatio(kinds.fleet)}`,
          ].join('; '),
        ]),
    ...(roundKinds === undefined
      ? []
      : [
          `${pair}: the ratio has ${roundKinds.length} levels, so the processes of at least one of them are of several kinds: ${describeKinds(roundKinds, (ratio) => `× ${ratio.toFixed(2)}`, 'rounds')}`,
        ]),
  ];
}

function formatRatio({ ratio, interval }: RatioEstimate): string {
  const range = interval === undefined ? '' : ` (${interval.low.toFixed(2)} to ${interval.high.toFixed(2)})`;
  return `× ${ratio.toFixed(2)}${range}`;
}
