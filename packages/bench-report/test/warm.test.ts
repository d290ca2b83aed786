import { describe, expect, it } from 'vitest';
import { createRandom } from 'bench-statistics/random';
import { renderMarkdown } from '../src/markdown.ts';
import { renderTerminal } from '../src/terminal.ts';
import { drawCurve, viewStudies } from '../src/warm.ts';
import type { StudiedProcess } from 'bench-model/study';
import { readGoldenRun, sampleStudiedProcess, sampleStudy } from '../../bench-lab/testing/samples.ts';

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

/** The paces of a machine that is slow for this part of every 10 s. */
function slowFor(share: number): number[] {
  return Array.from({ length: 300 }, (_, at) => (at % 50 < 50 * share ? 1.7 : 1));
}

/** A process that a slow machine slows less than the reference. */
function meetPaces(target: string, process: number, paces: readonly number[]): StudiedProcess {
  const ratios = paces.map((pace) => (pace > 1 ? 0.4 : 0.5));
  return sampleStudiedProcess(target, ratios, { process }, paces);
}

describe('the report of a study', () => {
  it('shows the course, the warm-up time and the gain of each target', async () => {
    const processes = [
      ...processesOf('flat', 5, () => 0.5),
      ...processesOf('late', 5, (seconds) => (seconds < 20 ? 1 : 0.5)),
      ...processesOf('restless', 3, (seconds) => (Math.floor(seconds / 3) % 2 === 0 ? 1 : 1.5)),
      ...processesOf('leak', 3, (seconds) => 0.5 * (1 + seconds / 60)),
      ...processesOf('sluggish', 3, (seconds, index) =>
        index === 0 ? 0.5 * (2 - seconds / 60) : 0.5 * (1 + 1 / (1 + seconds)),
      ),
      sampleStudiedProcess('gone', [], {
        status: 'failed',
        reasons: [{ code: 'trial', text: 'the server died under load (exit status 1)' }],
      }),
    ];
    const file = sampleStudy(['flat', 'late', 'restless', 'leak', 'sluggish', 'gone']);
    const text = renderTerminal(viewStudies([{ folder: '', file, host, processes }]));
    await expect(text).toMatchFileSnapshot('../../bench-lab/testing/fixtures/golden/warm.txt');
  });

  it('shows several studies in one table, with the runtime of each target', () => {
    const one = {
      folder: '',
      file: sampleStudy(['flat']),
      host,
      processes: processesOf('flat', 2, () => 0.5),
    };
    const runtime = { kind: 'python' as const, spec: '3.14+jit', version: '3.14.6 with JIT', build: {} };
    const other = {
      ...one,
      file: sampleStudy(['late', 'gone'], { run: 'another' }),
      processes: processesOf('late', 2, (seconds) => (seconds < 20 ? 1 : 0.5)).map((process) => ({
        ...process,
        runtime,
      })),
    };
    const text = renderMarkdown(viewStudies([one, other]));
    expect(text).toMatch(/^\| flat \| — \| flat \|/m);
    expect(text).toMatch(/^\| late \| 3\.14\.6 with JIT \| warm-up \| 20 s \|/m);
    expect(text).toMatch(/^\| gone \| — \| — \| — \| — \| — \| — \|$/m);
    expect(text).toContain('study another, seed 1');
    const unlike = { ...other, file: sampleStudy(['late'], { connections: 100 }) };
    expect(() => viewStudies([one, unlike])).toThrow(/unlike studies: devices, 10, 2; devices, 100, 2/);
  });

  it('names the turns and the processes that met another pace of the machine', () => {
    const processes = [
      ...[0, 0.2, 0.6].map((share, index) => meetPaces('some', index + 1, slowFor(share))),
      ...[0.6, 0.7].map((share, index) => meetPaces('all', index + 1, slowFor(share))),
      ...[0, 0, 0].map((share, index) => meetPaces('none', index + 1, slowFor(share))),
    ];
    const study = { folder: '', file: sampleStudy(['some', 'all', 'none']), host, processes };
    const notes = viewStudies([study]).notes.filter((note) => note.includes('pace'));
    expect(notes).toMatchInlineSnapshot(`
      [
        "74 % of all turns count: those in which the machine had its usual pace, judged by the CPU per request of the reference",
        "some: 1 of 3 processes does not count: the machine had its usual pace in less than half of the turns",
        "all: the machine had its usual pace in less than half of the turns of each process. All turns count, so the result may show the machine instead",
      ]
    `);
    expect(renderMarkdown(viewStudies([study]))).toMatch(/^\| some \| — \| flat \| 1 \(0 to 2\) s \|/m);
  });

  it('keeps curves with a remark within the width', () => {
    const processes = processesOf('leak', 1, (seconds) => 0.5 * (1 + seconds / 60));
    const text = renderTerminal(viewStudies([{ folder: '', file: sampleStudy(['leak']), host, processes }]), {
      width: 80,
    });
    const curve = text.split('\n').find((line) => line.includes('process 1'));
    expect(curve).toMatch(/█ +CPU\/req still rising$/);
    expect(curve?.length).toBeLessThanOrEqual(80);
  });

  it('draws a curve over the full height, but noise only near the bottom', () => {
    expect(drawCurve([1, 1.19, 1.41, 1.68, 2, undefined], 1, 2)).toBe('▁▃▄▆█ ');
    expect(drawCurve([1, 1.02, 1.05], 1, 1.05)).toBe('▁▂▃');
  });
});
