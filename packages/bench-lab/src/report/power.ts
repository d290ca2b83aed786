import { type EffectSummary, QUIET } from '../analyse/power.ts';
import type { Pool } from '../results/pool.ts';
import { describeMachine } from 'bench-report/view';
import { formatShare } from 'bench-report/format';
import { renderRows } from 'bench-report/terminal';

/** Renders a pool: the verdicts on twins. */
export function renderPower(pool: Pool, effects: readonly EffectSummary[]): string {
  return [
    'Two builds of one server; one uses N % more CPU per request. What does a two-minute comparison conclude?',
    describeMachine(pool.host),
    '',
    renderEffects(effects),
  ].join('\n');
}

function renderEffects(effects: readonly EffectSummary[]): string {
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
