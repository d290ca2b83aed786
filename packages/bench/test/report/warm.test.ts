import { describe, expect, it } from 'vitest';
import { createRandom } from '../../src/random.ts';
import { drawCurve, renderStudy } from '../../src/report/warm.ts';
import type { StudiedProcess } from '../../src/results/study/record.ts';
import { readGoldenRun, sampleStudiedProcess, sampleStudy } from '../samples.ts';

const { host } = readGoldenRun();

/** Returns processes of a target with this ratio of CPU per request at each age, and 3 % noise. */
function processesOf(
  target: string,
  count: number,
  ratio: (seconds: number, process: number) => number,
): StudiedProcess[] {
  const random = createRandom(7);
  return Array.from({ length: count }, (_, index) => {
    const ratios = Array.from(
      { length: 300 },
      (_pair, at) => ratio(at / 5, index) * Math.exp(0.03 * random.normal()),
    );
    return sampleStudiedProcess(target, ratios, { process: index + 1 });
  });
}

describe('the report of a study', () => {
  it('shows the warm-up time, the gain and the kinds of processes of each target', async () => {
    const processes = [
      ...processesOf('flat', 5, () => 0.5),
      ...processesOf('late', 5, (seconds) => (seconds < 20 ? 1 : 0.5)),
      ...processesOf('kinds', 6, (_, index) => (index % 3 === 0 ? 1.43 : 1.19)),
      ...processesOf('restless', 3, (seconds) => (Math.floor(seconds / 3) % 2 === 0 ? 1 : 1.5)),
      sampleStudiedProcess('gone', [], {
        status: 'failed',
        reasons: [{ code: 'trial', text: 'the server died under load (exit status 1)' }],
      }),
    ];
    const file = sampleStudy(['flat', 'late', 'kinds', 'restless', 'gone']);
    const text = renderStudy({ folder: '', file, host, processes });
    await expect(text).toMatchFileSnapshot('../fixtures/golden/warm.txt');
  });

  it('draws a curve over the full height, but noise only near the bottom', () => {
    expect(drawCurve([1, 1.19, 1.41, 1.68, 2, undefined], 1, 2)).toBe('▁▃▄▆█ ');
    expect(drawCurve([1, 1.02, 1.05], 1, 1.05)).toBe('▁▂▃');
  });
});
