/** Requests of a user that are measured one at a time, in plans and in runs. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { placesOf } from 'bench-model/planned';
import { present, type BenchOptions } from 'bench-model/options';
import type { Plan } from 'bench-model/plan';
import { describePlan } from 'bench-report/plan';
import { BenchError } from 'bench-model/errors';
import type { PinnedCommands } from 'bench-machine/placement';
import { afterAll, describe, expect, it } from 'vitest';
import { makePlan } from '../../src/plan/plan.ts';
import { run } from '../../src/measure/run.ts';
import { CAPACITY, parseBench, sampleStack } from '../../../bench-lab/testing/samples.ts';
import { createWorld, prepareFor, type Twist } from './world.ts';

const placed: PinnedCommands = {
  placement: { kind: 'separate', server: [1], generator: [0] },
  server: [],
  generator: [],
};

const folder = mkdtempSync(join(tmpdir(), 'bench-routes-'));
afterAll(() => rmSync(folder, { recursive: true }));

const ROUTES = ['GET /a', 'GET /b', 'GET /c'];

function planOf(words: string, names = ['main', 'feature'], given: Partial<BenchOptions> = {}): Plan {
  const routes = ROUTES.flatMap((route) => ['--get', route.slice(4)]);
  const options = parseBench([...routes, ...(words.match(/\S+/g) ?? []), ...names]);
  const stacks = names.map((name) => sampleStack(name));
  return makePlan({ ...options, ...given }, stacks, 'a-run', 1);
}

describe('the plan of several requests', () => {
  it('measures each of them alone, in every round, on a server that they share', () => {
    const plan = planOf('--connections 10,100 --rounds 2', ['main']);
    expect(plan.routes).toEqual(ROUTES);
    expect(plan.trials).toHaveLength(2 * 2 * 3);
    for (const round of [1, 2]) {
      const own = plan.trials.filter((trial) => trial.round === round);
      for (const place of placesOf(plan))
        expect(
          own.filter((trial) => trial.connections === place.connections && trial.route === place.route),
        ).toHaveLength(1);
      // One server for each number of connections.
      expect(new Set(own.map(({ life }) => life)).size).toBe(2);
    }
    expect(new Set(plan.trials.map(({ id }) => id)).size).toBe(plan.trials.length);
    expect(describePlan(plan)).toContain(
      'each of the 3 requests is measured alone, one after the other on the same server',
    );
  });

  it('has all servers take turns with one request after the other', () => {
    const plan = planOf('--threshold 2%', undefined, { capacity: CAPACITY });
    const round = plan.trials.slice(0, 6);
    expect(new Set(round.map(({ duel }) => duel))).toEqual(new Set(['c10-r1']));
    expect(new Set(round.map(({ life }) => life)).size).toBe(2);
    for (const at of [0, 2, 4]) {
      expect(round[at]?.route).toBe(round[at + 1]?.route);
      expect(round[at]?.target).not.toBe(round[at + 1]?.target);
    }
    // Together about as long as the window of one.
    expect(plan.windowSeconds).toBeCloseTo(1 / 3, 5);
  });

  it('sends them mixed for a capacity, with weights in a file, and if there is one', () => {
    const file = join(folder, 'requests.json');
    writeFileSync(file, JSON.stringify({ requests: [{ request: 'GET /a', weight: 3 }, 'GET /b'] }));
    const stacks = [sampleStack('main')];
    for (const words of [
      ['--get', '/a', '--get', '/b', '--slo', 'p99<50ms'],
      ['--requests-file', file],
      ['--get', '/a'],
    ]) {
      const plan = makePlan(parseBench([...words, 'main']), stacks, 'a-run', 1);
      expect(plan).not.toHaveProperty('routes');
      expect(plan.trials.some(({ route }) => route !== undefined)).toBe(false);
    }
    expect(describePlan(planOf('--slo p99<50ms'))).toMatch(
      /sent mixed, for the capacity of the service; --get measures one$/m,
    );
  });

  it('distinguishes requests of one name', () => {
    const plan = makePlan(
      parseBench(['--get', '/a', '--get', '/a', 'main']),
      [sampleStack('main')],
      'a-run',
      1,
    );
    expect(plan.routes).toEqual(['GET /a', 'GET /a (2)']);
  });

  it('gives each of them a fresh server beside a background request', () => {
    const options = parseBench(['--get', '/a', '--get', '/b', '--background', 'GET /slow', 'main']);
    const { trials, routes } = makePlan(options, [sampleStack('main')], 'a-run', 1);
    expect(routes).toHaveLength(2);
    expect(trials.some(({ life }) => life !== undefined)).toBe(false);
  });
});

async function measure(words: string, twist: Twist = {}, names?: string[]) {
  const plan = planOf(`--connections 10 --rounds 1 ${words}`, names, present({ interleave: twist.turns }));
  const world = createWorld(twist);
  const code = { language: 'none', from: 'HEAD', folder, instead: folder, program: '' } as const;
  const prepared = prepareFor(plan).map((one) => ({ ...one, code }));
  const trials = await run(plan, { placed, prepared, before: [] }, world.effects);
  return { plan, world, trials };
}

describe('a run of several requests', () => {
  it('starts one server, warms it up with all requests, and has a record for each', async () => {
    const { world, trials } = await measure('', { tellWindows: true }, ['main']);
    const count = (step: string) => world.done.filter((what) => what.startsWith(step)).length;
    expect([
      count('launch'),
      count('stop'),
      count('arm'),
      count('verify before'),
      count('verify after'),
    ]).toEqual([1, 1, 4, 3, 3]);
    // What takes a second is done once: starting generators, and asking the server for its code.
    expect([count('open'), count('leave'), count('close'), count('read code')]).toEqual([1, 4, 1, 1]);
    expect(world.done.filter((what) => what.startsWith('fire')).at(-1)).toMatch(/ 1\.\d+$/);
    expect(trials.map(({ route = '' }) => route).toSorted((a, b) => a.localeCompare(b))).toEqual(ROUTES);
    for (const { status, route, requests } of trials) {
      expect(status).toBe('ok');
      expect(requests?.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([route]);
    }
    expect(world.recorded).toEqual(trials);
  });

  it('loads both servers with one request after the other', async () => {
    const { world, trials } = await measure('--duration 0.12', { turns: true });
    expect(trials.map(({ status }) => status)).toEqual(Array(6).fill('ok'));
    const ports = world.done.flatMap((what) => /^turn (\d+)/.exec(what)?.[1] ?? []);
    expect(ports).toHaveLength(3 * 2 * 6);
    const counts = Object.values(Object.groupBy(ports, (port) => port)).map((own) => own?.length);
    expect(counts).toEqual([18, 18]);
    const count = (step: string) => world.done.filter((what) => what.startsWith(step)).length;
    expect([count('launch'), count('open'), count('leave'), count('read code')]).toEqual([2, 1, 8, 2]);
  });

  it('starts new generators for the next request if those of one have failed', async () => {
    const { world, trials } = await measure(
      '',
      {
        at: {
          arm: (count) => {
            if (count === 2) throw new BenchError('trial', 'the load generator failed');
          },
        },
      },
      ['main'],
    );
    expect(trials.map(({ status }) => status).toSorted((a, b) => a.localeCompare(b))).toEqual([
      'failed',
      'ok',
      'ok',
    ]);
    expect(world.done.filter((what) => what === 'open')).toHaveLength(2);
  });

  it('loses only the request that is answered wrongly', async () => {
    let verified = 0;
    const { trials } = await measure(
      '',
      {
        at: {
          'verify before the load': () => {
            verified++;
            if (verified === 2) throw new BenchError('trial', 'GET /b before the load: status 500');
          },
        },
      },
      ['main'],
    );
    const failed = trials.filter(({ status }) => status === 'failed');
    expect(failed).toHaveLength(1);
    expect(failed[0]?.reasons[0]?.text).toContain('status 500');
    expect(trials.filter(({ status }) => status === 'ok')).toHaveLength(2);
  });

  it('loses only the request whose responses change under load', async () => {
    let verified = 0;
    const { trials } = await measure(
      '',
      {
        at: {
          'verify after the load': () => {
            verified++;
            if (verified === 3) throw new BenchError('trial', 'status 500');
          },
        },
      },
      ['main'],
    );
    expect(trials.filter(({ status }) => status === 'ok')).toHaveLength(2);
  });

  it('fails all requests of a server that does not start', async () => {
    const { trials } = await measure(
      '',
      {
        at: {
          ready: () => {
            throw new BenchError('trial', 'no correct response');
          },
        },
      },
      ['main'],
    );
    expect(trials.map(({ status }) => status)).toEqual(['failed', 'failed', 'failed']);
  });

  it('leaves out requests that are not due, and their server with the last of them', async () => {
    const { world, trials } = await measure('', {
      due: () => (planned) => planned.route === 'GET /b' || planned.target === 'feature',
    });
    expect(
      trials.map(({ target, route }) => `${target.id} ${route}`).toSorted((a, b) => a.localeCompare(b)),
    ).toEqual([...ROUTES.map((route) => `feature ${route}`), 'main GET /b']);
    expect(world.done.filter((what) => what.startsWith('launch'))).toHaveLength(2);
  });
});
