import type { EffectSummary, NoiseSummary, PowerSummary, ResampledSummary } from '../analyse/power.ts';
import { QUIET } from '../analyse/power.ts';
import type { Pool } from '../results/pool.ts';
import { describeMachine } from './view.ts';
import { formatShare } from './format.ts';
import { renderRows } from './terminal.ts';

/** What a pool shows, as text: verdicts over twins, stock autocannon beside them, noise, and sittings drawn from the pool. */
export function renderPower(pool: Pool, { effects, noise, resampled }: PowerSummary): string {
  return [
    'Twins of one server, of which one costs so much more CPU a request: what a sitting of at most 2 minutes says of it',
    describeMachine(pool.host),
    '',
    ...(effects.length > 0 ? [renderEffects(effects), ''] : []),
    ...(noise.length > 0 ? [renderNoise(noise), ''] : []),
    ...(resampled === undefined ? [] : describeResampled(resampled)),
    '',
  ].join('\n');
}

function renderEffects(effects: EffectSummary[]): string {
  const heads = [
    'planted',
    'sittings',
    'slower',
    'same',
    'undecided',
    'faster',
    'by > 2 %',
    `of quiet ones right`,
    'all rounds',
    'spread',
    'rounds',
    'seconds',
    'stock autocannon',
  ];
  const rows = effects.map((one) => [
    one.effect === 0 ? 'A/A' : `+${formatShare(one.effect)}`,
    String(one.sittings.length),
    ...(['slower', 'same', 'undecided', 'faster'] as const).map((verdict) => String(one.verdicts[verdict])),
    String(one.byMoreThanThreshold),
    one.effect === 0 ? '—' : `${one.quietRight} of ${one.quiet}`,
    `× ${one.ratio.toFixed(3)}`,
    formatShare(one.deviation),
    one.meanRounds.toFixed(1),
    one.meanSeconds.toFixed(0),
    describeStock(one),
  ]);
  const notes = [
    `metric CPU per request; a quiet sitting has a robust deviation of its rounds' log ratios up to ${formatShare(QUIET)}; spread is its median`,
    'stock autocannon: which of the two one run of 10 s each names by its own printed average, from 2 % apart on',
  ];
  return `${renderRows(heads, rows)}\n${notes.map((note) => `  ${note}\n`).join('')}`;
}

function describeStock({ effect, stock: { runs, baseline, candidate } }: EffectSummary): string {
  if (runs === 0) return '—';
  const none = runs - baseline - candidate;
  return effect === 0
    ? `named one ${baseline + candidate} of ${runs}`
    : `right ${baseline}, wrong ${candidate}, none ${none} of ${runs}`;
}

function renderNoise(noise: NoiseSummary[]): string {
  const rows = noise.map(({ target, method, rounds, failed, deviation, robustDeviation }) => [
    target,
    method === 'duel' ? 'duel' : 'separate trials',
    String(rounds),
    String(failed),
    formatShare(deviation),
    formatShare(robustDeviation),
  ]);
  return `A/A rounds of one target, CPU per request: sd of the log ratio\n${renderRows(['target', 'kind', 'rounds', 'failed', 'sd', 'robust sd'], rows)}\n`;
}

function describeResampled({ rounds, deviation, aa, planted }: ResampledSummary): string[] {
  return [
    `${rounds} A/A rounds of the pool (robust sd ${formatShare(deviation)}), signs flipped, drawn into ${aa.sittings.toLocaleString('en-US')} sittings each:`,
    `  A/A: ${formatShare(aa.verdicts.faster + aa.verdicts.slower)} faster or slower, ${formatShare(aa.byMoreThanThreshold)} by more than 2 %, ${formatShare(aa.verdicts.same)} same`,
    `  +${formatShare(planted.effect)} added: ${formatShare(planted.verdicts.slower)} slower`,
  ];
}
