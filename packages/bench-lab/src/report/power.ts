import type { EffectSummary, MatrixSummary, PowerSummary, ResampledSummary } from '../analyse/power.ts';
import { QUIET } from '../analyse/power.ts';
import type { Pool } from '../results/pool.ts';
import { describeMachine } from 'bench-report/view';
import { countOf, formatShare, formatSpan } from 'bench-report/format';
import { renderRows } from 'bench-report/terminal';

/** Renders a pool: the verdicts on twins, and tests resampled from the pool. */
export function renderPower(pool: Pool, { effects, matrix, resampled }: PowerSummary): string {
  return [
    effects.length > 0
      ? 'Two builds of one server; one uses N % more CPU per request. What does a two-minute comparison conclude?'
      : 'Builds of one server that use N % more CPU per request. What does a comparison conclude?',
    describeMachine(pool.host),
    '',
    ...(effects.length > 0 ? [renderEffects(effects), ''] : []),
    ...(matrix === undefined ? [] : [renderMatrix(matrix), '']),
    ...(resampled === undefined ? [] : describeResampled(resampled)),
    '',
  ].join('\n');
}

function renderEffects(effects: EffectSummary[]): string {
  const heads = [
    'planted',
    'tests',
    'slower',
    'same',
    'undecided',
    'faster',
    `by > ${formatShare(effects[0]?.tests[0]?.threshold ?? 0.02)}`,
    'right when quiet',
    'ratio',
    'spread',
    'rounds',
    'seconds',
  ];
  const rows = effects.map((one) => [
    describeEffect(one.effect),
    String(one.tests.length),
    ...(['slower', 'same', 'undecided', 'faster'] as const).map((verdict) => String(one.verdicts[verdict])),
    String(one.byMoreThanThreshold),
    one.effect === 0 ? '—' : `${one.quietRight} of ${one.quiet}`,
    `× ${one.ratio.toFixed(3)}`,
    formatShare(one.deviation),
    one.meanRounds.toFixed(1),
    one.meanSeconds.toFixed(0),
  ]);
  const note = `metric: CPU per request. ratio: over the rounds of all tests. spread: the median robust deviation of the log ratios in a test. A test is quiet up to ${formatShare(QUIET)}`;
  return `${renderRows(heads, rows)}\n  ${note}\n`;
}

/** Names a planted effect: `A/A`, `+3 %`. */
export function describeEffect(effect: number): string {
  return effect === 0 ? 'A/A' : `+${formatShare(effect)}`;
}

/** Renders the matrices: each row by its planted effect, and the tables as a whole. */
function renderMatrix({ effects, matrices, builds, budgetSeconds, ...summary }: MatrixSummary): string {
  const { threshold, wrong, decided, meanSeconds } = summary;
  const heads = [
    'planted',
    'rows',
    'slower',
    'same',
    'undecided',
    'faster',
    `by > ${formatShare(threshold)}`,
  ];
  const rows = effects.map((one) => [
    describeEffect(one.effect),
    String(one.rows),
    ...(['slower', 'same', 'undecided', 'faster'] as const).map((verdict) => String(one.verdicts[verdict])),
    String(one.byMoreThanThreshold),
    `× ${one.ratio.toFixed(3)}`,
    formatShare(one.deviation),
    one.meanRounds.toFixed(1),
  ]);
  return [
    `${countOf(matrices, 'table')} of ${builds} builds: ${builds - 1} rows share a baseline, for at most ${formatSpan(budgetSeconds)}`,
    renderRows([...heads, 'ratio', 'spread', 'rounds'], rows),
    `  ${decided} of ${matrices} decided every row, ${wrong} had a wrong row; ${meanSeconds.toFixed(0)} s on average`,
    '',
  ].join('\n');
}

function describeResampled({ rounds, deviation, aa, planted }: ResampledSummary): string[] {
  return [
    `${rounds} A/A rounds of the pool (robust sd ${formatShare(deviation)}), signs flipped, resampled into ${aa.tests.toLocaleString('en-US')} sequential tests each:`,
    `  A/A: ${formatShare(aa.verdicts.faster + aa.verdicts.slower)} faster or slower, ${formatShare(aa.byMoreThanThreshold)} by more than 2 %, ${formatShare(aa.verdicts.same)} same`,
    `  +${formatShare(planted.effect)} added: ${formatShare(planted.verdicts.slower)} slower`,
  ];
}
