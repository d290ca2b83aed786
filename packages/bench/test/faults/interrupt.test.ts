import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'vitest';
import { addressesOf } from 'bench-machine/procfs';
import { FORWARDER, PLANTED, USERS, Place, flags, hasProc, type Running } from '../cli/cli.ts';

/** A moment at which a user presses Ctrl-C, and the number of trials kept by then. */
interface Moment {
  when: string;
  args: string;
  reached: (place: Place, running: Running) => boolean | Promise<boolean>;
  says: string;
  kept: number;
  /** Starts the command; by default `FORWARDER`. */
  launcher?: string;
}

/** The addresses, of IPv4 and IPv6, that no other machine reaches. */
const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;

/** `npx pnpm` itself. */
const PNPM = 'npx -y pnpm@12 bench';

/** Its delays leave the cores to the other tests. */
const delayed = `--stack ${PLANTED} planted/delays-5-ms --warmup 0`;

const MOMENTS: Moment[] = [
  {
    when: 'while it checks the machine',
    args: 'vanilla --connections 1',
    reached: (place) => place.hasSession(),
    says: 'stopping: nothing has been measured yet',
    kept: 0,
    launcher: `BENCH_OBSERVE_MS=1000 ${FORWARDER}`,
  },
  {
    when: 'while a server starts',
    args: `--stack ${PLANTED} planted/never-binds --connections 1`,
    reached: (place) => place.countLaunched() > 0,
    says: 'stopping: nothing has been measured yet',
    kept: 0,
  },
  {
    when: 'in the window, with an upstream',
    args: 'vanilla --workload gather --connections 2 --duration 60 --warmup 0',
    reached: (place) => place.pidsOf('generator.ts').length > 0,
    says: 'stopping: nothing has been measured yet',
    kept: 0,
    launcher: PNPM,
  },
  {
    when: 'while its database starts',
    args: `--stack ${USERS} users --workload users --connections 2 --duration 60`,
    reached: (place) => place.pidsOf('initdb').length > 0,
    says: 'stopping: nothing has been measured yet',
    kept: 0,
  },
  {
    when: 'between trials',
    args: `${delayed} --connections 1 --duration 0.2 --rounds 100`,
    reached: (place) => place.trials().length > 0,
    says: 'stopping: completed trials are saved',
    kept: 1,
  },
];

describe.skipIf(!hasProc)('one Ctrl-C in a terminal, which arrives twice', { concurrent: true }, () => {
  it.for(MOMENTS)('$when', async ({ args, reached, says, kept, launcher = FORWARDER }, { expect }) => {
    await using place = new Place();
    const running = place.startInTerminal(`${launcher} ${args}`);
    await running.until(() => reached(place, running), 'the moment');
    const scratch = place.scratch();
    expect(addressesOf(place.pids()).filter(({ address }) => !LOOPBACK.test(address))).toEqual([]);
    running.type('\u0003');
    const { status, stdout } = await running.ended;
    expect(stdout.split(says)).toHaveLength(2);
    expect(stdout).not.toMatch(/error|defect|\n\s+at /i);
    expect(status).toBe(130);
    const trials = place.trials();
    expect(trials.length).toBeGreaterThanOrEqual(kept);
    // An interrupted trial has no figures.
    expect(trials.filter((trial) => trial.status === 'failed')).toEqual([]);
    expect(/│ planted/.test(stdout)).toBe(trials.length > 0);
    expect(stdout.includes('report with charts')).toBe(trials.length > 0);
    expect(existsSync(place.lock)).toBe(false);
    await place.untilGone();
    expect(existsSync(scratch)).toBe(false);
  });
});

describe.skipIf(!hasProc)('a run whose server ignores SIGTERM', () => {
  // At full speed, its load would keep two cores busy.
  const stubborn = { stack: PLANTED, connections: 1, rate: 200, duration: 60, warmup: 0 };

  async function startStubborn(place: Place): Promise<Running> {
    const running = place.start('bench', ['planted/ignores-sigterm', ...flags(stubborn)]);
    await running.until(async () => ((await place.readAccount())?.requests.read ?? 0) > 50, 'the window');
    return running;
  }

  it.concurrent('stops in order if one Ctrl-C arrives twice', async ({ expect }) => {
    await using place = new Place();
    const running = await startStubborn(place);
    // Two different signals, because the kernel may join two that are the same.
    running.signal('SIGINT');
    running.signal('SIGTERM');
    const { status, stderr } = await running.ended;
    expect(stderr.match(/^stopping: /gm)).toHaveLength(1);
    expect(stderr).toMatch(/^to continue: pnpm bench --resume \S+$/m);
    expect(status).toBe(130);
    expect(existsSync(place.lock)).toBe(false);
    await place.untilGone();
  });

  it.concurrent('leaves the server to the watchdog on a second Ctrl-C', async ({ expect }) => {
    await using place = new Place();
    const running = await startStubborn(place);
    running.signal('SIGINT');
    await running.until(() => running.output.includes('stopping: '), 'its response');
    // Within a second it would count as the same press.
    await sleep(1100);
    running.signal('SIGINT');
    const { status, stderr } = await running.ended;
    expect(stderr).not.toContain('--resume');
    expect(status).toBe(130);
    await place.untilGone();
    const next = await place.run('bench', ['http://127.0.0.1:9/']);
    expect(next.stderr).toContain('nothing listens');
  });
});

describe.skipIf(!hasProc)('SIGTERM to the command alone', () => {
  it('stops it in the same way, and --resume finishes it: same order, same seeds, no trial twice', async ({
    expect,
  }) => {
    await using place = new Place();
    const options = { stack: PLANTED, connections: '1,2', rounds: 1, amount: 50, warmup: 0 };
    const running = place.start('bench', ['planted/delays-5-ms', ...flags(options)]);
    await running.until(() => place.trials().length > 0, 'the first trial');
    running.signal('SIGTERM');
    const { status, stderr } = await running.ended;
    const { plan } = place.runFile();
    expect(stderr).toContain(`to continue: pnpm bench --resume ${plan.run}`);
    expect(status).toBe(130);
    await place.untilGone();
    const before = place.trials();
    expect(before).toHaveLength(1);

    const resumed = await place.run('bench', ['--resume', plan.run]);
    expect(resumed.stderr).toMatch(/^\[2\/2\] /m);
    expect(resumed.status).toBe(0);
    const after = place.trials();
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.map(({ id, order, seed }) => ({ id, order, seed }))).toEqual(
      plan.trials.map(({ id, order, seed }) => ({ id, order, seed })),
    );
    expect(place.runFile().plan).toEqual(plan);
    expect(existsSync(place.lock)).toBe(false);
  });
});
