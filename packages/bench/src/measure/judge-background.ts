import { METRIC_IDS } from '../metrics.ts';
import type { BackgroundUse, Reason } from '../model.ts';

/** What a request that was kept in flight says against a window: that it was not answered as it should, so that it was another disturbance. */
export function judgeBackground(use: BackgroundUse | undefined): { fatal: Reason[]; doubts: Reason[] } {
  if (use === undefined) return { fatal: [], doubts: [] };
  const { statusCodes, lost } = use;
  const wrong = Object.entries(statusCodes).filter(([status]) => !status.startsWith('2'));
  const failed = lost + wrong.reduce((sum, [, count]) => sum + count, 0);
  if (failed === 0) return { fatal: [], doubts: [] };
  const ended = lost + Object.values(statusCodes).reduce((sum, count) => sum + count, 0);
  const kinds = [
    ...wrong.map(([status, count]) => `${count} with status ${status}`),
    ...(lost > 0 ? [`${lost} without an answer`] : []),
  ];
  const text = `${failed} of ${ended} requests in the background failed (${kinds.join(', ')}): the server was not disturbed as asked`;
  const reason = (invalidates: Reason['invalidates']): Reason => ({ code: 'background', text, invalidates });
  if (failed === ended) return { fatal: [reason([...METRIC_IDS])], doubts: [] };
  return { fatal: [], doubts: [reason(METRIC_IDS.filter((metric) => metric !== 'startup'))] };
}
