import type { Calibrated } from '../results/calibration.ts';
import type { Host } from '../results/host.ts';
import { renderRows } from './terminal.ts';
import { describeMachine } from './view.ts';

/** Renders the bias of this instrument on this machine as text. */
export function renderCalibration(calibrated: Calibrated[], host: Host, run: string): string {
  const rows = calibrated.map(({ name, unit, told, measured, tolerance, inside }) => {
    if (told === undefined || measured === undefined) return [name, unit, '—', '—', '—', '—', 'NOT MEASURED'];
    const bias = measured - told;
    const signed = `${bias < 0 ? '−' : '+'}${Math.abs(bias).toFixed(1)} (${((bias / told) * 100).toFixed(1)} %)`;
    const verdict =
      tolerance === undefined ? ['—', ''] : [`±${tolerance.toFixed(1)}`, inside ? 'inside' : 'OUTSIDE'];
    return [name, unit, told.toFixed(1), measured.toFixed(1), signed, ...verdict];
  });
  return [
    `Calibration ${run}: figures that planted servers reported, and what Bench measured`,
    describeMachine(host),
    '',
    renderRows(['known answer', 'unit', 'reported', 'measured', 'bias', 'tolerance', ''], rows),
    '',
  ].join('\n');
}
