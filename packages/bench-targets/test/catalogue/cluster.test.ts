import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readCluster } from '../../src/catalogue/cluster.ts';
import { makePlan } from 'bench-http/plan/plan';
import { errorOf, parseBench, sampleStack } from '../../../bench-lab/testing/samples.ts';

const SMALL = { address: '10.0.0.1:6379', generators: 2 };

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-cluster-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(content: object): string {
  const file = join(folder, 'bench.cluster.json');
  writeFileSync(file, JSON.stringify(content, undefined, 2));
  return file;
}

function refusalOf(content: object): string {
  const error = errorOf(() => readCluster(write(content)));
  expect(error.code).toBe('usage');
  return error.message.replace(`${folder}/`, '');
}

function planOf(line: string, content: object = SMALL): ReturnType<typeof makePlan> {
  const words = line.split(' ').filter(Boolean);
  return makePlan(parseBench(['a', '--cluster', write(content), ...words]), [sampleStack('a')], 'run', 1);
}

describe('bench.cluster.json', () => {
  it('needs only an address and a number of hosts', () => {
    expect(readCluster(write(SMALL))).toEqual({
      cluster: {
        ...SMALL,
        roles: { server: 'server', generator: 'generator' },
        processes: 1,
        leadMs: 500,
        skewMs: 100,
        deadlineSeconds: 10,
        connectSeconds: 30,
      },
    });
  });

  it.each([
    [
      { ...SMALL, spread: { hosts: 2 } },
      /^bench\.cluster\.json:3: the cluster has no field "generators", expected one of .*spread/,
    ],
    [
      { address: SMALL.address, spread: { hosts: 2 }, processes: 2 },
      /^bench\.cluster\.json:6: the cluster has no field "processes"/,
    ],
    [
      { address: SMALL.address, spread: { hosts: 2 }, roles: { generator: 'far' } },
      /^bench\.cluster\.json:7: "roles" has no field "generator", expected one of server/,
    ],
    [
      { ...SMALL, roles: { generator: '' } },
      /^bench\.cluster\.json:5: "roles\.generator" must NOT have fewer/,
    ],
    [
      { ...SMALL, roles: { cache: 'far' } },
      /^bench\.cluster\.json:5: "roles" has no field "cache", expected one of server, generator$/,
    ],
    [{ address: SMALL.address }, /^bench\.cluster\.json:1: the cluster needs the field "generators"/],
    [
      { address: SMALL.address, spread: { hosts: 0 } },
      /^bench\.cluster\.json:4: "spread\.hosts" must be >= 1/,
    ],
    [
      { address: SMALL.address, spread: { hosts: 2, threshold: 1 } },
      /^bench\.cluster\.json:5: "spread\.threshold" must be < 1/,
    ],
    [{ ...SMALL, hosts: 2 }, /^bench\.cluster\.json:4: the cluster has no field "hosts"/],
    [{ ...SMALL, generators: 0 }, /^bench\.cluster\.json:3: "generators" must be >= 1/],
    [{ ...SMALL, address: 'http://10.0.0.1' }, /^bench\.cluster\.json:2: "address" must match/],
    [{ generators: 1 }, /^bench\.cluster\.json:1: the cluster needs the field "address"/],
    [{ ...SMALL, addresses: { b: [] } }, /^bench\.cluster\.json:\d: "addresses\.b" must NOT have fewer/],
    [
      { ...SMALL, leadMs: 10, skewMs: 30 },
      /^bench\.cluster\.json:5: "skewMs" 30 is longer than the lead of 10 ms/,
    ],
  ])('is refused with its line: %o', (content, message) => {
    expect(refusalOf(content)).toMatch(message);
  });
});

describe('a file that spreads rounds', () => {
  const spread = { hosts: 3 };
  const content = { address: SMALL.address, spread, connections: [60], roles: { server: 'twin' } };

  it('needs only an address and a number of hosts', () => {
    expect(readCluster(write(content))).toEqual({
      spread: { address: SMALL.address, role: 'twin', hosts: 3, threshold: 0.05, deadlineSeconds: 10 },
      connections: [60],
    });
  });

  it('makes the plan of one machine, with its hosts', () => {
    const { trials, spread: hosts, ...plan } = planOf('--rounds 4', content);
    expect(hosts).toMatchObject({ hosts: 3, role: 'twin' });
    const { trials: same, ...single } = makePlan(
      parseBench(['a', '--rounds', '4', '--connections', '60']),
      [sampleStack('a')],
      'run',
      1,
    );
    expect([plan, trials]).toEqual([single, same]);
  });

  it('is refused for servers that are already running', () => {
    const words = ['http://127.0.0.1:3000', '--cluster', write(content)];
    expect(errorOf(() => makePlan(parseBench(words), [], 'run', 1)).message).toContain(
      '--cluster starts its servers itself',
    );
  });
});

describe('a plan with a cluster', () => {
  it('has as many generators as all hosts together, and the connections of the file', () => {
    const plan = planOf('', { ...SMALL, processes: 3, connections: [60, 600] });
    expect(plan).toMatchObject({ generators: 6, rungs: [60, 600], cluster: { generators: 2, processes: 3 } });
  });

  it('takes the connections of the command line first', () => {
    expect(planOf('--connections 70', { ...SMALL, connections: [60] }).rungs).toEqual([70]);
  });

  it.each([
    ['--engine wrk', '--cluster takes the load driver of Bench, not wrk'],
    ['--amount 1000', '--cluster sends for a time, not an exact number of requests'],
    ['--connections 1', '--cluster has 2 generator processes, which cannot share 1 connections'],
  ])('is refused with %s', (line, message) => {
    expect(errorOf(() => planOf(line)).message).toBe(message);
  });
});
