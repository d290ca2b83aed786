/** The published results of experiments/probe, as a table of a document. */
import { evaluateProbe, percent, readProbed } from '../../../experiments/probe/evaluate.ts';
import { PARTS } from '../../../experiments/probe/probed.ts';
import { drawTable } from './kinds.ts';

/** Draws one row for each comparison: its deviation without the probe, with all its parts, and with each part alone. */
export function drawProbe(folder: string): string {
  const rows = evaluateProbe(readProbed(folder)).map(
    ({ target, what, pairs, deviation, adjusted, alone }) => [
      target,
      what,
      String(pairs),
      ...[deviation, adjusted, ...alone].map(percent),
    ],
  );
  return drawTable(['server', 'compared', 'pairs', 'deviation', 'with the probe', ...PARTS], rows);
}
