import { describe, it } from 'vitest';
import { existsSync } from 'node:fs';
import { readStudy } from 'bench-analysis/results/study/store';
import { beyondNoise } from '../../../bench-lab/testing/noise.ts';
import { PLANTED, Place, hasProc } from './cli.ts';

const WARM = ['--stack', PLANTED, 'planted/steady', '--connections', '2'];

/** Only Linux reads the CPU of short spans. */
describe.skipIf(!hasProc)('pnpm warmup', () => {
  it.concurrent('prints and stores what it measured, and pnpm report prints it again', async ({ expect }) => {
    await using place = new Place();
    const { status, stdout, stderr } = await place.run('warmup', [
      ...WARM,
      '--for',
      '4s',
      '--processes',
      '1',
    ]);
    expect(stdout).toMatch(/^Warm-up of fresh processes$/m);
    // A short study beside other tests may find any class: a mark may follow.
    expect(stdout).toMatch(/^ +process 1 +[▁▂▃▄▅▆▇█ ]+(?:\S.*)?$/m);
    expect(stderr).toMatch(/^\[1\/1\] planted, process 1: ok, \d+ pairs of turns in [\d.]+ s/m);
    expect(status).toBe(0);
    const again = await place.run('report', [place.runFolder()]);
    expect(again).toEqual({ status: 0, stdout, stderr: '' });
    const json = await place.run('report', [place.runFolder(), '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({
      workload: 'devices',
      studies: [{ target: 'planted' }],
      processes: [{ status: 'ok' }],
    });
    expect((await place.run('report', [place.runFolder(), '--ladder'])).status).toBe(2);
  });

  it.concurrent('keeps what it has seen when it is interrupted, and leaves nothing', async ({ expect }) => {
    await using place = new Place();
    const running = place.start('warmup', WARM);
    // The server counts the requests: it is in its turns.
    await running.until(async () => ((await place.readAccount())?.requests.read ?? 0) > 300, 'the turns');
    running.signal('SIGINT');
    const { status, stdout } = await running.ended;
    expect(status).toBe(130);
    expect(stdout).toContain('process 1 was interrupted. It is stored, but not counted');
    const { processes } = readStudy(place.runFolder());
    expect(processes).toMatchObject([{ status: 'cut' }]);
    expect(processes.flatMap(({ reasons }) => beyondNoise(reasons))).toEqual([]);
    expect(existsSync(place.lock)).toBe(false);
    await place.untilGone();
  });
});
