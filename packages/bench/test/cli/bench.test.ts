import { describe, expect, it } from 'vitest';
import BENCH from '../../src/commands/bench.ts';
import { errorOf } from '../../../bench-lab/testing/samples.ts';
import { benchOptions } from 'bench-model/options';

const URL_WORDS = ['http://127.0.0.1:3000/orders?page=2'];
const parse = (line: string) => BENCH.parse(line.split(' ').filter(Boolean));

describe('bench', () => {
  it('omits options that were not given, so that the workload decides', () => {
    expect(parse('')).toEqual({
      ...benchOptions(),
      ifTwo: { by: 'cpu', threshold: 0.02 },
      dryRun: false,
      wait: false,
      json: false,
      detail: false,
      typed: [],
    });
  });

  it('reads targets and numbers', () => {
    const line =
      'fastapi/* litestar --connections 10,1000 --rounds 3 --duration 5 --warmup 0 --timeout 2.5s --workers 2 ' +
      '--workload wait --threads 2 --cores 3 --detail';
    expect(parse(line)).toMatchObject({
      targets: ['fastapi/*', 'litestar'],
      connections: [10, 1000],
      rounds: 3,
      windowSeconds: 5,
      warmupSeconds: 0,
      timeoutSeconds: 2.5,
      workers: 2,
      threads: 2,
      cores: 3,
      workload: 'wait',
      detail: true,
    });
  });

  it('collects the values of a repeated option', () => {
    const { stacks, params, matrix } = parse(
      '--stack a.json --stack b.json --param n=24 --param size=0 --with a==1 --with ./b',
    );
    expect({ stacks, params, packages: matrix.packages }).toEqual({
      stacks: ['a.json', 'b.json'],
      params: { n: 24, size: 0 },
      packages: ['a==1', './b'],
    });
    expect(parse('')).not.toHaveProperty('params');
  });

  it('splits lists at commas that belong to no value', () => {
    const { stacks, params, matrix } = parse(
      '--stack a.json,b.json --param n=24,size=0 --with fastapi[all]==0.115,0.116,a>=1,<2,@b/c@5.1,v5.2,./d',
    );
    const { servers, userRequests } = parse(
      'old=http://h:1 new=http://h:2 --get /a?ids=1,2,/b --header x:1,2',
    );
    expect({ stacks, params, packages: matrix.packages }).toEqual({
      stacks: ['a.json', 'b.json'],
      params: { n: 24, size: 0 },
      packages: ['fastapi[all]==0.115', 'fastapi[all]==0.116', 'a>=1,<2', '@b/c@5.1', '@b/c@v5.2', './d'],
    });
    expect(servers?.map(({ name, url }) => `${name} ${url.host}`)).toEqual(['old h:1', 'new h:2']);
    expect(userRequests).toMatchObject({
      requests: [{ path: '/a?ids=1,2' }, { path: '/b' }],
      headers: { x: '1,2' },
    });
    const two = BENCH.parse(['HEAD~1', 'HEAD', '--request', 'POST /a, PUT /b', '--run', './x']);
    expect(two.userRequests?.requests.map(({ method }) => method)).toEqual(['POST', 'PUT']);
    expect(two.revisions).toEqual(['HEAD~1', 'HEAD']);
  });

  it('starts a second command line with empty lists', () => {
    parse('--stack a.json');
    expect(parse('').stacks).toEqual([]);
  });

  it('does not split at commas inside braces', () => {
    expect(parse('--python 3.12,3.14{A=1,B=2} --node 22').matrix).toEqual({
      python: ['3.12', '3.14{A=1,B=2}'],
      node: ['22'],
      packages: [],
    });
  });

  it('reads a background request', () => {
    expect(BENCH.parse(['--background', 'GET /fib/42?a=b']).background).toEqual({
      method: 'GET',
      path: '/fib/42?a=b',
    });
  });

  it('gives a body to the background request if no other request can have it', () => {
    const words = ['--get', '/', '--background', 'POST /login', '--body', '{"user":"ada"}'];
    expect(BENCH.parse(words)).toMatchObject({
      background: { method: 'POST', path: '/login', body: '{"user":"ada"}' },
      userRequests: { requests: [{ method: 'GET', path: '/' }] },
    });
    expect(BENCH.parse(words).userRequests?.body).toBeUndefined();
    const both = BENCH.parse([...words, '--request', 'POST /orders']);
    expect([both.background?.body, both.userRequests?.body]).toEqual([undefined, '{"user":"ada"}']);
  });

  it('reads a rate, and an amount', () => {
    expect(parse('--rate 2000').load).toEqual({ mode: 'open', perSecond: 2000 });
    expect(parse('--amount 500').load).toEqual({ mode: 'amount', requests: 500 });
    expect(parse('').load).toEqual({ mode: 'closed' });
  });

  it('reads promises, which are decided by capacity', () => {
    const promises = [{ of: 'p99', belowUs: 50_000 }];
    expect(parse('--slo p99<50ms --by capacity')).toMatchObject({
      load: { mode: 'promise', promises },
      sequentialTest: { by: 'capacity' },
    });
    expect(parse('--slo p99<50ms --by cpu').sequentialTest).toMatchObject({ by: 'cpu' });
  });

  it('reads loads as rates, the first of which is the main one, or as shares of a capacity', () => {
    const rates = [{ perSecond: 1000 }, { perSecond: 2000 }];
    expect(parse('--rate 500,1000,2000').load).toEqual({ mode: 'open', perSecond: 500, curve: rates });
    expect(parse('--slo p99<50ms --rate 25%,500').load).toMatchObject({
      curve: [{ share: 0.25 }, { perSecond: 500 }],
    });
    expect(() => parse('--rate 25%')).toThrow('--rate: a share needs the capacity');
  });

  it('lets the plan choose turns unless --no-interleave forbids them', () => {
    expect([parse('--no-interleave').interleave, parse('').interleave]).toEqual([false, undefined]);
  });

  it('reads when a sequential test stops, and by which metric', () => {
    expect(parse('--threshold 2%').sequentialTest).toEqual({ by: 'cpu', threshold: 0.02 });
    expect(parse('--budget 10m --by p99 --threshold 3%').sequentialTest).toEqual({
      by: 'p99',
      threshold: 0.03,
      budgetSeconds: 600,
    });
    expect(parse('--slo p99<50ms --by capacity').sequentialTest).toEqual({ by: 'capacity', threshold: 0.05 });
    expect(parse('').sequentialTest).toBeUndefined();
  });

  it('reads --resume and --again with options that change only the output', () => {
    expect(parse('--resume a-run --json')).toMatchObject({ resume: 'a-run', json: true });
    expect(parse('--again a-run --detail')).toMatchObject({ again: 'a-run', detail: true });
  });

  it('reads a URL and headers with a stored run as its secrets', () => {
    const parsed = parse('--resume a-run http://me:pw@127.0.0.1:1/');
    expect(parsed.secrets).toEqual({
      url: new URL('http://127.0.0.1:1/'),
      headers: { authorization: 'Basic bWU6cHc=' },
    });
    expect(parsed).not.toHaveProperty('servers');
    expect(parsed).not.toHaveProperty('userRequests');
    expect(parse('--again a-run --header x-key:1').secrets).toEqual({ headers: { 'x-key': '1' } });
  });
});

const requestsOf = (...words: string[]) => BENCH.parse([...URL_WORDS, ...words]).userRequests;

const messageOf = (...words: string[]) => errorOf(() => BENCH.parse(words)).message;

describe('an address', () => {
  it('sends GET, or POST with a body', () => {
    const { servers, userRequests } = BENCH.parse(URL_WORDS);
    expect(servers).toEqual([{ url: new URL('http://127.0.0.1:3000/orders?page=2') }]);
    expect(userRequests).toEqual({ requests: [{ method: 'GET', path: '/orders?page=2' }], headers: {} });
    expect(requestsOf('--body', '{}')).toMatchObject({ requests: [{ method: 'POST' }], body: '{}' });
    expect(requestsOf('--body', '')?.body).toBe('');
  });

  it('reads headers', () => {
    const words = ['--header', 'Authorization: a: b', '--header', 'x-empty:'];
    expect(requestsOf(...words)).toMatchObject({ headers: { authorization: 'a: b', 'x-empty': '' } });
  });

  it('names several servers', () => {
    const words = ['old=http://127.0.0.1:1', 'new=http://127.0.0.1:2'];
    const { servers, userRequests } = BENCH.parse([
      ...words,
      '--get',
      '/a',
      '--request',
      'POST /b',
      '--body',
      'x',
    ]);
    expect(servers).toEqual([
      { name: 'old', url: new URL('http://127.0.0.1:1') },
      { name: 'new', url: new URL('http://127.0.0.1:2') },
    ]);
    expect(userRequests?.requests).toEqual([
      { method: 'GET', path: '/a' },
      { method: 'POST', path: '/b' },
    ]);
  });

  it('refuses paths that differ, and a path beside other requests', () => {
    const one = ['http://127.0.0.1:1/a'];
    expect(messageOf(...one, 'http://127.0.0.1:2/b')).toContain('different paths: /a and /b');
    expect(messageOf(...one, '--get', '/b')).toContain('has the path /a');
  });
});
