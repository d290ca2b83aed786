import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import {
  goChecks,
  pythonChecks,
  rustChecks,
  stackTests,
  stagesOf,
  typescriptChecks,
  type Job,
} from '../../../../scripts/checks/jobs.ts';
import {
  listForbidden,
  listMalware,
  listUnexplained,
  listYanked,
} from '../../../../scripts/checks/dependencies.ts';
import { type Budget, countFiles, listExceeded } from '../../../../scripts/checks/budget.ts';
import { lintWorkflows } from '../../../../scripts/checks/workflows.ts';
import { runStage, summarise, type Done } from '../../../../scripts/checks/stages.ts';
import { readStacks } from 'bench-targets/catalogue/stacks';
import { Place } from './cli.ts';

const cwd = mkdtempSync(join(tmpdir(), 'bench-check-'));
afterAll(() => rmSync(cwd, { recursive: true }));
afterEach(() => void vi.unstubAllEnvs());

/** Returns a job that appends its name to a file. */
const append = (word: string): Job[] => [{ name: word, command: `echo ${word} >> source` }];

async function runAll(stages: Job[][]): Promise<Done[]> {
  const done: Done[] = [];
  for (const jobs of stages) done.push(...(await runStage(jobs, { cwd, print: new PassThrough().resume() })));
  return done;
}

describe('the check of workflows', () => {
  it('names a mistake with its place', async () => {
    const text = 'on: push\njobs:\n  one:\n    run-on: ubuntu-latest\n    steps: [{ run: ls }]\n';
    expect(await lintWorkflows(new Map([['sound.yml', text.replace('run-on', 'runs-on')]]))).toEqual([]);
    expect(await lintWorkflows(new Map([['docs/wrong.yml', text]]))).toContainEqual(
      expect.stringMatching(/^docs\/wrong\.yml:4:5: unexpected key "run-on"/),
    );
  });
});

function budgetOf(one: number, other: number): Budget {
  return {
    src: { 'bench-one': one, 'bench-other': other },
    around: 10,
    words: { help: 5, errors: 5 },
  };
}

describe('the budget of lines', () => {
  it('counts src of each package of the harness, and what stands beside it', () => {
    const texts: Record<string, string> = {
      'packages/bench-one/src/README.md': 'one\n',
      'packages/bench-one/src/a/b.ts': 'one\ntwo\n',
      'packages/bench-one/test/b.test.ts': 'one\n',
      'packages/bench-one/README.md': 'one\n',
      'packages/fastify/src/server.ts': 'one\n',
    };
    const counted = countFiles(Object.keys(texts), (path) => texts[path] ?? 'two words\n');
    expect(counted).toEqual({ src: { 'bench-one': 3 }, around: 1, words: { help: 2, errors: 2 } });
  });

  it('lets packages trade lines, but never raises their sum', () => {
    expect(listExceeded(budgetOf(12, 8), budgetOf(10, 10), [budgetOf(10, 10)])).toEqual([]);
    expect(listExceeded(budgetOf(12, 9), budgetOf(10, 10), [])).toEqual([
      'lines in src of all packages: 21, and the budget is 20: remove 1',
    ]);
    expect(
      listExceeded(budgetOf(1, 1), { ...budgetOf(10, 11), around: 11 }, [budgetOf(10, 10), budgetOf(10, 11)]),
    ).toEqual([
      'scripts/checks/budget.json raises lines in src of all packages from 20 to 21: a budget only falls',
      'scripts/checks/budget.json raises lines beside src from 10 to 11: a budget only falls',
      'scripts/checks/budget.json raises lines beside src from 10 to 11: a budget only falls',
    ]);
  });
});

describe('a check', () => {
  it('formats before it lints and verifies', async () => {
    const file = join(cwd, 'source');
    writeFileSync(file, '');
    const some = {
      format: append('format'),
      lint: append('lint'),
      verify: append('verify'),
      compile: append('compile'),
    };
    const { quick, compile } = stagesOf([some]);
    await runAll([...quick, compile]);
    expect(readFileSync(file, 'utf8')).toBe('format\nlint\nverify\ncompile\n');
  });

  it('runs jobs that write before jobs that read the same files', () => {
    const { quick, compile } = stagesOf([
      typescriptChecks(true),
      pythonChecks('bin', true),
      goChecks(true),
      rustChecks(true),
    ]);
    const names = [...quick, compile].map((jobs) => jobs.map(({ name }) => name));
    expect(names).toEqual([
      ['format', 'ruff format', 'gofmt', 'rustfmt'],
      ['lint', 'ruff'],
      ['types', 'sizes of documents', 'budget of lines', 'workflows', 'dependencies', 'mypy', 'pytest'],
      ['go fiber', 'go gin', 'go gocontract', 'clippy', 'cargo test'],
    ]);
  });

  it('ends with the failed jobs and their errors', async () => {
    const done = await runAll([
      [
        { name: 'format', command: 'echo fine' },
        { name: 'types', command: 'echo "a.ts(3,1): error TS2304" && exit 2' },
        { name: 'lint', command: 'seq 100 && exit 1' },
      ],
    ]);
    const lines = summarise(done);
    expect(lines.slice(0, 2)).toEqual([
      '── types: echo "a.ts(3,1): error TS2304" && exit 2',
      'a.ts(3,1): error TS2304',
    ]);
    expect(lines.slice(-2)).toEqual(['100', '2 of 3 jobs failed: types, lint']);
    expect(lines).not.toContain('fine');
    expect(lines).toHaveLength(2 + 31 + 1);
  });

  it('names the jobs that could not reach a registry, and does not count them as failed', async () => {
    vi.stubEnv('CARGO_NET_OFFLINE', undefined);
    vi.stubEnv('BENCH_UNREACHED_CARGO', undefined);
    const says = "error: failed to download\n  [7] Couldn't connect to server\n";
    writeFileSync(join(cwd, 'says'), says);
    const done = await runAll([
      [
        { name: 'types', command: 'true' },
        { name: 'clippy', command: 'cat says && exit 101', tool: 'cargo' },
      ],
    ]);
    expect(summarise(done)).toEqual([
      "not checked: clippy (cargo cannot reach its registry: Couldn't connect to server)",
      '1 of 2 jobs passed',
    ]);
  });

  it('of one stack checks only its folder and runs only its tests', () => {
    expect(typescriptChecks(false, 'packages/fastify').lint[0]?.command).toContain('packages/fastify');
    expect(pythonChecks('bin', false, 'python/flask').verify.map(({ command }) => command)).toEqual([
      'bin/mypy python/contract python/flask',
    ]);
    expect(pythonChecks('bin', false, 'python/fastapi-sqlalchemy-2021').verify).toEqual([]);
    expect(goChecks(false, 'packages/gin').compile.map(({ name }) => name)).toEqual(['go gin']);
    expect(rustChecks(false, 'bench-actix').compile[0]?.command).toContain('-p bench-actix');
  });

  it('finds the tests of a stack by name, not those of stacks with similar names', () => {
    const stack = readStacks().find(({ name }) => name === 'fastapi');
    const [, pattern = ''] = /-t '(.+)'/.exec(stackTests(stack!)[0]?.command ?? '') ?? [];
    const isOfIt = (name: string): boolean => new RegExp(pattern).test(name);
    expect(isOfIt('fastapi answers with the data drawn for it')).toBe(true);
    expect(isOfIt('gather by fastapi/httpx joins all')).toBe(true);
    expect(isOfIt('the row of fastapi has its class')).toBe(true);
    expect(isOfIt('fastapi-sqlalchemy answers with the data drawn for it')).toBe(false);
    expect(isOfIt('users by fastapi-sqlalchemy/async answers')).toBe(false);
  });

  it.for([
    ['of an unknown stack', ['fastfy'], 'unknown stack or language'],
    ['of two stacks', ['fastify', 'gin'], 'at most 1'],
  ] as const)('%s is a usage error', async ([, args, says]) => {
    await using place = new Place();
    const { status, stderr } = await place.run('check', [...args]);
    expect(stderr).toContain(says);
    expect(status).toBe(2);
  });
});

describe('the dependencies', () => {
  it('each have a line that says why they are there', () => {
    const workspace = readFileSync(new URL('../../../../pnpm-workspace.yaml', import.meta.url), 'utf8');
    expect(listUnexplained(workspace)).toEqual([]);
    expect(listUnexplained(workspace.replace(/(  ajv: \S+) #.*/, '$1'))).toEqual([
      'pnpm-workspace.yaml: ajv: say why it is there, after a #',
    ]);
  });

  it('are refused for an unknown licence, for malware and for a yanked pin', () => {
    expect(listForbidden({ MIT: [{ name: 'ours' }], 'GPL-3.0': [{ name: 'theirs' }] })).toEqual([
      'theirs: its licence is GPL-3.0',
    ]);
    const advisories = {
      1: { module_name: 'slow', title: 'ReDoS in slow', cwe: ['CWE-1333'] },
      2: { module_name: 'evil', title: 'Malware in evil', cwe: ['CWE-506'] },
    };
    expect(listMalware(JSON.stringify({ advisories }))).toEqual(['evil: Malware in evil']);
    expect(listMalware('')).toEqual([]);
    expect(listYanked('Resolved 2\nwarning: `attrs==21.1.0` is yanked (reason: "broken")\n')).toEqual([
      '`attrs==21.1.0` is yanked (reason: "broken")',
    ]);
  });
});
