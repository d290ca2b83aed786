import { coresOf } from 'bench-model/planned';
import { describe, expect, it } from 'vitest';
import { placeOn, narrowServer, type Core } from 'bench-machine/placement';
import { benchOptions, type BenchOptions } from 'bench-model/options';
import { makePlan } from '../../src/plan/plan.ts';
import { planOf } from '../../src/plan/scale.ts';
import type { Plan } from 'bench-model/plan';
import { CAPACITY, errorOf, sampleStack } from '../../../bench-lab/testing/samples.ts';

const STACKS = [
  sampleStack('granian', { asgi: { command: ['granian', '--workers', '{workers}', '--threads={threads}'] } }),
  sampleStack('fastify'),
];

function planOn(machineCores: number, scale: number[], given: Partial<BenchOptions> = {}): Plan {
  const options = benchOptions({ targets: ['granian'], connections: [100], ...given, scale, machineCores });
  return makePlan(options, STACKS, 'a-run', 1);
}

/** The cores of a machine without sibling threads. */
const plain = (count: number): Core[] => Array.from({ length: count }, (_, id) => ({ id, siblings: [id] }));

/** The cores of every server of a plan on such a machine. */
function placeAll(plan: Plan, cores: readonly Core[]): Record<string, (number[] | undefined)[]> {
  const placed = placeOn(cores, { serverCores: coresOf(plan), generators: plan.generators });
  return Object.fromEntries(
    plan.targets.map((target) => {
      const { placement } = narrowServer(placed, coresOf(planOf(plan, target)));
      return [target.id, [placement.server, placement.generator]];
    }),
  );
}

describe('a plan that scales servers', () => {
  it('has one worker of one thread, and as many workers and threads as each number of cores', () => {
    const { targets, trials } = planOn(8, [4, 2]);
    expect(targets.map(({ id, scale }) => [id, scale?.workers, scale?.threads, scale?.cores])).toEqual([
      ['granian (1 worker)', 1, 1, 1],
      ['granian (2 threads)', 1, 2, 2],
      ['granian (2 workers)', 2, 1, 2],
      ['granian (4 threads)', 1, 4, 4],
      ['granian (4 workers)', 4, 1, 4],
    ]);
    expect(new Set(targets.map(({ scale }) => scale?.of))).toEqual(new Set(['granian (1 worker)']));
    expect(trials).toHaveLength(15);
  });

  it('has only workers of a stack whose threads cannot be chosen, with the threads that it chooses', () => {
    const { targets } = planOn(8, [1, 2], { targets: ['fastify'] });
    expect(targets.map(({ id, scale }) => [id, scale?.threads])).toEqual([
      ['fastify (1 worker)', undefined],
      ['fastify (2 workers)', undefined],
    ]);
  });

  it('scales each runtime against itself', () => {
    const { targets } = planOn(8, [2], { matrix: { python: [], node: ['24', '26'], packages: [] } });
    expect(targets.map(({ id, scale }) => [id, scale?.of])).toEqual(
      ['24', '26'].flatMap((version) =>
        ['1 worker', '2 threads', '2 workers'].map((size) => [
          `granian@${version} (${size})`,
          `granian@${version} (1 worker)`,
        ]),
      ),
    );
  });

  it('gives each server as many cores as its size on 8 cores, and the load the same cores throughout', () => {
    const plan = planOn(8, [1, 2, 4]);
    expect(plan.generators).toBe(4);
    const load = [0, 1, 2, 3];
    expect(placeAll(plan, plain(8))).toEqual({
      'granian (1 worker)': [[7], load],
      'granian (2 threads)': [[6, 7], load],
      'granian (2 workers)': [[6, 7], load],
      'granian (4 threads)': [[4, 5, 6, 7], load],
      'granian (4 workers)': [[4, 5, 6, 7], load],
    });
  });

  it('uses a thread of each physical core before second ones on 64 cores', () => {
    const threaded = plain(64).map(({ id }) => ({ id, siblings: [id % 32, (id % 32) + 32] }));
    const plan = planOn(64, [1, 16, 48]);
    expect(plan.generators).toBe(16);
    const placed = placeAll(plan, threaded);
    const [server = []] = placed['granian (16 workers)'] ?? [];
    expect(new Set(server.map((id) => id % 32)).size).toBe(16);
    const [largest = [], load = []] = placed['granian (48 workers)'] ?? [];
    expect(largest).toHaveLength(48);
    expect(load).toHaveLength(16);
    expect(largest.filter((id) => load.includes(id))).toEqual([]);
  });

  it('lets the load run everywhere if the largest server needs all cores', () => {
    const plan = planOn(2, [1, 2]);
    expect(plan.generators).toBe(1);
    const placed = placeOn(plain(2), { serverCores: coresOf(plan), generators: 1 });
    expect(placed.placement).toEqual({ kind: 'shared', server: [0, 1], generator: [0, 1] });
    expect(narrowServer(placed, 1)).toMatchObject({
      placement: { kind: 'shared', server: [1], generator: [0, 1] },
      server: ['taskset', '-c', '1'],
      generator: [],
    });
  });

  it('refuses sizes that the machine lacks, and names those that fit', () => {
    expect(errorOf(() => planOn(2, [1, 2, 64]))).toMatchObject({
      code: 'usage',
      message: 'this machine has 2 cores; --scale 64 is not possible',
      hint: '--scale 1,2',
    });
    expect(errorOf(() => planOn(2, [64])).hint).toBe('--scale 1,2');
    expect(errorOf(() => planOn(1, [2]))).toMatchObject({
      message: 'this machine has 1 core; --scale 2 is not possible',
      hint: 'scaling needs a machine with more cores',
    });
  });

  it('measures one server at a time', () => {
    const rounds = { rounds: 6, capacity: CAPACITY, targets: ['fastify'] };
    expect(planOn(8, [2], rounds).byTurns).toBeUndefined();
  });
});
