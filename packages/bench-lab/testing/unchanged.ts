/**
 * The tests of stacks and of known answers take most of the time of a whole run. Outside of CI they do not run again until
 * something that they test has changed, just as `pnpm check` does not compile a language again.
 */
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { release } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';
import { HOME } from 'bench-machine/home';
import { runSync } from 'bench-machine/subprocess';
import { digestOf } from 'bench-targets/prepare/digest';
import { reachedFrom, type Import } from './imports.ts';

/** The test files that are remembered once they have passed. */
const REMEMBERED = /^packages\/(bench\/test\/contract|bench-lab\/test\/known)\/.*\.test\.ts$/;

/** What every remembered file tests: the stacks and the rooms that measure, as Git names them. */
const TESTED = [
  'packages',
  'python',
  'package.json',
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  'pyproject.toml',
  'tsconfig.json',
  'vitest.config.ts',
  // What nothing imports that measures, and tests, count where a file imports them.
  ...[
    'bench-analysis',
    'bench-report',
    ...['src', 'testing', 'experiments'].map((folder) => `bench-lab/${folder}`),
    'bench/src/cli',
    'bench/src/conduct',
    'bench/src/commands',
    '*/test/*',
  ].map((folder) => `:!packages/${folder}`),
];

/** These start commands as processes of their own, which no import shows. */
const STARTERS = new Set(['packages/bench/test/cli/cli.ts', 'packages/bench-lab/testing/user.ts']);
/** What such a process can run. */
const COMMANDS = ['packages/*/src/*', 'packages/bench/bench-http.mjs', 'scripts'];

/** Returns the digest of what a test file tests, for each remembered file; none outside of a Git checkout. */
export function digestsOfTested(root = HOME.root): Map<string, string> {
  if (!existsSync(join(root, '.git'))) return new Map();
  const digest = (files: string[], words: string[]): string => {
    const paths = files.map((file) => join(root, file));
    return digestOf(paths, [...words, ...files].join('\n'));
  };
  const ofAll = digest(listSources(root, TESTED), [process.version, release(), ...foldersOnPath()]);
  const ofCommands = digest(listSources(root, COMMANDS), []);
  const read = new Map<string, Import[]>();
  const remembered = listSources(root, ['packages/*/test/*']).filter((file) => REMEMBERED.test(file));
  const digestsOf = (file: string): [string, string] => {
    const reached = reachedFrom(root, file, read);
    const startsCommands = reached.some((one) => STARTERS.has(one));
    return [file, digest(reached, [ofAll, ...(startsCommands ? [ofCommands] : [])])];
  };
  return new Map(remembered.map(digestsOf));
}

/** Lists the folders of programs with the time of their last change. Packages of Node are in the lock. */
function foldersOnPath(): string[] {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((one) => !one.includes('node_modules'));
  return folders.map((one) => `${one} ${statSync(one, { throwIfNoEntry: false })?.mtimeMs}`);
}

/** Lists the files below these paths, committed or not, without those that Git ignores. */
function listSources(root: string, paths: string[]): string[] {
  const words = ['git', 'ls-files', '--cached', '--others', '--exclude-standard', '-z', '--', ...paths];
  const files = runSync(words, { cwd: root }).stdout.split('\0').filter(Boolean);
  // Git still lists a file that was removed and is not committed.
  return files.filter((file) => existsSync(join(root, file)));
}

/** The marks of test files that have passed, in a folder. */
export class Passed implements Reporter {
  readonly #folder: string;
  readonly #read: () => Map<string, string>;
  readonly #digests: Map<string, string>;

  /** `read` returns the digest of what each remembered file tests. */
  constructor(folder = join(HOME.cache, 'tests'), read: () => Map<string, string> = digestsOfTested) {
    this.#folder = folder;
    this.#read = read;
    this.#digests = read();
  }

  /** Returns the names of the files that have passed and whose subject has not changed since. */
  list(): string[] {
    return [...this.#digests].flatMap(([file, digest]) =>
      existsSync(this.#markOf(file, digest)) ? file : [],
    );
  }

  /** Says which files were left out, and marks those that have passed without a skipped test. */
  onTestRunEnd(modules: readonly Pick<TestModule, 'relativeModuleId' | 'state' | 'children'>[]): void {
    const { length } = this.list();
    if (length > 0)
      process.stderr.write(
        `Not run again, because nothing that they test has changed since they passed: ${length} files.\n` +
          `To run them, too: rm -r ${relative('', this.#folder)}\n`,
      );
    const now = this.#read();
    for (const module of modules) {
      const file = module.relativeModuleId;
      const digest = this.#digests.get(file);
      const hasRun = module.state() === 'passed' && [...module.children.allTests('skipped')].length === 0;
      // What was changed during the run may have been read before or after.
      if (!hasRun || digest === undefined || now.get(file) !== digest) continue;
      const mark = this.#markOf(file, digest);
      rmSync(dirname(mark), { recursive: true, force: true });
      mkdirSync(dirname(mark), { recursive: true });
      writeFileSync(mark, '');
    }
  }

  #markOf(file: string, digest: string): string {
    return join(this.#folder, file, digest);
  }
}
