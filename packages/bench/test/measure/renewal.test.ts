import { describe, expect, it } from 'vitest';
import { splitWindow } from '../../src/measure/conductor.ts';
import { run } from '../../src/measure/run.ts';
import { errorOf, sampleTurns, sampleStack } from '../../../bench-lab/testing/samples.ts';
import { benchOptions } from 'bench-model/options';
import { measuredOf } from 'bench-model/trial';
import { makePlan } from '../../src/plan/plan.ts';
import { PLACED } from './one-trial.ts';
import { createWorld, prepareFor } from './world.ts';

const LOGIN = { method: 'POST', path: '/login', headers: {}, token: { json: '' }, send: {} };

describe('a window that outlives a token', () => {
  const whole = { warmupSeconds: 0.5, windowSeconds: 5, load: { mode: 'closed' as const } };

  it('has parts no longer than the token is used, which add up to it', () => {
    const parts = splitWindow(whole, 1.5);
    for (const { warmupSeconds, windowSeconds } of parts)
      expect(warmupSeconds + windowSeconds).toBeLessThanOrEqual(1.5);
    expect(parts.map(({ windowSeconds }) => windowSeconds)).toEqual([1.25, 1.25, 1.25, 1.25]);
    // Each part has a short lead beside it.
    expect(parts.map(({ warmupSeconds }) => warmupSeconds)).toEqual([0.1, 0.1, 0.1, 0.1]);
  });

  it('stays whole if the token lasts', () => {
    expect(splitWindow(whole, 7)).toEqual([whole]);
    expect(splitWindow(whole)).toEqual([whole]);
    expect(splitWindow({ ...whole, warmupSeconds: 0 }, 3)).toHaveLength(2);
  });
});

describe('servers that take turns', () => {
  it('log in between them, each for itself, and send their new requests', async () => {
    const line = '--rounds 1 --connections 10 --duration 0.2 --warmup 0 --get /orders';
    const plan = sampleTurns(line);
    // So short that every turn needs another token.
    plan.userRequests = { ...plan.userRequests!, login: { ...LOGIN, every: 0.001 } };
    const world = createWorld({ turns: true });
    const { effects, done } = world;
    const trials = await run(
      plan,
      { placed: PLACED, prepared: prepareFor(plan), before: [] },
      {
        ...effects,
        async logIn({ port }, draw) {
          done.push(`login ${port}`);
          world.spend(port, 5000);
          return { ...draw, requests: [{ method: 'GET', path: `/${port}`, headers: {} }] };
        },
      },
    );
    expect(trials.map(({ status }) => status)).toEqual(['ok', 'ok']);
    // The login is work of no response.
    for (const trial of trials)
      expect(measuredOf(trial)?.turns).toMatchObject({ restsCpuUs: 0, deferred: 0 });
    const turns = done.flatMap((step, at) => {
      const [, port] = /^turn (\d+)/.exec(step) ?? [];
      return port === undefined
        ? []
        : [{ port, before: done.slice(0, at).filter((one) => !one.startsWith('read')) }];
    });
    expect(turns.length).toBeGreaterThan(4);
    for (const { port, before } of turns)
      expect(before.slice(-2)).toEqual([`login ${port}`, `replace ${port} /${port}`]);
  });

  it('begin each load with the newest token, that of all requests too', async () => {
    const plan = sampleTurns('--rounds 1 --connections 10 --duration 0.2 --warmup 0 --get /a --get /b');
    plan.userRequests = { ...plan.userRequests!, login: { ...LOGIN, every: 0 } };
    const { effects, done } = createWorld({ turns: true, tellWindows: true });
    let logins = 0;
    const trials = await run(
      plan,
      { placed: PLACED, prepared: prepareFor(plan), before: [] },
      {
        ...effects,
        async logIn(_server, draw) {
          logins++;
          done.push('login');
          const requests = draw.requests.map((one) => ({ ...one, path: `${one.path}?login=${logins}` }));
          return { ...draw, requests };
        },
      },
    );
    expect(trials.map(({ status }) => status)).toEqual(['ok', 'ok', 'ok', 'ok']);
    const arms = done.flatMap((step, at) => {
      const [, login] = /^arm .*login=(\d+)/.exec(step) ?? [];
      const before = done.slice(0, at).filter((one) => one === 'login').length;
      return login === undefined ? [] : [before - Number(login)];
    });
    // Two servers log in one after the other before they connect: all requests, /a and /b.
    expect(arms).toEqual([1, 0, 1, 0, 1, 0]);
  });

  it('cannot pause in a load of a fixed amount', () => {
    const draft = { requests: [], login: { ...LOGIN, every: 15 } };
    const options = benchOptions({
      servers: [{ url: new URL('http://127.0.0.1:3000') }],
      userRequests: { requests: [{ method: 'GET', path: '/' }], headers: {}, draft },
      load: { mode: 'amount', requests: 20_000 },
    });
    expect(errorOf(() => makePlan(options, [sampleStack('a')], 'here', 1)).message).toBe(
      'the login is sent again every 15 s, and a load of --amount is one window',
    );
  });
});
