/** Published recordings of two servers in turns, as tables of a document. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { median } from 'bench-statistics/numbers';

/** The edges of the columns, in seconds of age. */
const EDGES = [0, 2, 4, 8, 12, 16, 20, 30, 60];

/** Draws one row for each recording: CPU per request of its first server ÷ the second, by age of the first. */
export function drawRecordings(folder: string, names: readonly string[]): string {
  const columns = EDGES.slice(1).map((to, index) => ({ from: EDGES[index] ?? 0, to }));
  const rows = names.map((name) => {
    const ratios = readRatios(join(folder, `${name}.csv`));
    const cells = columns.map(({ from, to }) => {
      const within = ratios.filter(({ seconds }) => seconds >= from && seconds < to);
      return within.length === 0 ? '—' : median(within.map(({ ratio }) => ratio)).toFixed(2);
    });
    return [`\`${name}.csv\``, ...cells];
  });
  const head = ['recording', ...columns.map(({ from, to }) => `${from} to ${to} s`)];
  const alignment = head.map((_, index) => (index === 0 ? '---' : '---:'));
  return [head, alignment, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The ratios of neighbouring turns, by the age at the turn of the first server. */
function readRatios(file: string): { seconds: number; ratio: number }[] {
  const turns = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','));
  return turns.flatMap(([side, seconds, , , cost], index) => {
    const next = turns[index + 1];
    if (side !== 'A' || next?.[0] !== 'B') return [];
    return [{ seconds: Number(seconds), ratio: Number(cost) / Number(next[4]) }];
  });
}
