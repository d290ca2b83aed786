import { appendFileSync, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { start } from 'bench-machine/subprocess';
import { PLANTED, USERS, Place, flags, hasProc, isAlive, until } from '../cli/cli.ts';

/** Takes the lock and fails: nothing listens at that address. */
const NOWHERE = ['http://127.0.0.1:9/'];

describe.skipIf(!hasProc)('kill -9 of the harness in a window', () => {
  let place: Place;

  beforeAll(async () => {
    place = new Place();
    const options = { stack: PLANTED, connections: 2, rounds: 2, warmup: 0, duration: 1.5 };
    const names = ['planted/delays-1-ms', 'planted/delays-5-ms'];
    const running = place.start('bench', [...names, '--no-interleave', ...flags(options)]);
    await running.until(() => place.trials().length > 0, 'the first trial');
    await running.until(
      async () => place.countLaunched() > 1 && ((await place.readAccount())?.requests.read ?? 0) > 50,
      'the second window',
    );
    running.signal('SIGKILL');
    await running.ended;
  });
  afterAll(() => place[Symbol.asyncDispose]());

  it('leaves no server and no generator', async () => {
    await place.untilGone();
    expect(place.pids()).toEqual([]);
  });

  it('leaves readable results, even with half a line at the end', async () => {
    const { run } = place.runFile().plan;
    const whole = await place.run('report', [run, '--json']);
    expect(whole.status).toBe(0);
    expect(JSON.parse(whole.stdout)).toMatchObject({ trials: [{ order: 0 }] });
    appendFileSync(join(place.runFolder(), 'trials.jsonl'), '{"schema":1,"id":"002-');
    expect(await place.run('report', [run, '--json'])).toEqual(whole);
  });

  it('is not resumed by other versions', async () => {
    const file = join(place.runFolder(), 'run.json');
    const text = readFileSync(file, 'utf8');
    const { plan, versions } = place.runFile();
    writeFileSync(file, text.replace(`"node": "${versions['node']}"`, '"node": "18.0.0"'));
    const { status, stdout, stderr } = await place.run('bench', ['--resume', plan.run]);
    writeFileSync(file, text);
    expect(stderr).toContain(`run ${plan.run} was measured with other versions: `);
    expect(stderr).toContain(`node: 18.0.0 then, ${versions['node']} now`);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(place.trials()).toHaveLength(1);
  });

  it.each([
    [
      'kernel',
      'host.json',
      /"release": "[^"]*"/,
      '"release": "5.4.0-other"',
      'kernel release: 5.4.0-other and ',
    ],
    ['placement', 'trials.jsonl', /"kind":"(separate|shared)"/, '"kind":"unpinned"', 'placement: unpinned '],
  ])('is not resumed on another %s', async (_what, name, written, other, said) => {
    const file = join(place.runFolder(), name);
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(written, other));
    const { status, stdout, stderr } = await place.run('bench', ['--resume', place.runFile().plan.run]);
    writeFileSync(file, text);
    expect(stderr).toContain(' was measured on another machine, or this machine has changed: ');
    expect(stderr).toContain(said);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(place.trials()).toHaveLength(1);
  });

  it('is resumed with the same seeds and order, no trial twice, and one log per trial', async () => {
    const { plan } = place.runFile();
    const before = place.trials();
    const { status, stderr } = await place.run('bench', ['--resume', plan.run]);
    expect(stderr).toMatch(/^\[2\/4\] /m);
    expect(status).toBe(0);
    const after = place.trials();
    expect(after.slice(0, 1)).toEqual(before);
    expect(after.map(({ id, order, seed }) => ({ id, order, seed }))).toEqual(
      plan.trials.map(({ id, order, seed }) => ({ id, order, seed })),
    );
    for (const { attested } of after) expect(attested).toHaveLength(1);
    const logs = globSync('*/logs/*.log', { cwd: place.results });
    expect(logs).toHaveLength(4);
    for (const log of logs) {
      const text = readFileSync(join(place.results, log), 'utf8');
      expect(text.match(/^bench-attest /gm)).toHaveLength(1);
    }
    expect(existsSync(place.lock)).toBe(false);
    await place.untilGone();
  });
});

/** The processes that a kill leaves, the run that is killed, and a check if they are there. */
const LEFT: [string, string[], (place: Place) => boolean | Promise<boolean>][] = [
  [
    'a server and its upstream',
    ['vanilla', '--workload', 'gather'],
    (place) => [...place.pidsOf('nginx -p'), ...place.pidsOf('upstream/src/server.ts')].length > 0,
  ],
  [
    'a server and its database',
    ['users', '--stack', USERS, '--workload', 'users'],
    (place) => place.pidsOf('postgres -D').length > 0,
  ],
];

describe.skipIf(!hasProc)('kill -9 of the harness and of its watchdogs', () => {
  it.for(LEFT)(
    'leaves %s, which the next command identifies, names and removes; other processes stay',
    async ([, args, isThere]) => {
      await using place = new Place();
      const stranger = start({
        stdio: 'ignore',
        env: { ...process.env, BENCH_TOKEN: 'of-another-run' },
      })`exec sleep 600`;
      try {
        const options = { connections: 2, warmup: 0, duration: 60 };
        const running = place.start('bench', [...args, ...flags(options)]);
        await running.until(
          async () => place.pidsOf('generator.ts').length > 0 && (await isThere(place)),
          'the window',
        );
        for (const pid of place.pidsOf('read -r word')) process.kill(pid, 'SIGKILL');
        running.signal('SIGKILL');
        await running.ended;
        await until(() => place.pidsOf('generator.ts').length === 0, 'the end of the generator');
        const left = place.pids();
        const scratch = place.scratch();
        const hadScratch = existsSync(scratch);
        const cgroups = `/sys/fs/cgroup/**/bench-${place.holder()?.token}-*`;
        expect(left.length).toBeGreaterThan(0);
        expect(await isThere(place)).toBe(true);

        const { status, stderr } = await place.run('bench', NOWHERE);
        const { run } = place.runFile().plan;
        expect(stderr).toContain(`run ${run} had been killed and left ${left.length} processes`);
        for (const pid of left) expect(stderr).toMatch(new RegExp(`[( ]${pid} \\w`));
        expect(stderr.includes(`left ${scratch}: removed it`)).toBe(hadScratch);
        expect(status).toBe(2);
        await place.untilGone();
        expect(isAlive(stranger.pid ?? 0)).toBe(true);
        expect(globSync(cgroups)).toEqual([]);
        expect(existsSync(place.lock)).toBe(false);
        expect(existsSync(scratch)).toBe(false);
      } finally {
        stranger.kill('SIGKILL');
      }
    },
  );
});

describe.skipIf(!hasProc)('the lock of the host', () => {
  it('refuses a second run and pnpm bench:prune, and names the run that measures', async () => {
    await using place = new Place();
    const running = place.start('bench', ['--stack', PLANTED, 'planted/never-binds', '--connections', '1']);
    await running.until(() => place.countLaunched() > 0, 'the first server');
    const { run } = place.runFile().plan;
    for (const [script, args] of [
      ['bench', ['vanilla', '--connections', '1']],
      ['prune', ['runs', '--yes']],
    ] as const) {
      const { status, stderr } = await place.run(script, [...args]);
      expect(stderr).toContain(`run ${run} is measuring on this machine (process ${running.pid})`);
      expect(stderr).toContain('--wait');
      expect(status).toBe(2);
    }
    expect(place.holder()).toMatchObject({ pid: running.pid, run });
    expect(place.runFile().plan.run).toBe(run);
    running.signal('SIGTERM');
    expect((await running.ended).status).toBe(130);
  });

  it.for([
    [
      'of a process that has ended',
      JSON.stringify({ pid: 2 ** 22, began: '1', run: 'old', token: '0123456789abcdef' }),
    ],
    [
      'whose process id belongs to another process now',
      JSON.stringify({ pid: process.pid, began: '1', run: 'old', token: '0123456789abcdef' }),
    ],
    ['that is incomplete', '{"pid":'],
  ] as const)('takes over a lock %s', async ([, text]) => {
    await using place = new Place();
    writeFileSync(place.lock, text);
    const { stderr } = await place.run('bench', NOWHERE);
    expect(stderr).toContain('nothing listens');
    expect(stderr).not.toMatch(/had been killed|is measuring/);
    expect(existsSync(place.lock)).toBe(false);
  });
});
