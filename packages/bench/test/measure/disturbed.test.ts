import { makeReason } from 'bench-model/reasons';
import { describe, expect, it } from 'vitest';
import { BenchError } from 'bench-model/errors';
import { measureTogether } from '../../src/measure/conductor.ts';
import type { Trial } from 'bench-model/record';
import { sampleBackground, sampleLoad, samplePlan } from '../../../bench-lab/testing/samples.ts';
import { createWorld, prepareFor, type Twist, type World } from './world.ts';

const DISTURBED = 'fastify (with GET /fib/42)';

async function measure(twist: Twist = {}, id = DISTURBED): Promise<{ trial: Trial; world: World }> {
  const world = createWorld(twist);
  const plan = samplePlan('--rounds 1 --connections 10 --background "GET /fib/42"', ['fastify']);
  const prepared = prepareFor(plan).find(({ target }) => target.id === id)!;
  const planned = plan.trials.find(({ target }) => target === id)!;
  const placed = { placement: { kind: 'shared' as const }, server: [], generator: [] };
  const { target } = prepared;
  const context = { plan, placed, prepared, target };
  const [trial] = await measureTogether([{ planned, context }], world.effects);
  return { trial: trial!, world };
}

describe('a trial with a background request', () => {
  const ignored = makeReason('ignored-sigterm', { signal: 'SIGTERM', seconds: 5 });

  it('keeps it in flight from the warm-up to the end of the window, and records its outcome', async () => {
    const { trial, world } = await measure();
    const from = world.done.indexOf('arm');
    expect(world.done.slice(from, from + 8)).toEqual([
      'arm',
      'disturb by GET /fib/42',
      'fire',
      'fire',
      'sample start 4711',
      'fire',
      'leave in peace',
      'sample stop',
    ]);
    expect(trial).toMatchObject({
      status: 'ok',
      companions: { background: { method: 'GET', path: '/fib/42' } },
      measured: { companions: { background: sampleBackground() }, load: { counts: sampleLoad().counts } },
    });
  });

  it('counts the answers to that request in the age of the server', async () => {
    const load = sampleLoad({ warmup: { milliseconds: 50, ok: [300], answers: 310 } });
    const ageOf = async (id: string): Promise<number | undefined> => {
      const { trial } = await measure({ load, answeredBeside: 5 }, id);
      return trial.status === 'failed' ? undefined : trial.measured.age?.answers;
    };
    expect([await ageOf(DISTURBED), await ageOf('fastify')]).toEqual([315, 310]);
  });

  it('does not disturb the undisturbed target', async () => {
    const { trial, world } = await measure({}, 'fastify');
    expect(world.done.join()).not.toContain('disturb');
    expect(trial).not.toHaveProperty('companions');
    expect(trial).toMatchObject({ status: 'ok' });
  });

  it('ends it if the load fails', async () => {
    const { world } = await measure({
      at: { fire: () => Promise.reject(new BenchError('trial', 'it broke')) },
    });
    expect(world.done.filter((step) => /disturb|peace/.test(step))).toEqual([
      'disturb by GET /fib/42',
      'leave in peace',
    ]);
  });

  it('does not blame a server that still works on a cancelled request', async () => {
    const stopped = { files: [], trouble: [ignored] };
    const { trial } = await measure({ stopped });
    expect(trial.reasons).toEqual([]);
    const background = sampleBackground({ sent: 7, cancelled: 0 });
    const { trial: done } = await measure({ stopped, background });
    expect(done.reasons.map(({ code }) => code)).toEqual(['ignored-sigterm']);
  });

  it('fails if it was without a response correctly', async () => {
    const background = sampleBackground({ sent: 3, statusCodes: { 404: 3 }, cancelled: 0 });
    const { trial } = await measure({ background });
    expect(trial).toMatchObject({ status: 'failed', partial: { companions: { background } } });
    expect(trial.reasons[0]?.text).toMatch(/^3 of 3 background requests failed/);
  });
});
