import type { BackgroundUse } from 'bench-model/companions';
import type { Reason } from 'bench-model/reasons';
import { makeReason } from 'bench-model/reasons';
import { sum } from 'bench-statistics/numbers';

/** Judges the background request of a window: without the expected answers, the server was disturbed differently. */
export function judgeBackground({ statusCodes, lost }: BackgroundUse): Reason[] {
  const statuses = Object.entries(statusCodes).filter(([status]) => !status.startsWith('2'));
  const failed = lost + sum(statuses.map(([, count]) => count));
  if (failed === 0) return [];
  const ended = lost + sum(Object.values(statusCodes));
  const code = failed === ended ? 'background-failed' : 'background';
  return [makeReason(code, { failed, ended, statuses, lost })];
}
