import { describe, expect, it } from 'vitest';
import { readManifest } from 'bench-targets/catalogue/manifest';
import { growthOf, memoryByAnswers, type Growth } from 'bench-statistics/growth';
import { makePlan } from 'bench-http/plan/plan';
import type { Measured } from 'bench-model/measured';
import type { Trial } from 'bench-model/record';
import { openRig, PLANTED } from './rig.ts';
import { parseBench } from '../../testing/samples.ts';

const rig = openRig();
const LOAD = ['--connections', '10', '--warmup', '1', '--duration', '3'];

/** Returns what was measured; a planted reset may also meet the requests that verify a server after its load. */
function measuredOf(trial: Trial): Pick<Measured, 'load' | 'server' | 'turns'> {
  const { load, ...measured } = (trial.status === 'failed' ? trial.partial : trial.measured) ?? {};
  if (load !== undefined) return { load, ...measured };
  throw new Error(trial.reasons[0]?.text);
}

/** The growth of a trial, and true if a reason names it. */
function growthIn(trial: Trial): Growth & { isNamed: boolean } {
  const growth = growthOf(memoryByAnswers(measuredOf(trial)));
  if (growth === undefined) throw new Error('too few levels of memory');
  return { ...growth, isNamed: trial.reasons.some(({ code }) => code === 'memory-grows') };
}

describe.runIf(process.platform === 'linux')('the memory of a server', () => {
  it('grows with the connections that are reset', async () => {
    const { trial } = await rig.measure({ planted: 'keeps-of-resets', bench: [...LOAD, '--rate', '3000'] });
    // Of 20 requests, 19 are answered, and one is reset, of which the server keeps 114,000 bytes. V8 keeps up to 1 KB of its own.
    const { estimate, isNamed } = growthIn(trial);
    expect(estimate / 6000).toBeGreaterThan(0.95);
    expect(estimate / 6000).toBeLessThan(1.3);
    expect(isNamed).toBe(true);
  });

  it('is told in turns, too, but not of garbage that is collected', async () => {
    const stack = readManifest(PLANTED);
    const names = ['keeps-4-kb', 'collects'];
    // At full speed they would keep no more per response, and use both cores.
    for (const name of names) stack.variants[name]?.command.push('--delay-ms', '1');
    const stacks = [stack];
    const options = parseBench([...names.map((name) => `planted/${name}`), ...LOAD, '--rounds', '1']);
    const capacity = { servers: 2, connections: 100 };
    const seen = await rig.measureAll(makePlan({ ...options, capacity }, stacks, 'known', 1), stacks);
    const trials = Object.fromEntries(seen.map(({ trial }) => [trial.target.variant, trial]));
    expect(Object.keys(trials).toSorted()).toEqual(names.toSorted());
    for (const [name, trial] of Object.entries(trials)) {
      expect(measuredOf(trial).turns?.memoryBytes).toBeDefined();
      const isLeak = name === 'keeps-4-kb';
      const growth = growthIn(trial);
      expect(growth).toMatchObject({ isKept: isLeak, isNamed: isLeak });
      expect(!isLeak || Math.abs(growth.estimate / 4000 - 1) < 0.3, `${growth.estimate} bytes`).toBe(true);
    }
  });
});
