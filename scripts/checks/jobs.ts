import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { Stack } from 'bench-model/stack';
import { ROOT } from 'bench-targets/catalogue/stacks';

/** One command of a check. */
export interface Job {
  name: string;
  command: string;
  /** The tool whose output shows that a registry could not be reached: `cargo`, `go`. */
  tool?: string;
}

/** The jobs of a language, in the order in which they must run. */
export interface Checks {
  /** Formatters. With `--fix` they write, so nothing else may read the files meanwhile. */
  format: Job[];
  /** Linters. With `--fix` they write likewise. */
  lint: Job[];
  /** Jobs that only read: types and unit tests. */
  verify: Job[];
  /** Compilers, which take minutes on the first run: they come last. */
  compile: Job[];
}

export const LANGUAGES = ['typescript', 'python', 'go', 'rust', 'csharp'] as const;
export type Language = (typeof LANGUAGES)[number];

const RUST = 'packages/rustcontract/Cargo.toml';
/** CI compiles with the profile of the stacks, so that their builds find what the checks have compiled. */
const PROFILE = process.env['CI'] === undefined ? '' : '--release';
const GO_TEST = (folder: string): string => `go -C ${folder} vet ./... && go -C ${folder} test ./...`;
/** gofmt lists unformatted files, but exits with 0. */
const gofmt = (folders: string[], fix: boolean): string =>
  fix ? `gofmt -w ${folders.join(' ')}` : `! gofmt -l ${folders.join(' ')} | grep .`;

/** TypeScript, and all files that oxfmt formats. */
export function typescriptChecks(fix: boolean, folder = ''): Checks {
  return {
    format: [{ name: 'format', command: `oxfmt ${fix ? '' : '--check'} ${folder}` }],
    lint: [{ name: 'lint', command: `oxlint --deny-warnings ${fix ? '--fix' : ''} ${folder}` }],
    verify: [
      { name: 'types', command: 'tsc -b' },
      ...(folder === ''
        ? [
            { name: 'sizes of documents', command: 'node scripts/checks/documents.ts' },
            { name: 'budget of lines', command: `node scripts/checks/budget.ts ${fix ? '--fix' : ''}` },
            { name: 'workflows', command: 'node scripts/checks/workflows.ts' },
            { name: 'dependencies', command: 'node scripts/checks/dependencies.ts' },
          ]
        : []),
    ],
    compile: [],
  };
}

/** Python, with the tools in this folder. */
export function pythonChecks(bin: string, fix: boolean, folder = ''): Checks {
  // A stack imports the contract package.
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

/** Returns true if mypy is configured to ignore a folder. */
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
        command: `cargo clippy ${on} --locked ${PROFILE} ${one} --all-targets -- -D warnings`,
        tool: 'cargo',
      },
      {
        name: 'cargo test',
        command: `cargo test ${on} --locked --quiet ${PROFILE} ${name === undefined ? '' : one}`,
        tool: 'cargo',
      },
    ],
  };
}

/** The .NET projects: all of them, or the one in this folder. */
export function dotnetChecks(fix: boolean, folder?: string): Checks {
  const found = globSync('packages/*/*.csproj', { cwd: ROOT }).toSorted();
  const projects = found.filter((one) => folder === undefined || dirname(one) === folder);
  return {
    format: projects.map((one) => ({
      name: `dotnet format ${basename(one, '.csproj')}`,
      command: `dotnet format ${fix ? '' : '--verify-no-changes'} ${one}`,
    })),
    lint: [],
    verify: [],
    compile: projects.map((one) => ({
      name: `dotnet ${basename(one, '.csproj')}`,
      command: `dotnet build --configuration Release -warnaserror ${one}`,
    })),
  };
}

/** Returns the language that a stack is checked as; undefined if this command does not check it. */
export function languageOf({ language }: Stack): Language | undefined {
  return LANGUAGES.find((one) => one === language);
}

/** Returns the folder of a stack, relative to the repository. */
export function folderOf({ root }: Stack): string {
  return relative(ROOT, root);
}

/** Returns the jobs for the contract tests of one stack and its row in the table of stacks. */
export function stackTests({ name }: Stack): Job[] {
  // Without the tests of all other stacks.
  const only = `-t '(^| )${name}(/\\S+)?( |$)' --hideSkippedTests`;
  return [
    { name: 'contract', command: `vitest run packages/bench/test/contract ${only}` },
    {
      name: 'row in the table',
      command: `vitest run packages/bench-report/test/stacks-table.test.ts ${only}`,
    },
  ];
}

/** Combines the stages of several checks: each stage begins after the one before has ended. */
export function stagesOf(checks: readonly Checks[]): { quick: Job[][]; compile: Job[] } {
  const of = (part: keyof Checks): Job[] => checks.flatMap((one) => one[part]);
  return { quick: [of('format'), of('lint'), of('verify')], compile: of('compile') };
}
