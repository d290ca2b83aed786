import type { BackgroundUse } from './record.ts';
import type { Reason } from '../../results/record.ts';
import { makeReason } from '../../reasons.ts';

/** Judges the background request of a window: without the expected answers, the server was disturbed differently. */
export function judgeBackground({ statusCodes, lost }: BackgroundUse): Reason[] {
  const statuses = Object.entries(statusCodes).filter(([status]) => !status.startsWith('2'));
  const failed = lost + statuses.reduce((sum, [, count]) => sum + count, 0);
  if (failed === 0) return [];
  const ended = lost + Object.values(statusCodes).reduce((sum, count) => sum + count, 0);
  const code = failed === ended ? 'background-failed' : 'background';
  return [makeReason(code, { failed, ended, statuses, lost })];
}
