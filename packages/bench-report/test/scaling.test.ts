import { describe, expect, it } from 'vitest';
import type { Source } from '../src/model/model.ts';
import { toModel } from '../src/model/model.ts';
import { toPage } from '../src/html/data.ts';
import { renderMarkdown } from '../src/markdown.ts';
import { renderTerminal } from '../src/terminal.ts';
import { describePlan } from '../src/plan.ts';
import { toView } from '../src/view.ts';
import type { Placement } from 'bench-model/record';
import { benchOptions, type BenchOptions } from 'bench-model/options';
import { makePlan } from 'bench-http/plan/plan';
import {
  okTrial,
  readGoldenRun,
  sampleMeasured,
  sampleResources,
  sampleStack,
} from '../../bench-lab/testing/samples.ts';

const STACK = {
  ...sampleStack('granian', { asgi: { command: ['granian', '--threads={threads}'] } }),
  runtime: 'python' as const,
};

/** A run on a machine with 2 or 8 cores, in which workers scale, and threads only without a GIL. */
function runOn(machineCores: number, more: Partial<BenchOptions> = {}): Source {
  const options = benchOptions({
    targets: ['granian'],
    connections: [100],
    scale: [1, 2],
    machineCores,
    ...more,
  });
  const plan = makePlan(options, [STACK], '20261123-000000-devices', 1);
  const trials = plan.trials.map(({ target: id, connections, round, order }) => {
    const target = plan.targets.find((one) => one.id === id)!;
    const { workers = 1, threads = 1, cores = 1 } = target.scale ?? {};
    const isFree = target.runtime?.spec.endsWith('t') === true;
    const goodput = 1000 * round * (workers === 2 ? 1.8 : isFree && threads === 2 ? 1.98 : 1);
    const server = cores === 1 ? [7] : [6, 7];
    const placement: Placement =
      machineCores > 2
        ? { kind: 'separate', server, generator: [0, 1] }
        : { kind: 'shared', server: cores === 1 ? [1] : [0, 1], generator: [0, 1] };
    const given = { server: { ...sampleResources(workers), loadedBytes: 5e7 * workers, processes: workers } };
    return okTrial(id, sampleMeasured({ goodput, cpu: 100, given }), {
      target,
      connections,
      round,
      order,
      placement,
    });
  });
  const { host, versions } = readGoldenRun();
  return { plan, host, versions, leftOut: [], trials };
}

describe('the report of a run that scales servers', () => {
  it('has a table of speed-ups on a terminal, which fits 80 columns', () => {
    const view = toView(toModel(runOn(8)));
    const text = renderTerminal(view, { width: 80 });
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(text).toContain('How the servers scale');
    expect(text).toMatch(/│ 1 worker +│ +1 │ +1 │ +100 % │.*│ waiting/);
    expect(text).toMatch(/│ 2 threads +│ +2 │ +1\.00 .*│ +50 % │.*│ waiting/);
    expect(text).toMatch(/│ 2 workers +│ +2 │ +1\.80 .*│ +90 % │.*│ waiting/);
    const words = text.replaceAll(/\s+/g, ' ');
    expect(words).toContain('1 or 2 workers or threads on as many cores per server');
    expect(words).toContain('server on core 6,7, generator on core 0,1');
    expect(view.closing?.sentence).toBe(
      'Speed-up on 2 cores at 100 connections: granian 1.00 with 2 threads and 1.80 with 2 workers. For charts',
    );
  });

  it('marks shared cores and lower bounds in every format', () => {
    const model = toModel(runOn(2));
    const texts = [
      renderTerminal(toView(model)),
      renderMarkdown(toView(model)),
      JSON.stringify(toPage(model).scaling),
    ];
    for (const text of texts) {
      expect(text).toContain('2 shared');
      expect(text).toContain('≥ 1.80');
      expect(text).toContain('shared: this machine has no core left for the load');
    }
    expect(model.scalings?.[0]?.rows.map(({ isShared }) => isShared)).toEqual([true, true, true]);
  });

  it('draws the same table in Markdown', () => {
    const text = renderMarkdown(toView(toModel(runOn(8))));
    expect(text).toContain('### How the servers scale');
    expect(text).toMatch(/^\| 2 workers \| 2 \| 3,600 [^|]*\| 1\.80/m);
  });

  it('adds nothing to a run without sizes', () => {
    const model = toModel(readGoldenRun());
    expect(model.scalings).toBeUndefined();
    expect(toView(model).beside).toEqual([]);
  });
});

describe('describePlan', () => {
  it('names the sizes', () => {
    expect(describePlan(runOn(8).plan)).toContain('1 or 2 workers or threads on as many cores, seed');
  });
});
