/** The response of an upgrade in sentences: what each newer runtime or package costs, and what its JIT or its missing GIL. */
import { plainOf } from 'bench-analysis/baselines';
import type { ComparedRow, ComparedTable } from 'bench-analysis/compare';
import { METRICS } from 'bench-model/metrics';
import { nameOfRuntime } from 'bench-model/planned';
import type { Target } from 'bench-model/target';
import { describeVerdict } from './compare.ts';
import { describeConnections, formatPercent, formatShare } from './format.ts';
import type { Model } from './model/definition.ts';

/**
 * Describes the comparisons of an upgrade: `3.15.2: 2.2 % less CPU per request than 3.13.5 (0.6 to 3.5 %); its JIT: the same within
 * 2 %; 3.15.2t: 69 % more than with the GIL on one core (66 to 72 %)`.
 */
export function describeUpgrade({ plan }: Pick<Model, 'plan'>, table: ComparedTable): string {
  const { targets } = plan;
  const stacks = new Set(targets.map(({ stack, variant }) => `${stack}/${variant}`));
  const places = new Set(table.rows.map(({ connections }) => connections));
  let before: string | undefined;
  const parts = table.rows.map((row) => {
    const [ours, theirs] = [row.candidate, row.baseline].map((id) => targets.find((one) => one.id === id));
    if (ours === undefined || theirs === undefined) return '';
    const where = [
      ...(stacks.size > 1 ? [`${ours.stack}/${ours.variant}`] : []),
      ...(row.route === undefined ? [] : [row.route]),
      ...(places.size > 1 ? [describeConnections([row.connections])] : []),
    ];
    const isJit = plainOf(ours, targets) !== undefined && nameOf(ours).endsWith('+jit');
    const name = !isJit
      ? nameOf(ours)
      : before === row.baseline
        ? 'its JIT'
        : `${nameOf(theirs)} with its JIT`;
    before = row.candidate;
    const than = isJit ? '' : ` than ${nameBaseline(ours, theirs)}`;
    const onOneCore = isFree(ours) && (plan.cores ?? plan.workers) === 1 ? ' on one core' : '';
    return `${[...where, name].join(', ')}: ${describe(row, table, `${than}${onOneCore}`)}`;
  });
  return parts.join('; ');
}

function nameOf({ packages, runtime }: Target): string {
  return packages?.join(', ') ?? (runtime === undefined ? '' : nameOfRuntime(runtime));
}

function isFree({ packages, runtime }: Target): boolean {
  return packages === undefined && runtime !== undefined && /^[\d.]+t/.test(nameOfRuntime(runtime));
}

function nameBaseline(ours: Target, theirs: Target): string {
  if (ours.packages !== undefined && theirs.packages === undefined) return 'as locked';
  return isFree(ours) && !isFree(theirs) ? 'with the GIL' : nameOf(theirs);
}

/** `2.2 % less CPU per request than 3.13.5 (0.6 to 3.5 %)`. */
function describe(row: ComparedRow, { by, threshold }: ComparedTable, than: string): string {
  const { verdict, ratio, whole } = row.comparison;
  const isTime = whole?.times.some(({ comparison }) => comparison.verdict !== 'same') === true;
  if (isTime) return describeVerdict(row);
  if (verdict === 'same') return `the same within ${formatShare(threshold)}`;
  if (verdict === 'undecided' || ratio?.interval === undefined) return describeVerdict(row);
  const side = ratio.estimate < 1 ? 'less' : 'more';
  const sizes = [ratio.interval.low, ratio.interval.high].map((end) => formatSide(end, side));
  const [least, most] = side === 'less' ? sizes.toReversed() : sizes;
  return `${formatPercent(ratio.estimate).slice(1)} ${side} ${METRICS[by].name}${than} (${least} to ${most} %)`;
}

/** `0.6`: a factor as a change to its side, without its unit; with a sign if it lies on the other one. */
function formatSide(factor: number, side: 'less' | 'more'): string {
  const isOther = side === 'less' ? factor > 1 : factor < 1;
  return `${isOther ? '−' : ''}${formatPercent(factor).replace(/^[+−]/, '').replace(/ %$/, '')}`;
}
