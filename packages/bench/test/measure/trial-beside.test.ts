import { describe, expect, it } from 'vitest';
import { DatabaseError } from '../../src/services/database/server.ts';
import { UpstreamError } from '../../src/services/upstream/upstream.ts';
import { sampleCounts, sampleLoad } from '../../../bench-lab/testing/samples.ts';
import { measure, textsOf } from './one-trial.ts';

describe('a trial with an upstream', () => {
  // 10 fixtures for each of 50,000 responses; three requests of the verification.
  const looks = [
    { requests: 0, fetchUs: 700 },
    { requests: 30, fetchUs: 900 },
    { requests: 500_030, fetchUs: 800 },
  ];
  const line = '--workload gather';
  const counts = sampleCounts({ ok: 50_000 });
  const load = sampleLoad({ counts, lifetime: counts });

  it('checks it before the launch, and before and after the load', async () => {
    const { trial, world } = await measure({ looks, load }, { line });
    expect(world.done.filter((step) => /^(look|launch|open|close)/.test(step))).toEqual([
      'look',
      'launch 001-fastify-c10-r1',
      'look',
      'open',
      'close',
      'look',
    ]);
    expect(trial).toMatchObject({
      status: 'ok',
      companions: { upstream: { kind: 'nginx', version: '1.22.1' } },
      params: { fixtures: 10, items: 20 },
      measured: { companions: { upstream: { requests: 500_000, fetchUs: 900 } } },
    });
  });

  it('fails if the upstream got fewer requests than the responses needed', async () => {
    const few = looks.with(2, { requests: 40, fetchUs: 800 });
    const { trial } = await measure({ looks: few, load }, { line });
    expect(trial).toMatchObject({
      status: 'failed',
      partial: { companions: { upstream: { requests: 10 } } },
    });
    expect(trial.reasons.map(({ code }) => code)).toEqual(['upstream-count']);
  });

  it.each([1, 2, 3])('fails because of the upstream if check %d finds it down', async (time) => {
    const look = (count: number): void => {
      if (count === time) throw new UpstreamError({ kind: 'nginx', version: '1.22.1' }, 'is down');
    };
    const { trial } = await measure({ looks, load, at: { look } }, { line });
    expect(trial.status).toBe('failed');
    expect(textsOf(trial)).toEqual(['companion: the upstream (nginx 1.22.1) is down']);
  });
});

const died = () => new Promise<void>(() => {});
const ended = (): string | undefined => 'ended by signal 9';

const down = (): void => {
  throw new DatabaseError({ kind: 'embedded', version: '18.4' }, 'is down');
};

describe('a trial with a database', () => {
  const line = '--workload users-insert';
  // The fake effects verify nothing, so the generators send all inserts.
  const lifetime = sampleCounts({ ok: 50_000 });
  const load = sampleLoad({ counts: lifetime, lifetime });

  it('creates the table before the launch, and counts its rows after the stop', async () => {
    const { trial, world } = await measure({ stored: 50_000, load }, { line });
    expect(world.done.filter((step) => /^(table|launch|close|stop|count|drop)/.test(step))).toEqual([
      'table',
      'launch 001-fastify-c10-r1 with postgresql://127.0.0.1/trial',
      'close',
      'stop',
      'count rows',
      'drop',
    ]);
    expect(trial).toMatchObject({
      status: 'ok',
      companions: { database: { kind: 'embedded', version: '18.4', maxConnections: 500 } },
      measured: {
        companions: { database: { inserts: { acknowledged: 50_000, stored: 50_000, unanswered: 0 } } },
      },
    });
  });

  it('counts no rows if the workload inserts nothing', async () => {
    const { trial, world } = await measure({ stored: 7, load }, { line: '--workload users' });
    expect(world.done).not.toContain('count rows');
    expect(world.done).toContain('drop');
    expect(trial.status).toBe('ok');
  });

  it('fails first for missing rows', async () => {
    const { trial } = await measure({ stored: 49_999, load }, { line });
    expect(trial).toMatchObject({
      status: 'failed',
      partial: { companions: { database: { inserts: { stored: 49_999 } } } },
    });
    expect(trial.reasons.map(({ code }) => code)).toEqual(['inserts']);
  });

  it('counts what was acknowledged before the server died', async () => {
    const { trial } = await measure({ stored: 49_000, load, at: { fire: died }, ended }, { line });
    expect(trial.reasons.map(({ code }) => code)).toEqual(['trial', 'inserts']);
  });

  it.each([
    ['table', []],
    ['count rows', ['stop', 'count rows', 'drop']],
    ['drop', ['stop', 'count rows', 'drop']],
  ] as const)(
    'fails because of the database if it is down (%s), and stops the server',
    async (step, last) => {
      const { trial, world } = await measure({ stored: 50_000, load, at: { [step]: down } }, { line });
      expect(trial.status).toBe('failed');
      expect(textsOf(trial)).toEqual(['companion: the database (embedded 18.4) is down']);
      expect(world.done.slice(world.done.length - last.length)).toEqual(last);
    },
  );
});
