import type { EffectSummary } from '../analyse/power.ts';
import type { Effect, Pool } from '../results/pool.ts';
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
  const heads = 'planted tests slower same undecided faster ratio spread rounds seconds'.split(' ');
  const rows = effects.map((one) => [
    describeEffect(one),
    String(one.tests.length),
    ...(['slower', 'same', 'undecided', 'faster'] as const).map((verdict) => String(one.verdicts[verdict])),
    `× ${one.ratio.toFixed(3)}`,
    formatShare(one.deviation),
    one.meanRounds.toFixed(1),
    one.meanSeconds.toFixed(0),
  ]);
  return `${renderRows(heads, rows)}\n  metric: CPU per request. ratio: over the rounds of all tests. spread: the median robust deviation of the log ratios in a test\n`;
}

/** Names a planted effect: `A/A`, `+3 %`, `+3 % later`. */
export function describeEffect({ effect, deferred = false }: Effect): string {
  return effect === 0 ? 'A/A' : `+${formatShare(effect)}${deferred ? ' later' : ''}`;
}
