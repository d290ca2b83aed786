/** What requests take from the kernel and the runtime, as a table and in words. */
import type { Cause, ChangedUse, UseName } from 'bench-analysis/why/use';
import { viewTable, type View } from './content.ts';
import { formatCost, formatMargin } from './format.ts';

const LABELS: Record<UseName, string> = {
  userUs: 'µs of CPU in its own code',
  systemUs: 'µs of CPU in the kernel',
  connections: 'connections opened',
  calls: 'system calls',
  reads: 'reads',
  writes: 'writes',
  polls: 'polls',
  locks: 'calls for a lock (futex)',
  yields: 'yields of a thread that spins (sched_yield)',
  waits: 'waits of a thread',
  faults: 'page faults',
  collections: 'garbage collections per 1,000 requests',
  collectingUs: 'µs that garbage collections last',
};

/** Renders the figures of a request on both sides. */
export function viewUse(uses: readonly ChangedUse[]): View {
  const rows = uses.map(({ name, before, after, difference, margin }) => [
    LABELS[name],
    formatPer(before),
    formatPer(after),
    formatMargin(difference, margin, formatPer),
  ]);
  const columns = ['per request', 'before', 'after', 'difference (95 % interval)'];
  const isCounted = uses.some(({ name }) => name === 'writes');
  const note = isCounted
    ? 'system calls are counted under strace, which slows the server down; all else without a profiler'
    : 'system calls were not counted: strace is missing, or not permitted';
  const notes = rows.length === 0 ? [] : [note];
  return viewTable({ title: 'what a request takes', columns, rows, notes }, columns.slice(1));
}

/** Describes the faults of one side, with the cure, and the other counts that clearly differ. */
export function describeUse(uses: readonly ChangedUse[], causes: readonly Cause[]): string[] {
  const caused: UseName[] = causes.map(({ of }) => of);
  const others = uses.filter(
    ({ name, isClear }) =>
      isClear && !name.endsWith('Us') && name !== 'collections' && !caused.includes(name),
  );
  const counts = others.map(
    ({ name, before, after }) => `${formatPer(after)} ${LABELS[name]} instead of ${formatPer(before)}`,
  );
  return [
    ...causes.map(describeCause),
    ...(counts.length === 0 ? [] : [`Each request takes ${counts.join(', ')}.`]),
    ...uses.filter(({ name, isClear }) => isClear && name === 'collections').map(describeCollections),
  ];
}

function describeCollections({ before, after }: ChangedUse): string {
  return `1,000 requests cause ${formatPer(after)} garbage collections instead of ${formatPer(before)}.`;
}

function describeCause({ of, target, other, per, otherPer }: Cause): string {
  return of === 'connections'
    ? `${target} opens ${formatPer(per)} connections per answer, ${other} ${formatPer(otherPer)}: let it keep connections alive.`
    : `${target} sends an answer in ${formatPer(per)} writes, ${other} in ${formatPer(otherPer)}: join them, or write through a buffer.`;
}

/** `0.04`, `4.00`, `1,001`. */
function formatPer(figure: number): string {
  return figure < 9.995 ? figure.toFixed(2) : formatCost(figure);
}
