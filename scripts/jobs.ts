import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { Stack } from '@bench/harness/catalogue/stack';
import { ROOT } from '@bench/harness/catalogue/stacks';

/** One command of a check. */
export interface Job {
  name: string;
  command: string;
  /** What tells that the job could not reach a registry: `cargo`, `go`. */
  tool?: string;
}

/** What a language is checked with, in the order in which it has to happen. */
export interface Checks {
  /** Writes with `--fix`: nothing else may read the same files meanwhile. */
  format: Job[];
  /** Likewise. */
  lint: Job[];
  /** Reads only: types and unit tests. */
  verify: Job[];
  /** Compiles, for minutes where nothing is built yet: comes last. */
  compile: Job[];
}

export const LANGUAGES = ['typescript', 'python', 'go', 'rust'] as const;
export type Language = (typeof LANGUAGES)[number];

const RUST = 'packages/rustcontract/Cargo.toml';
const GO_TEST = (folder: string): string => `go -C ${folder} vet ./... && go -C ${folder} test ./...`;
/** It names what is not formatted, and succeeds all the same. */
const gofmt = (folders: string[], fix: boolean): string =>
  fix ? `gofmt -w ${folders.join(' ')}` : `! gofmt -l ${folders.join(' ')} | grep .`;

/** TypeScript, and every file that oxfmt formats. */
export function typescriptChecks(fix: boolean, folder = ''): Checks {
  return {
    format: [{ name: 'format', command: `oxfmt ${fix ? '' : '--check'} ${folder}` }],
    lint: [{ name: 'lint', command: `oxlint --deny-warnings ${fix ? '--fix' : ''} ${folder}` }],
    verify: [{ name: 'types', command: 'tsc --noEmit' }],
    compile: [],
  };
}

/** Python, by the tools in this folder. */
export function pythonChecks(bin: string, fix: boolean, folder = ''): Checks {
  // A stack imports the contract.
  const read = folder === '' ? '' : `python/contract ${folder}`;
  const hasTests = folder === '' || existsSync(join(ROOT, folder, 'tests'));
  return {
    format: [{ name: 'ruff format', command: `${bin}/ruff format ${fix ? '' : '--check'} ${folder}` }],
    lint: [{ name: 'ruff', command: `${bin}/ruff check ${fix ? '--fix' : ''} ${folder}` }],
    verify: [
      ...(isExcluded(folder) ? [] : [{ name: 'mypy', command: `${bin}/mypy ${read}` }]),
      ...(hasTests ? [{ name: 'pytest', command: `${bin}/pytest -q ${folder}` }] : []),
    ],
    compile: [],
  };
}

/** Whether mypy is told to leave a folder alone. */
function isExcluded(folder: string): boolean {
  return readFileSync(join(ROOT, 'pyproject.toml'), 'utf8').includes(`exclude = ["^${folder}/"]`);
}

/** The Go modules: all of them, or the one in this folder. */
export function goChecks(fix: boolean, folder?: string): Checks {
  const found = globSync('packages/*/go.mod', { cwd: ROOT }).map((file) => dirname(file));
  const modules = folder === undefined ? found.toSorted() : [folder];
  return {
    format: [{ name: 'gofmt', command: gofmt(modules, fix) }],
    lint: [],
    verify: [],
    compile: modules.map((one) => ({ name: `go ${basename(one)}`, command: GO_TEST(one), tool: 'go' })),
  };
}

/** The Rust workspace, or one package of it. */
export function rustChecks(fix: boolean, name?: string): Checks {
  const [all, one] = name === undefined ? ['--all', '--workspace'] : [`-p ${name}`, `-p ${name}`];
  const on = `--manifest-path ${RUST}`;
  return {
    format: [{ name: 'rustfmt', command: `cargo fmt ${on} ${all} ${fix ? '' : '--check'}` }],
    lint: [],
    verify: [],
    compile: [
      {
        name: 'clippy',
        command: `cargo clippy ${on} --locked ${one} --all-targets -- -D warnings`,
        tool: 'cargo',
      },
      {
        name: 'cargo test',
        command: `cargo test ${on} --locked --quiet ${name === undefined ? '' : one}`,
        tool: 'cargo',
      },
    ],
  };
}

/** Which language a stack is checked as; undefined for one that is not checked here. */
export function languageOf({ language }: Stack): Language | undefined {
  return LANGUAGES.find((one) => one === language);
}

/** The folder of a stack, as commands in the repository's folder name it. */
export function folderOf({ root }: Stack): string {
  return relative(ROOT, root);
}

/** The contract tests of one stack, and its row in the table of stacks. */
export function stackTests({ name }: Stack): Job[] {
  const pattern = `(^| )${name}(/\\S+)?( |$)`;
  return [
    { name: 'contract', command: `vitest run packages/bench/test/contract -t '${pattern}'` },
    {
      name: 'row in the table',
      command: `vitest run packages/bench/test/report/stacks-table.test.ts -t '${pattern}'`,
    },
  ];
}

/** Gives the stages of several checks: each begins when the one before has ended. */
export function stagesOf(checks: readonly Checks[]): { quick: Job[][]; compile: Job[] } {
  const of = (part: keyof Checks): Job[] => checks.flatMap((one) => one[part]);
  return { quick: [of('format'), of('lint'), of('verify')], compile: of('compile') };
}
