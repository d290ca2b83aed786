import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runSync } from 'bench-machine/subprocess';
import { Passed, digestsOfTested } from '../../bench-lab/testing/unchanged.ts';

const GIL = 'packages/bench-lab/test/known/gil.test.ts';
const LIFE = 'packages/bench-lab/test/known/life.test.ts';
const USERS = 'packages/bench/test/contract/users.test.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-unchanged-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

type Ended = Parameters<Passed['onTestRunEnd']>[0][number];

/** A test file that has ended, with this number of skipped tests. As in Vitest, its methods need their object. */
class Module {
  readonly relativeModuleId: string;
  readonly #state: 'passed' | 'failed';
  readonly children: Ended['children'];

  constructor(relativeModuleId: string, state: 'passed' | 'failed', skipped: number) {
    this.relativeModuleId = relativeModuleId;
    this.#state = state;
    this.children = { allTests: () => Array.from({ length: skipped }) } as unknown as Ended['children'];
  }

  state(): 'passed' | 'failed' {
    return this.#state;
  }
}

const ended = (file: string, state: 'passed' | 'failed' = 'passed', skipped = 0): Ended =>
  new Module(file, state, skipped);

const digests = (digest: string): Map<string, string> =>
  new Map([GIL, USERS, LIFE].map((file) => [file, digest]));
const remember = (digest: string, ...files: Ended[]): void =>
  new Passed(folder, () => digests(digest)).onTestRunEnd(files);
const listed = (digest: string): string[] => new Passed(folder, () => digests(digest)).list();

describe('test files that are remembered', () => {
  beforeEach(() => void vi.spyOn(process.stderr, 'write').mockReturnValue(true));

  it('are those that passed whole', () => {
    const other = ended('packages/bench-report/test/html.test.ts');
    remember('a', ended(GIL), ended(USERS, 'passed', 1), ended(LIFE, 'failed'), other);
    expect(listed('a')).toEqual([GIL]);
  });

  it('stay remembered while others are added, until what they test changes', () => {
    remember('a', ended(GIL));
    remember('a', ended(USERS));
    expect(listed('a')).toEqual([GIL, USERS]);
    expect(listed('b')).toEqual([]);
    remember('b', ended(USERS));
    expect([listed('a'), listed('b')]).toEqual([[GIL], [USERS]]);
  });

  it('are none if something has changed during the run', () => {
    const read = ['a', 'b'].map(digests);
    new Passed(folder, () => read.shift() ?? new Map()).onTestRunEnd([ended(GIL)]);
    expect([listed('a'), listed('b')]).toEqual([[], []]);
  });
});

/** Writes a file of the checkout, and returns the digest of what a test tests then. */
function write(file: string, text: string): string | undefined {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
  return digestsOfTested(folder).get(GIL);
}

describe('the digest of what a file tests', () => {
  it('changes with stacks, measuring and imports, committed or not, and with nothing else', () => {
    runSync(['git', 'init', '--quiet'], { cwd: folder });
    write('.gitignore', 'bin');
    write('packages/bench-load/src/cycle.ts', '1');
    write('packages/bench/src/cli/command.ts', '1');
    write('packages/bench-report/src/html.ts', '1');
    write('packages/bench-lab/testing/needs.ts', `import 'bench-http/cli/command';`);
    const first = write(GIL, `import '../../testing/needs.ts';`);
    expect(first).toMatch(/^[\da-f]{10}$/);
    expect(write('packages/bench-report/src/html.ts', '2')).toBe(first);
    expect(write('packages/bench-report/test/html.test.ts', '1')).toBe(first);
    expect(write('packages/gin/bin/gin', '1')).toBe(first);
    const changes = [
      write('packages/bench-load/src/cycle.ts', '2'),
      write('packages/bench-lab/planted/server.mjs', '1'),
      write('packages/bench/src/cli/command.ts', '2'),
      write('packages/bench-lab/testing/needs.ts', `import 'bench-http/cli/command';//`),
      write(GIL, `import '../../testing/needs.ts';//`),
      write('python/flask/app.py', '1'),
      write('pnpm-lock.yaml', '1'),
    ];
    expect(new Set([first, ...changes]).size).toBe(8);
    rmSync(join(folder, '.git'), { recursive: true });
    expect(digestsOfTested(folder)).toEqual(new Map());
  });

  it('changes with every room if the file starts a command', () => {
    runSync(['git', 'init', '--quiet'], { cwd: folder });
    write('packages/bench-lab/testing/user.ts', '');
    write(GIL, `import '../../testing/user.ts';`);
    write(LIFE, '');
    const before = digestsOfTested(folder);
    write('packages/bench-report/src/html.ts', '1');
    const after = digestsOfTested(folder);
    expect(after.get(GIL)).not.toBe(before.get(GIL));
    expect(after.get(LIFE)).toBe(before.get(LIFE));
  });

  it('changes if a program was added to PATH', () => {
    runSync(['git', 'init', '--quiet'], { cwd: folder });
    const programs = join(folder, 'programs');
    mkdirSync(programs);
    vi.stubEnv('PATH', `${programs}:${process.env['PATH']}`);
    const before = write(GIL, '');
    utimesSync(programs, 1, 1);
    expect(write(GIL, '')).not.toBe(before);
  });
});
