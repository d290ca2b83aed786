import { defineCommand, flag } from 'bench-http/cli/command';
import { commandLine, HOME } from 'bench-machine/home';
import { existsSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Stack } from 'bench-model/stack';
import { readStacks, ROOT } from 'bench-targets/catalogue/stacks';
import { run, type SubprocessError } from 'bench-machine/subprocess';
import { suggest } from 'bench-model/suggest';
import { findTool } from 'bench-targets/prepare/builds';
import { digestOf } from 'bench-targets/prepare/digest';
import { provideFolder } from 'bench-targets/prepare/environments';
import { lastLine } from 'bench-targets/prepare/failures';
import { findRuntime } from 'bench-targets/prepare/runtimes';
import { BenchError } from 'bench-model/errors';
import { unreachedError } from 'bench-targets/prepare/unreached';
import { provideUv } from 'bench-targets/prepare/uv';
import {
  folderOf,
  dotnetChecks,
  goChecks,
  languageOf,
  LANGUAGES,
  pythonChecks,
  rustChecks,
  stackTests,
  stagesOf,
  typescriptChecks,
  type Checks,
  type Job,
  type Language,
} from './checks/jobs.ts';
import { print, logLine } from 'bench-http/terminal/shell';
import { runStage, summarise, type Done } from './checks/stages.ts';

/** The tool of each compiled language, the file that marks its projects, and the files that it is compiled from. */
const COMPILED = {
  go: { tool: 'go', marker: 'go.mod', pattern: '**/*.{go,mod,sum}' },
  rust: { tool: 'cargo', marker: 'Cargo.toml', pattern: '**/*.{rs,toml,lock}' },
  csharp: { tool: 'dotnet', marker: '*.csproj', pattern: '**/*.{cs,csproj,props}' },
} as const;

/** Languages whose tools CI does not have: no package registry offers them. */
const ABSENT_IN_CI: readonly Language[] = ['csharp'];

/** Languages that could not be checked, for the summary. */
const unchecked: string[] = [];

const IS_CI = process.env['CI'] !== undefined;

export default defineCommand({
  name: 'check',
  about:
    'Checks formatting, lint, types and unit tests. Formatters run first, and compiled languages last. Prints the failed jobs and their errors at the end.',
  arguments: {
    terms: '[name]',
    noun: 'name',
    help: 'typescript, python, go, rust, csharp or the name of a stack; for a stack, its contract tests and its row in the table of stacks are checked too (default: all languages)',
    example: commandLine('check fastify'),
  },
  options: { fix: flag({ help: 'correct everything that can be corrected automatically' }) },
  notes: 'Go and Rust are compiled only if their sources have changed or you name them.',
  async run({ fix, args: [name] }) {
    const stacks = readStacks();
    const stack = stacks.find((one) => one.name === name);
    const language = LANGUAGES.find((one) => one === name);
    if (name !== undefined && stack === undefined && language === undefined) {
      const known = [...LANGUAGES, ...stacks.map((one) => one.name)];
      throw new BenchError(
        'usage',
        `unknown stack or language "${name}"`,
        suggest(name, known) ?? `expected one of ${known.join(', ')}`,
      );
    }
    return stack === undefined ? checkLanguages(language, fix) : checkStack(stack, fix);
  },
});

/** Checks all languages, or the one named. */
async function checkLanguages(named: Language | undefined, fix: boolean): Promise<number> {
  const languages = named === undefined ? LANGUAGES : [named];
  const checks: { language: Language; of: Checks }[] = [];
  for (const language of languages) {
    // A language that the user names must have its tools.
    const find = () => checksOf(language, fix);
    const of = named === undefined ? await unlessMissing(language, find) : await find();
    if (of !== undefined) checks.push({ language, of });
  }
  const done: Done[] = [];
  for (const jobs of stagesOf(checks.map(({ of }) => of)).quick)
    done.push(...(await runStage(jobs, { cwd: ROOT })));
  for (const { language, of } of checks) {
    if (of.compile.length === 0) continue;
    if (!IS_CI && done.some(hasFailed)) {
      logLine(`${language} is not compiled: fix the failed jobs first`);
    } else {
      done.push(...(await compile(language, of.compile, named !== undefined)));
    }
  }
  return end(done);
}

/** Compiles a language unless the same sources have passed before. A named language is always compiled. */
async function compile(language: Language, jobs: Job[], isNamed: boolean): Promise<Done[]> {
  const mark = join(HOME.cache, 'checks', language, await digestOfLanguage(language));
  if (!IS_CI && !isNamed && existsSync(mark)) {
    logLine(
      `${language} has not changed since it passed; to compile it anyway: ${commandLine(`check ${language}`)}`,
    );
    return [];
  }
  const done = await runStage(jobs, { cwd: ROOT });
  if (done.every(({ passed }) => passed)) {
    rmSync(dirname(mark), { recursive: true, force: true });
    mkdirSync(dirname(mark), { recursive: true });
    writeFileSync(mark, '');
  }
  return done;
}

/** Returns the digest of everything that a compiled language is checked from: sources, locks and tool. */
async function digestOfLanguage(language: Language): Promise<string> {
  const { tool, marker, pattern } = COMPILED[language as keyof typeof COMPILED];
  const folders = globSync(`packages/*/${marker}`, { cwd: ROOT }).map((file) => join(ROOT, dirname(file)));
  const files = folders.flatMap((folder) =>
    globSync(pattern, {
      cwd: folder,
      exclude: (path) => ['target', 'bin', 'node_modules'].includes(path),
    }).map((file) => join(folder, file)),
  );
  return digestOf(files, (await findTool(tool, ROOT, `to check ${language}`)).text);
}

/** Checks one stack: format, lint, types, contract tests and its row in the table of stacks. */
async function checkStack(stack: Stack, fix: boolean): Promise<number> {
  const folder = folderOf(stack);
  const checks = [typescriptChecks(fix, folder)];
  const language = languageOf(stack);
  if (language === undefined) logLine(`${stack.language} is not checked: only its contract tests run`);
  if (language !== undefined && language !== 'typescript') {
    const [{ format }] = checks as [Checks];
    const own = await checksOf(language, fix, stack);
    // The only TypeScript file of such a stack is its manifest, which needs formatting alone.
    checks.splice(0, 1, { format, lint: [], verify: [], compile: [] }, own);
  }
  const { quick, compile: last } = stagesOf(checks);
  const done: Done[] = [];
  for (const jobs of [...quick, last]) done.push(...(await runStage(jobs, { cwd: ROOT })));
  for (const job of stackTests(stack)) done.push(...(await runStage([job], { cwd: ROOT })));
  return end(done);
}

async function checksOf(language: Language, fix: boolean, stack?: Stack): Promise<Checks> {
  const folder = stack === undefined ? undefined : folderOf(stack);
  switch (language) {
    case 'typescript':
      return typescriptChecks(fix, folder);
    case 'python':
      return pythonChecks(join(await provideTools(), 'bin'), fix, folder);
    case 'go':
      await findTool('go', ROOT, 'to check the Go stacks');
      return goChecks(fix, folder);
    case 'rust':
      await findTool('cargo', ROOT, 'to check the Rust stacks');
      return rustChecks(fix, stack === undefined ? undefined : `bench-${stack.name}`);
    case 'csharp':
      await findTool('dotnet', ROOT, 'to check the .NET stacks');
      return dotnetChecks(fix, folder);
  }
}

/** Returns the checks of a language. Reports missing tools and returns undefined; under CI most are an error. */
async function unlessMissing(language: Language, checks: () => Promise<Checks>): Promise<Checks | undefined> {
  try {
    return await checks();
  } catch (error) {
    if (!(error instanceof BenchError) || error.code !== 'toolchain') throw error;
    if (IS_CI && !ABSENT_IN_CI.includes(language)) throw error;
    unchecked.push(`not checked: ${language} (${error.message}; ${error.hint})`);
    return undefined;
  }
}

/** Returns true if a job found an error in the code; under CI, also if it could not run. */
function hasFailed({ passed, unreached }: Done): boolean {
  return !passed && (IS_CI || unreached === undefined);
}

/** Prints the summary and returns the exit code. */
function end(done: readonly Done[]): number {
  print(`\n${[...unchecked, ...summarise(done)].join('\n')}\n`);
  return done.some(hasFailed) ? 1 : 0;
}

/** Returns the environment of ruff, mypy and pytest, built from its lock. */
async function provideTools(): Promise<string> {
  const lock = join(ROOT, 'python', 'dev-requirements.txt');
  const uv = await provideUv(HOME.cache);
  const { argv } = await findRuntime({ kind: 'python', spec: '3.13' }, { mayInstall: true });
  const [path = ''] = argv;
  const environment = join(HOME.cache, 'tools', digestOf([lock], path));
  await provideFolder(environment, async () => {
    try {
      await run([uv, 'venv', '--quiet', '--python', path, environment]);
      const python = join(environment, 'bin', 'python');
      await run([uv, 'pip', 'sync', '--quiet', '--require-hashes', '--python', python, lock]);
    } catch (error) {
      const { stderr, message } = error as SubprocessError;
      const why = lastLine(stderr) || message;
      throw (
        unreachedError('uv', stderr) ??
        new BenchError('toolchain', `the Python checks could not be installed: ${why}`)
      );
    }
  });
  return environment;
}
