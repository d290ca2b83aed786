/** The published results of experiments/kinds, as tables of a document. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findKinds, shareInterval } from '../src/analyse/warmup/kinds.ts';
import type { Measured } from '../../../experiments/kinds/measured.ts';

/** The deviation of processes of one kind: neighbours took time from the machine while it was measured. */
const DEVIATION = 0.04;

/** Reads the processes of one part of the experiment. */
export function readPart(folder: string, part: string): Measured[] {
  const all = JSON.parse(readFileSync(join(folder, 'kinds.json'), 'utf8')) as Measured[];
  const found = all.filter((one) => one.part === part);
  if (found.length === 0) throw new Error(`${folder} has no part ${part}`);
  return found;
}

/** Draws one row for each group of processes that lived alike, with the kinds among them. */
export function drawKinds(processes: readonly Measured[]): string {
  const rows = [...groupsOf(processes)].map(([, group]) => {
    const { target, version, arm } = group[0]!;
    const { kinds } = findKinds(
      group.map(({ ratios }) => ({ ratio: ratios.at(-1)! })),
      DEVIATION,
    );
    const shown = kinds.map(({ centre, processes: { length } }) => `× ${centre.toFixed(2)} in ${length}`);
    return [
      target.replace(/@.*/, ''),
      nameRuntime(target, version),
      arm,
      String(group.length),
      shown.join(', '),
    ];
  });
  return drawTable(['server', 'runtime', 'start', 'processes', 'CPU per request'], rows);
}

/** Draws one row for each way to start: the number of processes that V8 knows to be of the dearer kind. */
export function drawOdds(processes: readonly Measured[]): string {
  const rows = [...groupsOf(processes)].map(([, group]) => {
    const dear = group.filter(({ shapes }) => isDear(shapes?.at(-1))).length;
    const { low, high } = shareInterval(dear, group.length);
    return [
      group[0]!.arm,
      String(group.length),
      String(dear),
      `${Math.round(low * 100)} to ${Math.round(high * 100)} %`,
    ];
  });
  return drawTable(['start', 'processes', 'expensive', 'share, 95 % interval'], rows);
}

/** Draws one row for each way to live: the number of processes of the dearer kind, each time that they were measured. */
export function drawAges(processes: readonly Measured[]): string {
  const times = Math.max(...processes.map(({ shapes = [] }) => shapes.length));
  const rows = [...groupsOf(processes)].map(([, group]) => [
    group[0]!.target,
    group[0]!.arm,
    ...Array.from({ length: times }, (_, time) => {
      const dear = group.filter(({ shapes }) => isDear(shapes?.[time])).length;
      return `${dear} of ${group.length}`;
    }),
  ]);
  const heads = Array.from({ length: times }, (_, time) => (time === 0 ? 'fresh' : `after ${time}`));
  return drawTable(['server', 'each time', ...heads], rows);
}

/** Draws the states of V8's feedback beside the kind, one row for each state. */
export function drawFeedback(processes: readonly Measured[]): string {
  const read = processes.flatMap(({ ratios, shapes }) =>
    ratios.length === 0 || shapes === undefined ? [] : [{ ratio: ratios.at(-1)!, states: shapes.at(-1)! }],
  );
  const rows = [...Map.groupBy(read, ({ states }) => states)].map(([states, group]) => {
    const ratios = group.map(({ ratio }) => ratio);
    const [low, high] = [Math.min(...ratios), Math.max(...ratios)];
    return [states.toLowerCase(), String(group.length), `× ${low.toFixed(2)} to ${high.toFixed(2)}`];
  });
  return drawTable(['states of the five properties', 'processes', 'CPU per request'], rows);
}

function isDear(states = ''): boolean {
  return states.includes('MEGAMORPHIC');
}

function groupsOf(processes: readonly Measured[]): Map<string, Measured[]> {
  const groups = Map.groupBy(processes, ({ target, arm }) => `${target} ${arm}`);
  return new Map([...groups].toSorted(([, a], [, b]) => a[0]!.order - b[0]!.order));
}

function nameRuntime(target: string, version: string): string {
  const name = /@(bun|deno)$/.exec(target)?.[1] ?? (target.startsWith('litestar') ? 'CPython' : 'Node');
  return `${name} ${version}${target.endsWith('+jit') ? ' with JIT' : ''}`;
}

export function drawTable(head: string[], rows: string[][]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
