import { describe, expect, it } from 'vitest';
import { makeReason, type Reason } from 'bench-model/reasons';
import type { Trial } from 'bench-model/record';
import { toLadderView } from '../src/ladder.ts';
import { renderMarkdown } from '../src/markdown.ts';
import { renderTerminal } from '../src/terminal.ts';
import { toModel } from '../src/model/model.ts';
import { toView } from '../src/view.ts';
import {
  failedTrial,
  okTrial,
  readGoldenRun,
  sampleLoad,
  sampleMeasured,
  suspectTrial,
} from '../../bench-lab/testing/samples.ts';

const BOUND = makeReason('generator-bound', { busy: 0.97, coresUsed: undefined });

const trial = (
  target: string,
  connections: number,
  round: number,
  goodput: number,
  reason?: Reason,
): Trial => {
  const p99 = (1.2e6 * connections) / goodput;
  const load = sampleLoad({ goodputPerSecond: goodput, latencyUs: { mean: p99 / 2, p99, max: p99 } });
  const server = {
    source: 'cgroup v1',
    scope: 'process tree',
    seconds: 5,
    cpuUserUs: 1,
    cpuSystemUs: 1,
    coresUsed: 0.95,
    peakBytes: 50 * 2 ** 20 + connections * 8192,
  };
  const measured = sampleMeasured({
    cpu: 900_000 / goodput,
    given: { load, server, limit: reason === undefined ? 'server' : 'generator' },
  });
  const head = { connections, round };
  return reason === undefined
    ? okTrial(target, measured, head)
    : suspectTrial(target, measured, [reason], head);
};

/** Four targets: a knee between two rungs, falling goodput, more goodput than the generator can load, and a crash. */
const run = {
  ...readGoldenRun(),
  trials: [
    ...[200, 1900, 8000, 8100].flatMap((goodput, index) =>
      [1, 2].map((round) => trial('pool', 10 ** (index + 1), round, goodput * (1 + round / 100))),
    ),
    ...[9000, 8900, 7000, 4500].flatMap((goodput, index) =>
      [1, 2].map((round) => trial('falling', 10 ** (index + 1), round, goodput * (1 + round / 100))),
    ),
    ...[50_000, 60_000, 61_000, 55_000].map((goodput, index) =>
      trial('swift', 10 ** (index + 1), 1, goodput, index > 1 ? BOUND : undefined),
    ),
    trial('frail', 10, 1, 700),
    trial('frail', 100, 1, 800),
    failedTrial('frail', 'the server ended', { connections: 1000 }),
  ],
};

describe('the ladder', () => {
  it('is grouped by target', async () => {
    const text = renderTerminal(toLadderView(toModel(run)));
    expect(text).not.toMatch(/NaN|undefined|Infinity|-1\b/);
    await expect(text).toMatchFileSnapshot('../../bench-lab/testing/fixtures/golden/ladder.txt');
  });

  it('fits 80 columns', () => {
    const lines = renderTerminal(toLadderView(toModel(run)), { width: 80 }).split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it('is rendered as a Markdown table', () => {
    const text = renderMarkdown(toLadderView(toModel(run)));
    expect(text).toContain('**pool (framework): knee between 100 and 1,000 connections');
    expect(text).toContain('| ---: | ---: | --- | ---: | ---: | ---: | --- |');
  });

  it('draws the goodput of each target below the terminal table, with its knee', () => {
    const view = toView(toModel(run));
    expect(view.courses).toMatchInlineSnapshot(`
      [
        "goodput from 10 to 10,000 connections; beyond its knee, more connections add none:",
        "  swift    ▇███  no knee: goodput at 1,000 is only a lower bound",
        "  falling  ██▇▅  knee at 10 or fewer",
        "  frail    ██··  no knee: goodput at 1,000 was not measured",
        "  pool     ▁▂██  knee between 100 and 1,000",
      ]
    `);
    for (const line of view.courses ?? []) expect(renderTerminal(view)).toContain(line);
    expect(renderMarkdown(view)).not.toContain('knee');
    expect(renderTerminal(toView(toModel(readGoldenRun())))).not.toContain('knee');
  });
});
