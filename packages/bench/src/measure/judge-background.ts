import type { BackgroundUse, Reason } from '../model.ts';
import { makeReason } from '../reasons.ts';

/** Returns what requests that were kept in flight say against a window: those that failed disturbed it in another way than asked. */
export function judgeBackground(use: BackgroundUse | undefined): Reason[] {
  if (use === undefined) return [];
  const { statusCodes, lost } = use;
  const statuses = Object.entries(statusCodes).filter(([status]) => !status.startsWith('2'));
  const failed = lost + statuses.reduce((sum, [, count]) => sum + count, 0);
  if (failed === 0) return [];
  const ended = lost + Object.values(statusCodes).reduce((sum, count) => sum + count, 0);
  const code = failed === ended ? 'background-failed' : 'background';
  return [makeReason(code, { failed, ended, statuses, lost })];
}
