import type { Calibrated } from '../model.ts';
import type { Host } from '../results/host.ts';
import { renderRows } from './terminal.ts';

/** The bias of this instrument on this machine, as text. */
export function renderCalibration(calibrated: Calibrated[], host: Host, run: string): string {
  const rows = calibrated.map(({ name, unit, told, measured, tolerance, inside }) => {
    if (told === undefined || measured === undefined || tolerance === undefined)
      return [name, unit, '—', '—', '—', '—', 'NOT MEASURED'];
    const bias = measured - told;
    const signed = `${bias < 0 ? '−' : '+'}${Math.abs(bias).toFixed(1)} (${((bias / told) * 100).toFixed(1)} %)`;
    return [
      name,
      unit,
      told.toFixed(1),
      measured.toFixed(1),
      signed,
      `±${tolerance.toFixed(1)}`,
      inside ? 'inside' : 'OUTSIDE',
    ];
  });
  const machine = [
    host.virtualised ? 'VM' : '',
    host.cpuModel ?? '',
    `${host.cores} cores`,
    `${host.platform} ${host.release}`,
  ];
  return [
    `Calibration ${run}: what planted servers told of themselves, and what was measured of them`,
    machine.filter(Boolean).join(', '),
    '',
    renderRows(['known answer', 'unit', 'told', 'measured', 'bias', 'tolerance', ''], rows),
    '',
  ].join('\n');
}
