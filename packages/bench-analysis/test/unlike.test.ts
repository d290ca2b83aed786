import { describe, expect, it } from 'vitest';
import { describeUnknown, unlikeRuns } from '../src/unlike.ts';
import type { UserRequests, UserRequest } from 'bench-model/requests';
import { plan as planDefinition } from 'bench-model/plan';
import { redact } from 'bench-machine/redact';
import type { StoredRun } from '../src/results/store.ts';
import { okTrial, readGoldenRun, sampleMeasured, samplePlan } from '../../bench-lab/testing/samples.ts';

function runOf(userRequests: Partial<UserRequests> = {}): StoredRun {
  const plan = samplePlan('http://127.0.0.1:3000 --request "POST /orders" --connections 10', []);
  return {
    ...readGoldenRun(),
    plan: redact({ ...plan, userRequests: { ...plan.userRequests!, ...userRequests } }),
    trials: [],
  };
}

const request = (given: Partial<UserRequest>): UserRequest => ({
  method: 'POST',
  path: '/orders',
  weight: 1,
  headers: {},
  ...given,
});
const one = (given: Partial<UserRequest>, files: UserRequests['files'] = {}): StoredRun =>
  runOf({ requests: [request(given)], files });
const differences = (a: StoredRun, b: StoredRun): string[] => unlikeRuns(a, b, undefined);

/** The fields of a plan in which comparable runs may differ, or that other differences show. */
const NOT_COMPARED = {
  identity: ['schema', 'run', 'seed', 'trials', 'stacks', 'apps', 'attached'],
  'how many rounds there are': ['rounds', 'sequentialTest'],
  'before and after the window': ['startSeconds', 'startupSeconds', 'barrierSeconds'],
  'takes turns of its own': ['control'],
  'follows from the workload': ['waitSeconds', 'hashEvery', 'answerSeconds'],
  'follows from the turns': ['apart'],
  'shown by the targets': ['targets', 'upgrade'],
  'never compared at all': ['quick'],
};

describe('two runs', () => {
  it('are compared by every field of their plans, except those listed here', () => {
    const read = new Set<string>();
    const { plan, ...run } = readGoldenRun();
    const watched = new Proxy(plan, {
      get(target, field) {
        read.add(String(field));
        return Reflect.get(target, field);
      },
    });
    unlikeRuns({ ...run, plan: watched }, { ...run, plan: watched }, undefined);
    const missed = Object.keys(planDefinition.properties).filter((field) => !read.has(field));
    expect(missed.toSorted()).toEqual(Object.values(NOT_COMPARED).flat().toSorted());
  });
});

const both = (weight: number) => runOf({ requests: [request({}), request({ path: '/b', weight })] });
/** A request whose body is a file of this digest. */
const file = (digest: string) => one({ body: '@a.json' }, { '@a.json': digest });

describe('runs of user requests', () => {
  const plain = runOf();

  it('are alike if they send and expect the same', () => {
    expect(differences(plain, runOf())).toEqual([]);
    expect(differences(one({ body: '{}' }), one({ body: '{}' }))).toEqual([]);
  });

  it('are unlike if a path, weight, body, header or expected response differs', () => {
    expect(differences(plain, one({ path: '/users' }))).toEqual(['request: POST /orders and POST /users']);
    expect(differences(both(1), both(2))).toEqual(['request 2: POST /b × 1 and POST /b × 2']);
    expect(differences(one({ body: '{"a":1}' }), one({ body: '{"a":2}' }))).toEqual([
      expect.stringMatching(/^request body: [0-9a-f]{16} and [0-9a-f]{16}$/),
    ]);
    expect(differences(plain, one({ headers: { accept: 'text/html' } }))).toEqual([
      'header accept: none and text/html',
    ]);
    expect(differences(plain, one({ headers: { cookie: 'abc' } }))).toEqual([
      'header cookie: none and (not kept)',
    ]);
    expect(differences(plain, one({ expect: { statuses: [201] } }))).toEqual([
      'expected response: none and status 201',
    ]);
  });

  it('are alike if one names the default content type of a body', () => {
    const json = one({ body: '{}', headers: { 'content-type': 'application/json' } });
    expect(differences(one({ body: '{}' }), json)).toEqual([]);
  });

  it('are unlike if the content of a file, the rows or the login differ', () => {
    expect(differences(file('1'.repeat(64)), file('2'.repeat(64)))).toEqual([
      'request body: 1111111111111111 and 2222222222222222',
    ]);
    const rows = { file: 'a.csv', count: 3, names: ['id'], sha256: 'a'.repeat(64) };
    expect(differences(plain, runOf({ rows }))).toEqual(['rows: none and 3, aaaaaaaaaaaaaaaa']);
    const login = { method: 'POST', path: '/in', headers: {}, token: { json: '/t' }, send: {} };
    expect(differences(plain, runOf({ login }))).toEqual(['login: none and POST /in']);
  });

  it('report what a record cannot show', () => {
    const secret = one({ headers: { authorization: 'Bearer abcdef' } });
    expect(differences(secret, secret)).toEqual([]);
    expect(describeUnknown(secret, secret)).toEqual([
      'unknown: whether both runs sent the same authorization, because its value is never stored',
    ]);
    expect(describeUnknown(secret, plain)).toEqual([]);
    expect(describeUnknown(readGoldenRun(), readGoldenRun())).toEqual([]);
  });
});

function sentBy(engine: 'autocannon' | 'wrk', version?: string): StoredRun {
  const plan = samplePlan(`--engine ${engine} --connections 10`, ['vanilla']);
  const driver = version === undefined ? {} : { driver: { name: engine, version } };
  return { ...readGoldenRun(), plan, trials: [okTrial('vanilla', sampleMeasured(), { engine, ...driver })] };
}

describe('runs of two versions of the load driver', () => {
  const [old, now] = [sentBy('autocannon', '1'), sentBy('autocannon', '2')];

  it('are unlike without --across engine', () => {
    expect(unlikeRuns(old, old, undefined)).toEqual([]);
    expect(unlikeRuns(old, now, undefined)).toEqual(['load driver: autocannon 1 and autocannon 2']);
    expect(unlikeRuns(old, now, 'workers')).toHaveLength(1);
    expect(unlikeRuns(old, now, 'engine')).toEqual([]);
  });

  it('are unlike only by the engine if the engines differ', () => {
    expect(unlikeRuns(old, sentBy('wrk', '4.1.0'), undefined)).toEqual(['engine: autocannon and wrk']);
  });

  it('are alike if one version is unknown, and the output says so', () => {
    const silent = sentBy('wrk');
    expect(unlikeRuns(silent, sentBy('wrk', '4.2.0'), undefined)).toEqual([]);
    expect(describeUnknown(silent, sentBy('wrk', '4.2.0'))).toEqual([
      'unknown: whether both runs used the same version of wrk, because a run did not keep it',
    ]);
    expect(describeUnknown(sentBy('wrk', '4.1.0'), sentBy('wrk', '4.2.0'))).toEqual([]);
  });
});

describe('runs of Node servers', () => {
  const run = readGoldenRun();
  const age = { secondsSinceStart: 3 };
  const aged = (collected?: number): StoredRun => ({
    ...run,
    trials: ['fastify', 'gin'].map((id) => {
      const isAsked = id === 'fastify' && collected !== undefined;
      return okTrial(id, sampleMeasured({ given: { age: { ...age, ...(isAsked && { collected }) } } }));
    }),
  });

  it('are unlike if only one of them collected garbage before the load', () => {
    const found = ['collection: before the load of fastify and none'];
    expect(differences(aged(1), aged())).toEqual(found);
    expect(differences(aged(1), aged(0))).toEqual(found);
    expect(differences(aged(), aged(1))).toEqual(['collection: none and before the load of fastify']);
    expect(unlikeRuns(aged(1), aged(), 'collection')).toEqual([]);
  });

  it('are alike if both did, or neither, however many processes there were', () => {
    expect(differences(aged(1), aged(2))).toEqual([]);
    expect(differences(aged(0), aged())).toEqual([]);
  });
});

function runBy(byTurns: StoredRun['plan']['byTurns']): StoredRun {
  const plan = samplePlan('--connections 10,100,10000');
  return { ...readGoldenRun(), plan: { ...plan, ...(byTurns && { byTurns }) }, trials: [] };
}

describe('runs whose servers take turns', () => {
  const apart = runBy(undefined);
  const table = runBy({ rungs: [10, 100], turnSeconds: 0.1 });

  it('are unlike runs of one server at a time, and those with other turns', () => {
    const words = 'in turns of 100 ms at 10, 100, one server at a time at 10000';
    expect(differences(table, runBy({ rungs: [10, 100], turnSeconds: 0.1 }))).toEqual([]);
    expect(differences(apart, table)).toEqual([`kind of trial: one server at a time and ${words}`]);
    expect(differences(table, runBy({ rungs: [10, 100, 10_000], turnSeconds: 0.02 }))).toEqual([
      `kind of trial: ${words} and in turns of 20 ms`,
    ]);
  });
});
