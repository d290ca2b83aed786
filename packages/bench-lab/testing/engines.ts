/** The published results of packages/bench-lab/experiments/engines, as a table of a document. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { median } from 'bench-statistics/numbers';
import { formatWhole } from 'bench-report/format';
import type { Measured, Turn } from '../experiments/engines/turns.ts';
import { drawTable } from './draw-table.ts';
import { showChange } from './neighbours.ts';

/** Draws the figures of a server under each engine: one row for each engine, against the first. */
export function drawEngines(folder: string, target: string, connections: number): string {
  const lines = readFileSync(join(folder, 'engines.jsonl'), 'utf8').trim().split('\n');
  const found = lines
    .map((line) => JSON.parse(line) as Measured)
    .find((one) => one.target === target && one.connections === connections);
  if (found === undefined) throw new Error(`no ${target} with ${connections} connections`);
  const engines = Object.entries(found.turns);
  const [[, first] = ['', []]] = engines;
  const rows = engines.map(([name, turns], index) => {
    const of = (figure: (turn: Turn) => number) => median(turns.map(figure));
    return [
      name,
      formatWhole(Math.round(of(({ answersPerSecond }) => answersPerSecond))),
      `${of(({ cpuUs }) => cpuUs).toFixed(1)} µs`,
      index === 0 ? '' : showChange(turns.map(({ cpuUs }, round) => [(first[round] as Turn).cpuUs, cpuUs])),
      of(({ wakes }) => wakes).toFixed(2),
      `${(100 * of(({ busy }) => busy)).toFixed(0)} %`,
    ];
  });
  return drawTable(
    [
      'engine',
      'answers/s',
      'CPU per request',
      `against ${engines[0]?.[0]} (95 % interval)`,
      'wake-ups per answer',
      'its core was busy',
    ],
    rows,
  );
}
