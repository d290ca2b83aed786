import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { toSeries } from '../../src/analyse/warmup/pairs.ts';
import { median } from '../../src/numbers.ts';
import { readManifest } from '../../src/catalogue/manifest.ts';
import { createEffects } from '../../src/commands/effects.ts';
import { choosePlacement } from '../../src/machine/placement.ts';
import { startReference } from '../../src/measure/reference.ts';
import { observeProcess } from '../../src/measure/warmup.ts';
import { benchOptions } from '../../src/plan/options.ts';
import { makePlan } from '../../src/plan/plan.ts';
import { prepareAll } from '../../src/prepare/prepare.ts';
import type { StudiedProcess } from '../../src/results/study/record.ts';
import { openToken } from './leftovers.ts';

const token = openToken();
const folder = mkdtempSync(join(tmpdir(), 'bench-warm-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const WARMING = fileURLToPath(new URL('../../planted/warming/stack.json', import.meta.url));

/** The work of the planted server: far more than its own part of a request. */
const UNITS = 4000;

/** Observes one process of the planted server with each of these options, for this time. */
async function observe(seconds: number, ...courses: string[][]): Promise<StudiedProcess[]> {
  const stack = readManifest(WARMING);
  const { flat } = stack.variants;
  if (flat === undefined) throw new Error('the planted stack has no variant "flat"');
  const variants = courses.map((words, index) => [
    `course-${index}`,
    { ...flat, command: [...flat.command, '--units', String(UNITS), ...words] },
  ]);
  const stacks = [{ ...stack, default: 'course-0', variants: Object.fromEntries(variants) }];
  const options = benchOptions({ targets: ['warming/*'], connections: [10], rounds: 1, duel: false });
  const plan = makePlan(options, stacks, 'warm', 1);
  const { prepared } = await prepareAll(plan.targets, stacks);
  const placed = await choosePlacement({ serverCores: 1, generators: 1 });
  const { effects } = await createEffects({ plan, placed, token, folder });
  await using reference = await startReference(plan, placed, effects);
  const studied: StudiedProcess[] = [];
  for (const found of prepared) {
    const planned = plan.trials.find(({ target }) => target === found.target.id);
    if (planned === undefined) throw new Error(`no process of ${found.target.id}`);
    const context = { plan, placed, prepared: found, target: found.target };
    const means = { reference, effects, seconds, isStopped: () => false };
    studied.push(await observeProcess({ planned, context }, means));
  }
  return studied;
}

/** The median cost of the pairs in this part of a process's life. */
function costBetween(studied: StudiedProcess, fromSeconds: number, toSeconds: number): number {
  const { pairs } = toSeries(studied);
  return median(
    pairs
      .filter(({ seconds }) => seconds >= fromSeconds && seconds < toSeconds)
      .map(({ cpuRatio }) => cpuRatio),
  );
}

describe('a planted server in turns with the reference', () => {
  it('is seen at the cost that it has in each part of its life', async () => {
    const [flat, warming] = (await observe(6, [], ['--more', String(UNITS), '--dear-seconds', '3'])) as [
      StudiedProcess,
      StudiedProcess,
    ];
    for (const studied of [flat, warming]) {
      expect(studied).toMatchObject({ status: 'ok', reasons: [] });
      expect(studied.pairs.length).toBeGreaterThan(5);
    }
    // The dear part costs almost twice as much. The ranges hold on a busy machine, where few pairs are measured.
    const steady = costBetween(flat, 3.5, 7) / costBetween(flat, 0.5, 3);
    expect(steady).toBeGreaterThan(0.8);
    expect(steady).toBeLessThan(1.25);
    const fallen = costBetween(warming, 3.5, 7) / costBetween(warming, 0.5, 3);
    expect(fallen).toBeGreaterThan(0.4);
    expect(fallen).toBeLessThan(0.7);
  });
});
