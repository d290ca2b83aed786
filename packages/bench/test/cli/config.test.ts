import { BenchError } from 'bench-model/errors';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { configSchema, readConfig, refuseUnmeasured } from '../../src/cli/config.ts';
import command from '../../src/commands/bench.ts';
import { errorOf, samplePlan } from '../../../bench-lab/testing/samples.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-config-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(config: unknown): string {
  const file = join(folder, 'bench.config.json');
  writeFileSync(file, typeof config === 'string' ? config : JSON.stringify(config, null, 2));
  return file;
}

const BENCH = {
  run: 'uvicorn app:app --port {port}',
  get: '/orders?limit=20',
  targets: ['main', 'HEAD'],
  connections: [10, 100],
};

/** The message for a configuration with this budget, without the folder. */
function refusalOf(budget: object, bench: object = BENCH): string {
  const file = write({ bench, budgets: [budget] });
  const error = errorOf(() => readConfig(file, command).runs.map(({ request }) => request()));
  expect(error.code).toBe('usage');
  return error.message.replace(`${folder}/`, '');
}

/** The error for a budget of this metric whose run has these options; empty if there is none. */
function refused(words: string, metric: 'p50' | 'p99' | 'p99.9' | 'cpu', connections?: number): string[] {
  const limit = { kind: 'figure', value: 20_000 } as const;
  const budget = { metric, limit, ...(connections === undefined ? {} : { connections }) };
  try {
    refuseUnmeasured({ budget, place: 'bench.config.json:3' }, samplePlan(words));
    return [];
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
    return [error.code, error.message, error.hint ?? ''];
  }
}

/** The error for a budget of a request that the run does not measure alone. */
function refuseRoute(words: string, route: string): BenchError {
  const budget = { metric: 'cpu', route, limit: { kind: 'figure', value: 200 } } as const;
  return errorOf(() => refuseUnmeasured({ budget, place: 'bench.config.json:3' }, samplePlan(words)));
}

describe('bench.config.json', () => {
  it('has a schema with every option that belongs into a file', async () => {
    const text = `${JSON.stringify(configSchema(command), null, 2)}\n`;
    await expect(text).toMatchFileSnapshot('../../../bench-model/schema/config.schema.json');
  });

  it('names the options of bench, and budgets in the units of their metrics', () => {
    const { budgets, runs } = readConfig(
      write({
        bench: BENCH,
        budgets: [
          { metric: 'p99', rate: 500, atMost: '20 ms' },
          { metric: 'cpu', against: 'main', worseByAtMost: '3%' },
          { metric: 'memory', atMost: '200MiB', connections: 100 },
          { metric: 'goodput', atLeast: '1000/s', of: 'HEAD' },
        ],
      }),
      command,
    );
    expect(budgets.map(({ budget }) => budget)).toEqual([
      { metric: 'p99', rate: 500, limit: { kind: 'figure', value: 20_000 } },
      { metric: 'cpu', limit: { kind: 'worse', share: 0.03, against: 'main' } },
      { metric: 'memory', connections: 100, limit: { kind: 'figure', value: 209_715_200 } },
      { metric: 'goodput', of: 'HEAD', limit: { kind: 'figure', value: 1000 } },
    ]);
    expect(runs.map(({ rate, request }) => ({ rate, ...request() }))).toMatchObject([
      { rate: 500, load: { mode: 'open', perSecond: 500 }, revisions: ['main', 'HEAD'], rounds: 12 },
      { rate: undefined, load: { mode: 'closed' }, connections: [10, 100] },
    ]);
  });

  it.each([
    ['an unknown metric', { metric: 'speed', atMost: '1ms' }, '16: "budgets.0.metric"'],
    ['a wrong unit', { metric: 'p99', atMost: '20MB' }, '17: /budgets/0/atMost: "20MB" is not'],
    ['no unit', { metric: 'p99', atMost: '20' }, '17: /budgets/0/atMost: "20" is not'],
    [
      'the wrong direction',
      { metric: 'goodput', atMost: '20/s' },
      '17: /budgets/0/atMost: goodput is better if it is higher, so its limit is "atLeast"',
    ],
    ['no limit', { metric: 'p99' }, '15: /budgets/0: a budget has either "atMost", or'],
    ['half a limit', { metric: 'p99', against: 'main' }, '15: /budgets/0: a budget has either "atMost", or'],
    [
      'a wrong share',
      { metric: 'cpu', against: 'main', worseByAtMost: '300%' },
      '18: /budgets/0/worseByAtMost: "300%" is not a percentage',
    ],
  ])('is refused with %s', (_, budget, message) => {
    expect(refusalOf(budget)).toContain(`bench.config.json:${message}`);
  });

  it('says what a value means that has the wrong type', () => {
    const { hint } = errorOf(() =>
      readConfig(
        write({ bench: BENCH, budgets: [{ metric: 'cpu', against: 'main', worseByAtMost: 3 }] }),
        command,
      ),
    );
    expect(hint).toContain('e.g. 3%');
  });

  it('names the place of an option that bench refuses', () => {
    const budget = { metric: 'p99', atMost: '20ms' };
    expect(refusalOf(budget, { ...BENCH, duration: 'long' })).toContain(
      'bench.config.json:13: /bench/duration: --duration long: expected a span of time',
    );
    expect(refusalOf(budget, { ...BENCH, colour: 'red' })).toContain(
      'bench.config.json:13: "bench" has no field "colour"',
    );
  });

  it('is valid as the documents show it', () => {
    const file = new URL('../../../../docs/examples/bench.config.json', import.meta.url);
    const { runs } = readConfig(fileURLToPath(file), command);
    expect(runs.map(({ request }) => request().revisions)).toEqual([
      ['HEAD^1', 'HEAD'],
      ['HEAD^1', 'HEAD'],
    ]);
    const page = readFileSync(new URL('../guides/ci.md', file), 'utf8');
    expect(page).toContain(readFileSync(file, 'utf8'));
  });

  it('is refused if it is missing or not JSON', () => {
    expect(errorOf(() => readConfig(join(folder, 'none.json'), command)).message).toContain('cannot be read');
    expect(errorOf(() => readConfig(write('{\n"bench": }'), command)).message).toContain(
      'bench.config.json:2: not JSON',
    );
  });

  it('refuses a percentile that needs more responses than a round has requests, with the duration that can', () => {
    expect(refused('--rate 500 --duration 2 --connections 10', 'p99')).toEqual([
      'usage',
      'bench.config.json:3: a p99 needs 1000 responses in each round, and this run sends only 1000 requests',
      'set "duration": 2.1',
    ]);
    expect(refused('--rate 500 --duration 2.1 --connections 10', 'p99')).toEqual([]);
    expect(refused('--rate 500 --duration 2.1 --connections 10,100', 'p99')[2]).toBe('set "duration": 2.2');
    expect(refused('--rate 500 --duration 2.1 --connections 10,100', 'p99', 10)).toEqual([]);
    expect(refused('--rate 500 --duration 2 --connections 10', 'p99.9')[2]).toBe('set "duration": 20.1');
    expect(refused('--rate 500 --duration 2 --connections 10', 'p50')).toEqual([]);
    expect(refused('--rate 5 --duration 2 --connections 10', 'cpu')).toEqual([]);
    expect(refused('--amount 400 --connections 10', 'p99')[2]).toBe('set "amount": 1000');
    expect(refused('--duration 1 --connections 10', 'p99')).toEqual([]);
  });

  it('holds a budget to one request of several, and refuses one that is not measured alone', () => {
    const bench = { ...BENCH, get: ['/orders', '/users'] };
    const budget = { metric: 'cpu', request: 'GET /orders', against: 'main', worseByAtMost: '3%' };
    const { budgets } = readConfig(write({ bench, budgets: [budget] }), command);
    expect(budgets.map((one) => one.budget.route)).toEqual(['GET /orders']);
    expect(refuseRoute('--get /orders --get /users', 'GET /order')).toMatchObject({
      message: 'bench.config.json:3: the run does not measure "request": "GET /order" alone',
      hint: expect.stringContaining('GET /orders') as string,
    });
    for (const words of ['--get /orders', '--get /orders --get /users --slo p99<50ms'])
      expect(refuseRoute(words, 'GET /orders').hint).toBe(
        'omit "request": the run sends one request, or several mixed',
      );
  });

  it('refuses a budget for what the run does not measure', () => {
    const limit = { kind: 'figure', value: 1 } as const;
    const plan = samplePlan('--connections 10');
    const at = (more: object) => ({
      budget: { metric: 'p99', limit, ...more } as const,
      place: 'bench.config.json:9',
    });
    expect(errorOf(() => refuseUnmeasured(at({ connections: 7 }), plan)).message).toBe(
      'bench.config.json:9: the run does not measure "connections": 7',
    );
    expect(errorOf(() => refuseUnmeasured(at({ of: 'vanila' }), plan)).hint).toBe('did you mean vanilla?');
    const worse = { kind: 'worse', share: 0.03, against: 'vanilla/node' };
    expect(errorOf(() => refuseUnmeasured(at({ limit: worse }), plan))).toMatchObject({
      message: 'bench.config.json:9: the run has no target "vanilla/node"',
      hint: 'did you mean vanilla?',
    });
  });
});
