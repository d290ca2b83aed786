import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BenchError } from 'bench-model/errors';
import type { PinnedCommands } from 'bench-machine/placement';
import { UnansweredError } from 'bench-targets/catalogue/workloads/send';
import { asStored, sampleCounts, sampleLoad } from '../../../bench-lab/testing/samples.ts';
import { measure, PLACED, textsOf } from './one-trial.ts';
import type { Step } from './world.ts';
import { makeReason } from 'bench-model/reasons';
import { METRIC_IDS } from 'bench-model/metrics';
import { measuredOf } from 'bench-model/trial';
import { RECORD_SCHEMA } from 'bench-model/versions';

const fail = (text: string) => () => {
  throw new BenchError('trial', text);
};

describe('a trial of one server', () => {
  it('takes the steps of a trial in order', async () => {
    const { trial, world } = await measure();
    expect(trial.status).toBe('ok');
    expect(world.done).toEqual([
      'launch 001-fastify-c10-r1',
      'ready',
      'verify before the load',
      'resources',
      'idle',
      'open',
      'arm',
      'fire',
      'fire',
      'sample start 4711',
      'fire',
      'sample stop',
      'leave',
      'close',
      'verify after the load',
      'sample end',
      'stop',
    ]);
  });

  it('records the plan and the findings', async () => {
    const { trial } = await measure({}, { line: '--duration 3 --warmup 1 --timeout 4 --quick' });
    expect(trial).toMatchObject({
      schema: RECORD_SCHEMA,
      load: { mode: 'closed' },
      id: '001-fastify-c10-r1',
      connections: 10,
      round: 1,
      order: 0,
      startedAt: '2026-11-20T12:00:00.000Z',
      engine: 'fake',
      driver: { name: 'fake', version: '0' },
      warmupSeconds: 1,
      timeoutSeconds: 4,
      quick: true,
      placement: PLACED.placement,
      files: ['logs/a.log'],
    });
  });

  it('records the interpreter of the live server, also if the trial fails', async () => {
    const interpreter = { implementation: 'CPython', version: '3.13.0', pgo: false };
    expect((await measure({ seen: { interpreter } })).trial).toMatchObject({ status: 'ok', interpreter });
    const failing = await measure({ seen: { interpreter }, at: { fire: fail('it died') } });
    expect(failing.trial).toMatchObject({ status: 'failed', interpreter });
    expect((await measure()).trial).not.toHaveProperty('interpreter');
  });

  it('derives CPU and context switches per request', async () => {
    const { trial } = await measure();
    const { cpuUsPerRequest, contextSwitchesPerRequest, startupSeconds } = measuredOf(trial)!;
    // Half a core over 10,000 responses a second; 100,000 switches over 50,000 responses.
    expect(cpuUsPerRequest).toBeCloseTo(50);
    expect(contextSwitchesPerRequest).toBe(2);
    expect(startupSeconds).toBeGreaterThanOrEqual(0.25);
  });

  it('records the age of the server at the opening of its window, in seconds and in responses', async () => {
    const warmup = { milliseconds: 50, ok: [100, 200], answers: 310 };
    // One response until it was ready and two to verify it.
    const { trial } = await measure({ load: sampleLoad({ warmup }), asks: { ready: 1, verify: 2 } });
    const { age, startupSeconds } = measuredOf(trial)!;
    expect(age).toMatchObject({ answers: 313 });
    expect(age?.secondsSinceStart).toBeGreaterThanOrEqual(startupSeconds as number);
  });

  it('collects garbage between the verification and the load, and records how many processes did', async () => {
    const { trial, world } = await measure({ collected: 1 });
    expect(measuredOf(trial)?.age).toMatchObject({ collected: 1 });
    expect(world.done.slice(2, 5)).toEqual(['verify before the load', 'collect garbage', 'resources']);
    const { trial: other } = await measure();
    expect(measuredOf(other)!.age).not.toHaveProperty('collected');
  });

  it('records no responses that the engine does not report, and no age of a server that was already running', async () => {
    const { trial } = await measure({ load: sampleLoad() });
    if (trial.status === 'failed') throw new Error('failed');
    expect(Object.keys(trial.measured.age ?? {})).toEqual(['secondsSinceStart']);
    const { trial: attached } = await measure({ isAttached: true });
    expect(measuredOf(attached)!).not.toHaveProperty('age');
  });

  it('divides all CPU by the responses of a fixed amount of requests', async () => {
    // 2,000 responses in 0.4 s, sampled for 0.45 s: 0.1 s of CPU, or 50 µs a response.
    const load = sampleLoad({
      counts: sampleCounts({ ok: 2000 }),
      windowSeconds: 0.4,
      goodputPerSecond: 5000,
    });
    const server = {
      source: 's',
      scope: 's',
      seconds: 0.45,
      cpuUserUs: 1e5,
      cpuSystemUs: 0,
      coresUsed: 0.1 / 0.45,
      contextSwitches: 4000,
    };
    const { trial } = await measure({ load, sampled: { host: {}, server } }, { line: '--amount 2000' });
    const { cpuUsPerRequest, contextSwitchesPerRequest, server: used } = measuredOf(trial)!;
    expect(cpuUsPerRequest).toBeCloseTo(50);
    expect(contextSwitchesPerRequest).toBeCloseTo(2);
    expect(used).toMatchObject({ seconds: 0.4, coresUsed: 0.25 });
  });

  it('omits figures that could not be measured', async () => {
    for (const sampled of ['none', { host: {} }] as const) {
      const { trial } = await measure({ sampled });
      expect(trial.status).toBe('ok');
      const measured = (asStored(trial) as { measured: object }).measured;
      for (const field of ['server', 'cpuUsPerRequest', 'bytesPerConnection', 'contextSwitchesPerRequest'])
        expect(measured).not.toHaveProperty(field);
    }
  });

  it('is suspect if the server is not on the cores on which it was placed', async () => {
    expect((await measure({ cores: [[1], [1]] })).trial.reasons).toEqual([]);
    for (const cores of [[0], [0, 1], []]) {
      for (const opened of [cores, [1]])
        expect((await measure({ cores: [opened, cores] })).trial).toMatchObject({
          status: 'suspect',
          reasons: [{ code: 'cores-changed' }],
        });
    }
  });

  it('may pin itself to some of its cores before the window', async () => {
    const placed: PinnedCommands = {
      ...PLACED,
      placement: { kind: 'separate', server: [1, 2], generator: [0] },
    };
    const codes = async (opened: number[], closed: number[]): Promise<string[]> => {
      const { trial } = await measure({ cores: [opened, closed] }, { placed });
      return trial.reasons.map(({ code }) => code);
    };
    expect(await codes([2], [2])).toEqual([]);
    for (const [opened, closed] of [
      [[1, 2], [2]],
      [[2], [1]],
      [[2], [1, 2]],
      [
        [0, 2],
        [0, 2],
      ],
    ] as const)
      expect(await codes([...opened], [...closed])).toEqual(['cores-changed']);
  });

  it('keeps the log and the figures of a trial that was disturbed, or that found something', async () => {
    const counts = sampleCounts({ ok: 50_000, non2xx: 500, inFlight: 10 });
    const { trial } = await measure({ load: sampleLoad({ counts }) });
    expect(trial).toMatchObject({
      status: 'ok',
      reasons: [{ code: 'errors', invalidates: [] }],
      logTail: ['the last line'],
    });
    const generators = [{ cpuUs: 4.9e6, seconds: 5, utilisation: 0.98 }];
    const disturbed = await measure({ load: sampleLoad({ generators, counts }) });
    expect(disturbed.trial).toMatchObject({
      status: 'suspect',
      logTail: ['the last line'],
      measured: { limit: 'generator' },
    });
  });

  it('fails a trial with wrong responses, and keeps its figures as partial', async () => {
    const counts = sampleCounts({ ok: 50_000, mismatch: 1, inFlight: 10 });
    const { trial } = await measure({ load: sampleLoad({ counts }) });
    expect(trial).toMatchObject({ status: 'failed', partial: { load: { counts: { mismatch: 1 } } } });
    expect(trial).not.toHaveProperty('measured');
  });

  it('judges a server by the cores it may use', async () => {
    const placed: PinnedCommands = {
      ...PLACED,
      placement: { kind: 'separate', server: [1, 2], generator: [0] },
    };
    const half = {
      host: {},
      server: { source: 's', scope: 's', seconds: 5, cpuUserUs: 5e6, cpuSystemUs: 0, coresUsed: 1 },
    };
    const narrow = await measure({ sampled: half });
    const wide = await measure({ sampled: half }, { placed });
    expect([narrow.trial, wide.trial]).toMatchObject([
      { measured: { limit: 'server' } },
      { measured: { limit: 'waiting' } },
    ]);
  });
});

describe('a trial of a server with threads', () => {
  const sampled = {
    host: {},
    server: { source: 's', scope: 's', seconds: 5, cpuUserUs: 5e6, cpuSystemUs: 0, coresUsed: 1 },
  };
  const unpinned: PinnedCommands = { ...PLACED, placement: { kind: 'unpinned' } };

  it('records threads and cores only if they were given', async () => {
    const { trial } = await measure({}, { line: '--threads 1 --cores 2' });
    expect(trial).toMatchObject({ workers: 1, threads: 1, cores: 2 });
    const plain = asStored((await measure()).trial);
    for (const field of ['threads', 'cores', 'params']) expect(plain).not.toHaveProperty(field);
  });

  it('is judged by the requested cores if nothing can be pinned', async () => {
    const one = await measure({ sampled }, { placed: unpinned });
    const two = await measure({ sampled }, { placed: unpinned, line: '--cores 2' });
    expect([one.trial, two.trial]).toMatchObject([
      { measured: { limit: 'server' } },
      { measured: { limit: 'waiting' } },
    ]);
  });
});

describe('a trial with an error', () => {
  let unhandled: unknown[] = [];
  const notice = (error: unknown): void => {
    unhandled.push(error);
  };
  beforeEach(() => {
    unhandled = [];
    process.on('unhandledRejection', notice);
  });
  afterEach(() => {
    process.off('unhandledRejection', notice);
  });

  const STEPS: Step[] = [
    'ready',
    'verify before the load',
    'resources',
    'idle',
    'open',
    'arm',
    'fire',
    'sample start',
    'sample stop',
    'verify after the load',
  ];

  it.each(STEPS)('at "%s" fails, and its server is stopped', async (step) => {
    const { trial, world } = await measure({ at: { [step]: fail(`broken at ${step}`) } });
    expect(trial.status).toBe('failed');
    expect(textsOf(trial)).toEqual([`trial: broken at ${step}`]);
    expect(trial.reasons[0]?.invalidates).toEqual(METRIC_IDS);
    expect(trial).toMatchObject({ logTail: ['the last line'], files: ['logs/a.log'] });
    expect(world.done.filter((what) => what === 'stop')).toEqual(['stop']);
    expect(world.done.at(-1)).toBe('stop');
    const opened = world.done.includes('open') && step !== 'open';
    expect(world.done.includes('close')).toBe(opened);
    const sampling = world.done.includes('idle');
    expect(world.done.includes('sample end')).toBe(sampling);
    expect(trial).not.toHaveProperty('measured');
    expect(Object.hasOwn(trial, 'partial')).toBe(step === 'verify after the load');
  });

  it('without a response after the load is a finding if requests were unanswered, and fails if not', async () => {
    const problem = new UnansweredError('trial', 'POST / after the load: no response in 10 s');
    const measureOwing = (inFlight: number) => {
      const load = sampleLoad({ lifetime: sampleCounts({ ok: 50_000, inFlight }) });
      return measure({ at: { 'verify after the load': () => Promise.reject(problem) }, load });
    };
    const owing = (await measureOwing(3)).trial;
    expect(owing.status).toBe('ok');
    expect(textsOf(owing)).toEqual([
      'not-verified: 3 requests were still unanswered when the load ended: POST / after the load: no response in 10 s',
    ]);
    const idle = (await measureOwing(0)).trial;
    expect(idle.status).toBe('failed');
    expect(textsOf(idle)).toEqual(['trial: POST / after the load: no response in 10 s']);
  });

  it('at its launch fails, and stops nothing', async () => {
    const { trial, world } = await measure({ at: { launch: fail('port 3000 is taken') } });
    expect(textsOf(trial)).toEqual(['trial: port 3000 is taken']);
    expect(trial).toMatchObject({ status: 'failed', files: [] });
    expect(world.done).toEqual(['launch 001-fastify-c10-r1']);
  });

  it('at its stop fails: the server may still run', async () => {
    const { trial } = await measure({ at: { stop: fail('no such group') } });
    expect(trial.status).toBe('failed');
    expect(textsOf(trial).join()).toContain('no such group');
  });

  it('of Bench itself is reported as a defect', async () => {
    const { trial } = await measure({
      at: {
        arm: () => {
          throw new TypeError('x is not a function');
        },
      },
    });
    expect(textsOf(trial)).toEqual(['defect: x is not a function']);
  });

  it('leaves no rejection unhandled while the window is open', async () => {
    const { trial } = await measure({
      at: {
        'sample start': fail('the server has no process'),
        // Node reports an unhandled rejection when the microtasks are done.
        fire: () => new Promise((resolve) => setImmediate(() => setImmediate(resolve))),
      },
    });
    expect(textsOf(trial)).toEqual(['trial: the server has no process']);
    expect(unhandled).toEqual([]);
  });
});

describe('a server that dies', () => {
  it.each(['arm', 'fire'] as const)('at "%s" ends its trial immediately', async (step) => {
    let end: string | undefined;
    const { trial, world } = await measure({
      ended: () => end,
      at: {
        // Never settles: only the death of the server ends the step.
        [step]: () => {
          end = 'ended by SIGSEGV';
          return new Promise<void>(() => {});
        },
      },
    });
    expect(textsOf(trial)).toEqual(['trial: the server died under load (ended by SIGSEGV)']);
    expect(trial.status).toBe('failed');
    expect(world.done.slice(-3)).toEqual(['close', 'sample end', 'stop']);
  });
});

describe('the attestation of a server', () => {
  const CLAIMS = { mypyc: true, loop: 'uvloop' };

  it('is recorded with all its fields if it matches the manifest', async () => {
    const told = { ...CLAIMS, version: '3.13.0' };
    const { trial } = await measure({ attestations: () => [told] }, { attest: CLAIMS });
    expect(trial).toMatchObject({ status: 'ok', attested: [told] });
  });

  it('is waited for', async () => {
    let calls = 0;
    const { trial } = await measure(
      { attestations: () => (++calls > 2 ? [CLAIMS] : []) },
      { attest: CLAIMS },
    );
    expect(trial.status).toBe('ok');
  });

  it('can stand for several workers', async () => {
    const workers = { line: '--workers 2', attest: CLAIMS };
    const { trial } = await measure({ attestations: () => [{ ...CLAIMS, workers: 2 }] }, workers);
    expect(trial.status).toBe('ok');
  });

  it.each([
    [{ ...CLAIMS, mypyc: false }, 'false attestation: mypyc is false, but the manifest states true'],
    [{ mypyc: true }, 'false attestation: loop is undefined, but the manifest states "uvloop"'],
    [{ ...CLAIMS, mypyc: 'true' }, 'false attestation: mypyc is "true", but the manifest states true'],
  ])('fails the trial if it does not match: %j', async (told, text) => {
    const { trial, world } = await measure({ attestations: () => [told] }, { attest: CLAIMS });
    expect(textsOf(trial)).toEqual([`trial: ${text}`]);
    expect(trial.status).toBe('failed');
    expect(world.done).not.toContain('open');
    expect(world.done.at(-1)).toBe('stop');
  });

  it('is required of every worker', async () => {
    const told = [CLAIMS, { ...CLAIMS, loop: 'asyncio' }];
    const { trial } = await measure({ attestations: () => told }, { line: '--workers 2', attest: CLAIMS });
    expect(textsOf(trial)).toEqual([
      'trial: false attestation: worker 2 of 2: loop is "asyncio", but the manifest states "uvloop"',
    ]);
  });
});

describe('the stop of a server', () => {
  it('that ignored SIGTERM is reported, and invalidates nothing', async () => {
    const trouble = [makeReason('ignored-sigterm', { signal: 'SIGTERM', seconds: 5 })];
    const { trial } = await measure({ stopped: { files: ['a.log'], trouble } });
    expect(trial).toMatchObject({
      status: 'ok',
      reasons: [{ code: 'ignored-sigterm', invalidates: [] }],
    });
  });

  it('fails the trial if the port stays open', async () => {
    const trouble = [makeReason('not-stopped', { message: 'port 3000 is still open: process 7 (node)' })];
    const { trial } = await measure({ stopped: { files: ['a.log'], trouble } });
    expect(trial).toMatchObject({ status: 'failed', partial: { limit: 'waiting' } });
    expect(textsOf(trial)[0]).toContain('process 7 (node)');
  });

  it('adds the report of time(1)', async () => {
    const time = { format: 'gnu', userSeconds: 1.5 } as const;
    const { trial } = await measure({ stopped: { files: ['a.log', 'a.txt'], trouble: [], time } });
    expect(trial).toMatchObject({ status: 'ok', time, files: ['a.log', 'a.txt'] });
    expect(trial).not.toHaveProperty('logTail');
  });
});
