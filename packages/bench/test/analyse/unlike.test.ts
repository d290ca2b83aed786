import { describe, expect, it } from 'vitest';
import { describeUnknown, unlikeRuns } from '../../src/analyse/unlike.ts';
import type { UrlRequest } from '../../src/model.ts';
import type { StoredRun } from '../../src/results/store.ts';
import { okTrial, readGoldenRun, sampleMeasured, samplePlan } from '../samples.ts';

/** A run of a server by its URL that sent this. */
function urlRun(asked: Partial<UrlRequest> = {}): StoredRun {
  const plan = samplePlan('--url http://127.0.0.1:3000/orders --method POST --connections 10', []);
  return { ...readGoldenRun(), plan: { ...plan, url: { ...plan.url!, ...asked } }, trials: [] };
}

const body = (text: string, digest: string): StoredRun => urlRun({ body: text, digests: { body: digest } });

describe('runs by --url', () => {
  const plain = urlRun();

  it('are alike if they ask and expect the same', () => {
    expect(unlikeRuns(plain, urlRun(), undefined)).toEqual([]);
    expect(unlikeRuns(body('{}', 'aa'), body('{}', 'aa'), undefined)).toEqual([]);
  });

  it('are unlike by body, header and expected answer, by name', () => {
    expect(unlikeRuns(body('{"a":1}', 'aa'), body('{"a":2}', 'bb'), undefined)).toEqual([
      'request body: aa and bb',
    ]);
    expect(unlikeRuns(plain, urlRun({ headers: { accept: 'text/html' } }), undefined)).toEqual([
      'header accept: none and text/html',
    ]);
    expect(unlikeRuns(plain, urlRun({ headers: { cookie: 'abc' } }), undefined)).toEqual([
      'header cookie: none and (not kept)',
    ]);
    const expected = urlRun({ expect: 'ok', digests: { expect: 'cc' } });
    expect(unlikeRuns(plain, expected, undefined)).toEqual(['expected answer: none and cc']);
  });

  it('are alike if one names the type of a body that the other leaves as it is', () => {
    const json = urlRun({
      body: '{}',
      digests: { body: 'aa' },
      headers: { 'content-type': 'application/json' },
    });
    expect(unlikeRuns(body('{}', 'aa'), json, undefined)).toEqual([]);
  });

  it('are unlike by what was in the file, and alike if a text says the same', () => {
    expect(unlikeRuns(body('@a.json', 'one'), body('@a.json', 'two'), undefined)).toEqual([
      'request body: one and two',
    ]);
    expect(unlikeRuns(body('@a.json', 'one'), body('{}', 'one'), undefined)).toEqual([]);
  });

  it('of older versions are compared by what was typed', () => {
    const { digests: _, ...old } = body('x', '').plan.url!;
    const older = { ...plain, plan: { ...plain.plan, url: old } };
    expect(unlikeRuns(older, body('x', 'aa'), undefined)).toEqual([]);
    expect(unlikeRuns(older, body('y', 'aa'), undefined)).toEqual(['request body: x and y']);
  });

  it('name what nobody can know', () => {
    const secret = urlRun({ headers: { authorization: 'Bearer abcdef' } });
    expect(unlikeRuns(secret, secret, undefined)).toEqual([]);
    expect(describeUnknown(secret, secret)).toEqual([
      'unknown: whether both runs sent the same authorization, because its value is never stored',
    ]);
    expect(describeUnknown(secret, plain)).toEqual([]);
    const { digests: _, ...typed } = body('@a.json', '').plan.url!;
    const older = { ...plain, plan: { ...plain.plan, url: typed } };
    expect(describeUnknown(older, body('@a.json', 'aa'))).toEqual([
      'unknown: whether the file of --body was the same, because a run did not keep its digest',
    ]);
    expect(describeUnknown(readGoldenRun(), readGoldenRun())).toEqual([]);
  });
});

/** A run of a load driver of this version. */
function sentBy(engine: 'autocannon' | 'wrk', version?: string): StoredRun {
  const plan = samplePlan(`--engine ${engine} --connections 10`, ['vanilla']);
  const driver = version === undefined ? {} : { driver: { name: engine, version } };
  return { ...readGoldenRun(), plan, trials: [okTrial('vanilla', sampleMeasured(), { engine, ...driver })] };
}

describe('runs of two versions of the load driver', () => {
  const [old, now] = [sentBy('autocannon', '1'), sentBy('autocannon', '2')];

  it('are unlike, unless the engine is what is compared', () => {
    expect(unlikeRuns(old, old, undefined)).toEqual([]);
    expect(unlikeRuns(old, now, undefined)).toEqual(['load driver: autocannon 1 and autocannon 2']);
    expect(unlikeRuns(old, now, 'workers')).toHaveLength(1);
    expect(unlikeRuns(old, now, 'engine')).toEqual([]);
  });

  it('of two engines are unlike by the engine alone', () => {
    expect(unlikeRuns(old, sentBy('wrk', '4.1.0'), undefined)).toEqual(['engine: autocannon and wrk']);
  });

  it('are not refused if one does not tell its version, and the output says so', () => {
    const silent = sentBy('wrk');
    expect(unlikeRuns(silent, sentBy('wrk', '4.2.0'), undefined)).toEqual([]);
    expect(describeUnknown(silent, sentBy('wrk', '4.2.0'))).toEqual([
      'unknown: whether both runs used the same version of wrk, because a run did not keep it',
    ]);
    expect(describeUnknown(sentBy('wrk', '4.1.0'), sentBy('wrk', '4.2.0'))).toEqual([]);
  });
});
