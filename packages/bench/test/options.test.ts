import { describe, expect, it } from 'vitest';
import { parseBenchOptions } from '../src/options.ts';
import { errorOf } from './samples.ts';

function refuse(...args: string[]): { message: string; hint: string | undefined } {
  const { code, exitCode, message, hint } = errorOf(() => parseBenchOptions(args));
  expect([code, exitCode]).toEqual(['usage', 2]);
  return { message, hint };
}

const sittingOf = (...args: string[]) => parseBenchOptions(['--until-decided', ...args]).sitting;

describe('parseBenchOptions', () => {
  it('leaves out what was not asked for, so that the workload decides', () => {
    expect(parseBenchOptions([])).toEqual({
      targets: [],
      aa: false,
      mayDuel: false,
      all: false,
      stacks: [],
      workload: 'devices',
      workers: 1,
      generators: 1,
      connectsPerSecond: 2000,
      matrix: { python: [], node: [], packages: [] },
      quick: false,
      proveLimit: false,
      dryRun: false,
      json: false,
      detail: false,
      help: false,
    });
  });

  it('reads targets and every figure', () => {
    const line =
      'fastapi/* litestar --connections 10,1000 --rounds 3 --duration 5 --warmup 0 --timeout 2.5s --workers 2 ' +
      '--generators 2 --connect-rate 500 --seed 0 --amount 5000 --workload wait --prove-limit --dry-run --json --detail';
    expect(parseBenchOptions(line.split(' '))).toMatchObject({
      targets: ['fastapi/*', 'litestar'],
      connections: [10, 1000],
      rounds: 3,
      windowSeconds: 5,
      warmupSeconds: 0,
      timeoutSeconds: 2.5,
      workers: 2,
      generators: 2,
      connectsPerSecond: 500,
      seed: 0,
      amount: 5000,
      workload: 'wait',
      proveLimit: true,
      dryRun: true,
      json: true,
      detail: true,
    });
  });

  it('takes --stack more than once', () => {
    expect(parseBenchOptions(['--stack', 'a.json', '--stack', 'b.json']).stacks).toEqual([
      'a.json',
      'b.json',
    ]);
  });

  it.each(['0', '-5', 'ten', '10,', '10,,100', '1.5', '', ' ', '1e400', 'NaN'])(
    'refuses --connections=%s',
    (text) => {
      const { message, hint } = refuse(`--connections=${text}`);
      expect(message).toMatch(/^--connections .*not a whole number from 1 on$/);
      expect(hint).toBe('e.g. --connections 10');
    },
  );

  it('names the one figure of a list that is wrong', () => {
    expect(refuse('--connections', '10,-100').message).toBe(
      '--connections -100: not a whole number from 1 on',
    );
  });

  it('says in one line how a negative figure is to be written, when a space stands before it', () => {
    const { message } = refuse('--connections', '-5');
    expect(message).toContain('--connections');
    expect(message).not.toContain('\n');
  });

  it.each(['rounds', 'workers', 'threads', 'cores', 'generators', 'amount', 'connect-rate'])(
    'refuses --%s 0',
    (flag) => {
      expect(refuse(`--${flag}`, '0').message).toBe(`--${flag} 0: not a whole number from 1 on`);
    },
  );

  it.each([
    ['duration', '0', 0.1],
    ['duration', 'long', 0.1],
    ['timeout', '0.05', 0.1],
    ['timeout', 'Infinity', 0.1],
    ['warmup', 's', 0],
    ['warmup', '', 0],
  ])('refuses --%s %j', (flag, text, least) => {
    expect(refuse(`--${flag}`, text).message).toBe(
      `--${flag} ${text}: not a number of seconds from ${least} on`,
    );
  });

  it('reads what a server may use, and says nothing of it unless told', () => {
    const asked = parseBenchOptions(['--workers', '1', '--threads', '2', '--cores', '3']);
    expect(asked).toMatchObject({ workers: 1, threads: 2, cores: 3 });
    const unasked = parseBenchOptions([]);
    expect(unasked).not.toHaveProperty('threads');
    expect(unasked).not.toHaveProperty('cores');
  });

  it('reads parameters of a workload', () => {
    expect(parseBenchOptions(['--param', 'n=24', '--param', 'size=0']).params).toEqual({ n: 24, size: 0 });
    expect(parseBenchOptions([])).not.toHaveProperty('params');
  });

  it.each(['n', 'n=', '=1', 'n=-1', 'n=1.5', 'n=1e3', ''])('refuses --param %j', (text) => {
    expect(refuse('--param', text)).toEqual({
      message: `--param ${text}: not of the form name=number`,
      hint: 'e.g. --param n=24',
    });
  });

  it('reads a request for the background', () => {
    expect(parseBenchOptions(['--background', 'GET /fib/42?a=b']).background).toEqual({
      method: 'GET',
      path: '/fib/42?a=b',
    });
  });

  it.each(['fib', '/fib/42', 'GET', 'GET fib/42', 'GET /fib 42', ''])('refuses --background %j', (text) => {
    expect(refuse('--background', text)).toEqual({
      message: `--background ${text}: not of the form METHOD /path`,
      hint: 'e.g. --background "GET /fib/42"',
    });
  });

  it('refuses a background by a method that is none, and beside a stored plan', () => {
    expect(refuse('--background', 'FETCH /fib/42')).toEqual({
      message: '--background FETCH /fib/42: there is no method FETCH',
      hint: 'one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
    });
    expect(refuse('--background', 'GET /a', '--resume', 'x').message).toBe(
      '--resume goes by a stored plan: it takes no --background',
    );
  });

  it('refuses a seed below 0 and one that is not exact', () => {
    expect(refuse('--seed=-1').message).toContain('not a whole number from 0 on');
    expect(refuse('--seed=9007199254740992').message).toContain('not a whole number');
  });

  it('names the nearest options for one that is not there', () => {
    const { message, hint } = refuse('--conections', '10');
    expect(message).toBe('there is no option --conections');
    expect(hint).toMatch(/^did you mean --connections[,?]/);
    expect(refuse('--warm-up', '2').hint).toMatch(/^did you mean --warmup[,?]/);
    expect(refuse('-x').message).toBe('there is no option --x');
  });

  it('says when an option is left without its value, or a switch is given one', () => {
    expect(refuse('--rounds').message).toContain("'--rounds <value>' argument missing");
    expect(refuse('--json=yes').message).toContain("'--json' does not take an argument");
  });

  it('lets --resume take no targets, and a URL and headers for their secrets only', () => {
    expect(parseBenchOptions(['--resume', 'a-run']).resume).toBe('a-run');
    expect(refuse('fastify', '--resume', 'a-run')).toEqual({
      message: '--resume goes by a stored plan: it takes no fastify',
      hint: 'pnpm bench --resume a-run',
    });
    expect(parseBenchOptions(['--resume', 'a-run', '--url', 'http://me:pw@127.0.0.1:1/'])).toMatchObject({
      resume: 'a-run',
      secrets: { url: new URL('http://127.0.0.1:1/'), headers: { authorization: 'Basic bWU6cHc=' } },
    });
    expect(refuse('--resume', 'a-run', '--url', 'https://127.0.0.1/').message).toContain('not an http://');
    expect(refuse('--resume', 'a-run', '--connections', '7').message).toContain('takes no --connections');
    expect(parseBenchOptions(['--resume', 'a-run', '--json', '--detail']).json).toBe(true);
  });
});

describe('parseBenchOptions with a matrix and a rate', () => {
  it('splits runtimes, and takes --with more than once', () => {
    const { matrix } = parseBenchOptions([
      'fastapi',
      '--python',
      '3.12,3.14{A=1,B=2}',
      '--node',
      '22',
      '--with',
      'a==1',
      '--with',
      './b',
    ]);
    expect(matrix).toEqual({ python: ['3.12', '3.14{A=1,B=2}'], node: ['22'], packages: ['a==1', './b'] });
  });

  it('takes a rate, but not with an amount', () => {
    expect(parseBenchOptions(['--rate', '2000']).rate).toBe(2000);
    expect(refuse('--rate', '2000', '--amount', '100').message).toContain('exclude');
    expect(refuse('--rate', '0').message).toContain('--rate 0');
  });
});

describe('parseBenchOptions with --url', () => {
  const URL_FLAG = ['--url', 'http://127.0.0.1:3000/orders?page=2'];

  it('asks with GET, and with POST where there is a body', () => {
    expect(parseBenchOptions(URL_FLAG).url).toEqual({
      url: new URL('http://127.0.0.1:3000/orders?page=2'),
      method: 'GET',
      headers: {},
    });
    expect(parseBenchOptions([...URL_FLAG, '--body', '{}']).url).toMatchObject({
      method: 'POST',
      body: '{}',
    });
    expect(parseBenchOptions([...URL_FLAG, '--body', '{}', '--method', 'put']).url?.method).toBe('PUT');
  });

  it('reads headers, the expected answer and the process', () => {
    const args = [
      '--header',
      'Authorization: a: b',
      '--header',
      'x-empty:',
      '--expect',
      '@answer.json',
      '--pid',
      '4711',
    ];
    expect(parseBenchOptions([...URL_FLAG, ...args]).url).toMatchObject({
      headers: { authorization: 'a: b', 'x-empty': '' },
      expect: '@answer.json',
      pid: 4711,
    });
  });

  it.each(['orders', 'https://127.0.0.1/', 'ftp://127.0.0.1/', '127.0.0.1:3000', ''])(
    'refuses --url %j',
    (text) => {
      expect(refuse('--url', text).message).toBe(`--url ${text}: not an http:// address`);
    },
  );

  it.each(['authorization', ': x', 'a b: c', ''])('refuses --header %j', (text) => {
    expect(refuse(...URL_FLAG, '--header', text).message).toBe('--header: not of the form name: value');
  });

  it('refuses a process id that is none', () => {
    expect(refuse(...URL_FLAG, '--pid', '0').message).toBe('--pid 0: not a whole number from 1 on');
  });

  it.each(['method', 'header', 'body', 'expect', 'pid'])('refuses --%s without it', (flag) => {
    expect(refuse(`--${flag}`, '1').message).toBe(`--${flag} belongs to --url`);
  });

  it.each([['fastify'], ['--all'], ['--stack', 'a.json']])('takes no targets: %s', (...args) => {
    expect(refuse(...URL_FLAG, ...args).message).toContain('it takes no targets');
  });

  it('reads how long a decision may take, and by what it is made', () => {
    expect(sittingOf()).toEqual({ looks: '12/18/24', by: 'cpu', threshold: 0.02 });
    expect(sittingOf('--budget', '10m', '--by', 'p99', '--threshold', '3%')).toEqual({
      looks: '12/18/24',
      by: 'p99',
      threshold: 0.03,
      budgetSeconds: 600,
    });
    expect(sittingOf('--budget', '90')).toMatchObject({ budgetSeconds: 90 });
    expect(parseBenchOptions([]).sitting).toBeUndefined();
    expect(refuse('--budget', '10m').message).toContain('--budget belongs to --until-decided');
    expect(refuse('--until-decided', '--budget', 'soon').message).toContain('not a span of time');
    expect(refuse('--until-decided', '--rounds', '5').message).toContain('takes no --rounds');
    expect(refuse('--until-decided', '--by', 'beauty').hint).toContain('goodput');
  });

  it('lets --again take nothing that changes the plan', () => {
    expect(parseBenchOptions(['--again', 'a-run', '--detail']).again).toBe('a-run');
    expect(refuse('--again', 'a-run', '--rounds', '5')).toEqual({
      message: '--again goes by a stored plan: it takes no --rounds',
      hint: 'pnpm bench --again a-run',
    });
  });

  it('takes a rate, or has it measured first', () => {
    expect(parseBenchOptions(['--rate', 'auto']).rate).toBe('auto');
    expect(parseBenchOptions(['--rate', '2000']).rate).toBe(2000);
    expect(refuse('--rate', 'fast').message).toContain('--rate fast');
  });
});
