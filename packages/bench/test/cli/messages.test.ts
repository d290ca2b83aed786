/**
 * The golden files contain every sentence of the command line: the help of each command, and the error for each kind of
 * invalid command line. Other tests assert the code and key words of an error.
 */
import { BenchError } from 'bench-model/errors';
import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { renderOverview } from '../../src/cli/command.ts';
import { findCommands, loadCommand, main } from '../../src/cli/main.ts';
import BENCH from '../../src/commands/bench.ts';
import { commandLine } from 'bench-machine/home';
import { makePlan } from '../../src/plan/plan.ts';
import { sampleStack } from '../../../bench-lab/testing/samples.ts';

// A new metric changes no golden file.
vi.mock(import('bench-model/metrics'), async (original) => {
  const { limitMetrics } = await import('../../../bench-lab/testing/shown-metrics.ts');
  return limitMetrics(await original());
});

const ROOT = new URL('../../../../', import.meta.url);
const URL_WORDS = 'http://127.0.0.1:3000/';

/** Invalid command lines of each command. */
const WRONG: Record<string, string[]> = {
  bench: [
    'fastify --conections 10',
    '--nonsense',
    '-x',
    '--rounds',
    '--rounds --json',
    '--json=yes',
    '--connections 0',
    '--connections -1',
    '--connections=-1',
    '--connections 10,abc',
    '--connections=',
    '--duration 0',
    '--warmup -1',
    '--param n',
    '--quick --fail-on slower',
    '--quick --why',
    '--fail-on slow',
    'main ./docs',
    './nowhere',
    'main http://127.0.0.1:3000/',
    './docs',
    '--env WORKERS=1',
    'main --run a --run b',
    '--workload devises',
    '--workload nothing-like-it',
    '--engine wkr',
    '--background fib',
    '--background "FETCH /fib/42"',
    '--rate fast',
    '--rate 2000 --amount 100',
    '--amount 100 --duration 5',
    '--cluster none.json',
    '--budget 5m --rounds 5',
    '--budget soon',
    '--by beauty',
    '--threshold 200%',
    '--rounds 6 --budget 10m',
    '--rounds 6 --by p99',
    '--quick --threshold 3%',
    '--quick --by cpu',
    '--quick --noise',
    '--dry-run --json',
    '--dry-run --detail',
    '--json --detail',
    'http://h:x',
    `${URL_WORDS} fastify`,
    `${URL_WORDS} --stack a.json`,
    `${URL_WORDS}a http://127.0.0.1:3001/b`,
    `${URL_WORDS}a --get /b`,
    '--get orders',
    '--request orders',
    '--get /orders --workload fib',
    '--requests-file a.json --openapi b.json',
    '--requests-file none.json',
    ...['workload fib', 'param n=1', 'python 3.12', 'node 22', 'with a==1', 'workers 2', 'threads 2'].map(
      (words) => `${URL_WORDS} --${words}`,
    ),
    `${URL_WORDS} --header authorization`,
    '--header "a: b"',
    '--body {}',
    '--resume a-run --connections 7',
    '--resume a-run fastify',
    '--resume a-run --again a-run',
    '--again a-run --rounds 5',
  ],
  build: ['--fast'],
  check: ['--fixx', 'fastify gin'],
  ci: ['--config', 'bench.config.json'],
  prune: ['--yes', '--force'],
  cluster: ['', 'fly', 'up', 'up down', 'up --local 1', 'up --local 4 --role server', 'up --ip 10.0.0.1'],
  host: [],
  init: ['a b', '--get', '--run', '--nonsense', '--yes=no'],
  install: ['here'],
  compare: [
    'latest latest latest',
    'latest main',
    'latest --by speed',
    'latest --threshold 0',
    'latest --fail-on slow',
    'latest latest --fail-on slower,undecided',
    'latest --across hosts',
    'latest latest --baseline fastify',
    'latest --rounds 3',
    'main HEAD --across workers',
    'main HEAD --quick',
    'fastify http://127.0.0.1:3000',
  ],
  new: [
    '',
    'workload echo --language go',
    'stack koa',
    'stack koa --language cobol',
    'stack koa more --language go',
    'stack koa --language go --framework gin',
    'stack koa --framework koa',
  ],
  package: ['now', '--output'],
  power: ['--tests -1', '--target fastify', 'vanilla'],
  completions: ['tcsh'],
  doctor: ['--connections none'],
  report: ['', 'a b', 'a --json --detail', 'a --open --markdown', 'a --format xml'],
  upgrade: ['--python 3.13', '--quick'],
  serve: ['--port 0', 'vanilla fastify', 'vanilla --workload devises'],
  list: ['fastify'],
  why: ['', '--json', 'latest --rounds 3', 'latest --header nonsense'],
};

/** Valid command lines of `bench` whose plan is refused. */
const REFUSED = [
  'vanilla/noed',
  'vanilla --threads 2',
  'vanilla --workload fib --param m=1',
  'vanilla --workload fib --param n=1000',
  'vanilla --amount 5 --connections 10',
  'vanilla --rounds 1000000',
  `vanilla fastify --rounds 1000 --connections ${Array.from({ length: 51 }, (_, index) => index + 1).join(',')}`,
  'vanilla --workload repository --duration 3',
  'vanilla --engine wrk --rate 100',
  'vanilla --engine wrk --amount 100 --connections 10',
  'vanilla --engine requests --connections 10',
  'vanilla --engine wrk --duration 2.5',
  'vanilla --engine wrk --amount 20000',
  'vanilla --engine k6 --connections 10000',
  'vanilla --engine wrk --duration 1.5',
  'http://127.0.0.1:3000 --request "POST /orders" --engine wrk',
  `${URL_WORDS} --background "GET /fib/42"`,
  `${URL_WORDS}orders/{id}`,
  `${URL_WORDS} --header "x-key: {env:BENCH_TEST_UNSET}"`,
  `a=http://127.0.0.1:1/ a=http://127.0.0.1:2/`,
  '--get /orders',
  'vanilla --get /orders --body {}',
  'vanilla --get /a --get /b --engine wrk',
];

const words = (line: string): string[] =>
  (line.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ''));

/** Returns the message of the error that a call throws, as the terminal shows it. */
function messageOf(call: () => unknown, line: string): string {
  try {
    call();
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
    if (error.exitCode !== 2) throw error;
    return `error: ${error.message}\n${error.hint === undefined ? '' : `       ${error.hint}\n`}`;
  }
  throw new Error(`nothing was refused: ${line}`);
}

const commands = await Promise.all([...findCommands().values()].map(loadCommand));
/** Those for users. */
const shown = commands.filter(({ summary }) => summary !== '');

describe('the messages of the command line', () => {
  it('are those of the golden file: the help of every command', async () => {
    const texts = shown.flatMap((command) => {
      const [usual, all] = [command.help(), command.help(true)];
      const line = commandLine(command.name);
      return [`$ ${line} --help\n${usual}`, ...(all === usual ? [] : [`$ ${line} --help-all\n${all}`])];
    });
    await expect(texts.join('\n')).toMatchFileSnapshot('../../../bench-lab/testing/fixtures/golden/help.txt');
    expect(texts.flatMap((text) => text.split('\n')).filter((line) => line.length > 80)).toEqual([]);
  });

  it('are those of the golden file: every error', async () => {
    expect(Object.keys(WRONG).toSorted()).toEqual(commands.map(({ name }) => name));
    const wrong = commands.flatMap((command) =>
      (WRONG[command.name] ?? []).map((line) => {
        const message = messageOf(() => command.parse(words(line)), line);
        return `$ ${commandLine(command.name)} ${line}`.trimEnd() + `\n${message}`;
      }),
    );
    const workloads = ['devices', 'gather', 'fib', 'repository'];
    const stacks = ['vanilla', 'fastify'].map((name) => sampleStack(name, { node: { workloads } }));
    const refused = REFUSED.map(
      (line) =>
        `$ pnpm bench ${line}\n${messageOf(() => makePlan(BENCH.parse(words(line)), stacks, 'a-run', 1), line)}`,
    );
    await expect([...wrong, ...refused].join('\n')).toMatchFileSnapshot(
      '../../../bench-lab/testing/fixtures/golden/errors.txt',
    );
  });

  it('are those of the overview, which is printed without loading the commands', async () => {
    const summaries = shown.map(({ name, summary }) => [name, summary] as const);
    const text = `${JSON.stringify(Object.fromEntries(summaries), null, 2)}\n`;
    await expect(text).toMatchFileSnapshot('../../src/cli/summaries.json');
    const overview = renderOverview(summaries);
    await expect(overview).toMatchFileSnapshot('../../../bench-lab/testing/fixtures/golden/overview.txt');
    expect(overview.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });
});

describe('a word that is no command', () => {
  it.each([
    ['reprot', 'unknown command "reprot"\n       did you mean report?'],
    ['nobody', 'unknown command "nobody"\n       the commands are bench, build,'],
    ['fastify', 'unknown command "fastify"\n       to measure it: bench-http bench fastify'],
  ])('is explained: %s', async (word, message) => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    try {
      expect(await main([word])).toBe(2);
      expect(write.mock.calls.join('')).toContain(`error: ${message}`);
    } finally {
      write.mockRestore();
    }
  });
});

describe('every command', () => {
  it('has the name of its file, and a script of package.json if it is for users', () => {
    expect(commands.map(({ name }) => name)).toEqual([...findCommands().keys()]);
    const { scripts } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const typed = shown.map(({ name }) => [name, scripts[commandLine(name).replace(/^pnpm (run )?/, '')]]);
    expect(typed).toEqual(shown.map(({ name }) => [name, `bench-http ${name}`]));
  });

  it('excludes and needs only options that exist', () => {
    // A comparison has the options of bench but for some, which they may mention.
    const names = commands.flatMap(({ options }) => Object.keys(options));
    for (const { options } of commands) {
      const mentioned = Object.values(options).flatMap(({ conflicts = {}, needs }) => [
        ...Object.keys(conflicts),
        ...[needs ?? []].flat(),
      ]);
      expect(mentioned.filter((name) => !names.includes(name))).toEqual([]);
    }
  });
});
