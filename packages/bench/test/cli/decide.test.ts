import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunFile } from 'bench-model/run';
import { FORWARDER, PLANTED, Place, flags, hasProc } from './cli.ts';

const SHORT = { rounds: 1, duration: 0.4, warmup: 0, connections: 2 };
const planted = ['--stack', PLANTED];

function readRunFile(place: Place, run: string): RunFile {
  return JSON.parse(readFileSync(join(place.results, run, 'run.json'), 'utf8')) as RunFile;
}

describe('bench --again', () => {
  it('measures an old plan again, and compares, with the changes', async () => {
    await using place = new Place();
    await place.run('bench', [...planted, 'planted/delays-5-ms', ...flags(SHORT)]);
    const [old = ''] = readdirSync(place.results);
    const { status, stdout } = await place.run('bench', ['--again', old]);
    expect(status).toBe(0);
    const now = readdirSync(place.results).find((name) => name !== old) ?? '';
    expect(stdout).toContain(`${old} → ${now}`);
    expect(stdout).toContain('new ÷ old');
    // The same versions and sources: nothing changed.
    expect(stdout).toContain('no changes in processes, versions, runtimes, frameworks or servers');
    expect(stdout).not.toContain('changed: ');
    expect(stdout).toContain('No interval and no verdict');
    const [then, today] = [readRunFile(place, old).plan, readRunFile(place, now).plan];
    expect({ ...today, run: '', seed: 0, trials: [] }).toEqual({ ...then, run: '', seed: 0, trials: [] });
    expect(today.seed).not.toBe(then.seed);
  });

  it('refuses an unknown run', async () => {
    await using place = new Place();
    const { status, stderr } = await place.run('bench', ['--again', 'nothing']);
    expect(status).toBe(2);
    expect(stderr).toContain('unknown run "nothing"');
  });
});

describe('bench --fail-on', () => {
  it.runIf(hasProc)(
    'ends with exit code 1 if it finds that verdict, and with 0 if not',
    { timeout: 240_000 },
    async () => {
      await using place = new Place();
      const words = [...planted, 'planted/steady', 'planted/burns'];
      // Its cost is so different that the fewest rounds with a verdict find it.
      const args = [...words, ...flags({ rounds: 3, duration: 0.3, warmup: 0, connections: 2, rate: 300 })];
      const slower = await place.run('bench', [...args, '--fail-on', 'slower']);
      expect(slower.stderr).toContain('--fail-on: found slower\n');
      expect(slower.status).toBe(1);
      const faster = await place.run('compare', [place.runFolder(), '--fail-on', 'faster']);
      expect(faster.stdout).toMatch(/ slower: /);
      expect(faster.status).toBe(0);
      for (const { status } of place.trials()) expect(status).not.toBe('failed');
    },
  );
});

describe.skipIf(!hasProc)('a duel', () => {
  it('refuses a budget without room for a verdict, and names one that has it', async () => {
    await using place = new Place();
    const words = ['planted/steady', 'planted/burns', '--budget', '0.1s'];
    const short = flags({ duration: 0.5, warmup: 0, connections: 2 });
    const { status, stderr } = await place.run('bench', [...planted, ...words, ...short]);
    expect(status).toBe(2);
    expect(stderr).toContain('allows about 0 rounds; a large difference needs 3 rounds, others at least 6');
    expect(stderr).toContain('use --budget 70s for a large difference, 3m for others');
    expect(existsSync(place.results)).toBe(false);
  });

  it('leaves nothing after one Ctrl-C, and keeps only whole duels', async () => {
    await using place = new Place();
    const words = '--rounds 50 --connections 2 --duration 0.5 --warmup 0';
    const running = place.startInTerminal(
      `${FORWARDER} --stack ${PLANTED} planted/delays-1-ms planted/delays-5-ms ${words}`,
    );
    await running.until(() => place.trials().length >= 2, 'the first duel');
    running.type('\u0003');
    const { status, stdout } = await running.ended;
    expect(status).toBe(130);
    expect(stdout).toContain('stopping: completed trials are saved');
    expect(place.trials().length % 2).toBe(0);
    const [run = ''] = readdirSync(place.results);
    expect(readRunFile(place, run).stops).toEqual([place.trials().length / 2]);
    expect(place.trials().filter((trial) => trial.status === 'failed')).toEqual([]);
    await place.untilGone();
  });
});
