/** The evaluation of probes by packages/bench-lab/experiments/probe, as a table of a document. */
import { evaluateProbe, percent } from '../experiments/probe/evaluate.ts';
import { drawTable } from './draw-table.ts';

/** Draws one row for each comparison: its deviation without a probe, with all its parts, and with each part alone. */
export function drawProbe(folders: readonly string[]): string {
  const { parts, effects } = evaluateProbe(folders);
  // One part alone is the whole probe.
  const columns = parts.length > 1 ? ['whole probe', ...parts] : parts;
  const rows = effects.map(({ what, count, deviation, adjusted, alone }) => [
    what,
    String(count),
    ...[deviation, ...(parts.length > 1 ? [adjusted] : []), ...alone].map(percent),
  ]);
  return drawTable(['compared', 'differences', 'deviation', ...columns.map((name) => `with ${name}`)], rows);
}
