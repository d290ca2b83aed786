/**
 * Does a case of the fault matrix fail if Bench is broken? Breaks a copy of this checkout at one place for each phase, and runs a
 * case of that phase, which must fail there and pass in the sound copy. Exits with 1 if one does not.
 *
 *     pnpm exec node packages/bench-lab/experiments/mutations/mutations.ts [phase...]
 */
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { environHas, listPids } from 'bench-machine/procfs';
import { run, SubprocessError } from 'bench-machine/subprocess';
import type { Phase } from '../../../bench/test/faults/servers.ts';

/** One defect, and the case that must find it. */
interface Mutation {
  file: string;
  /** Texts of the file, each with what replaces it. */
  changes: [found: string, written: string][];
  table: 'servers' | 'commands' | 'runs';
  /** With its phase at most 40 characters: Vitest shortens longer names. */
  fault: string;
}

const MUTATIONS: Record<Phase, Mutation> = {
  prepare: {
    file: 'packages/bench-machine/src/preflight.ts',
    changes: [["level: 'stop',\n    what: `ephemeral", "level: 'warn',\n    what: `ephemeral"]],
    table: 'commands',
    fault: 'the machine has few ports',
  },
  start: {
    file: 'packages/bench-machine/src/launch.ts',
    changes: [["if (first === undefined) return '';", "return '';"]],
    table: 'servers',
    fault: 'forks away',
  },
  attest: {
    file: 'packages/bench/src/measure/life.ts',
    changes: [['if (stranger !== undefined)', "if (stranger === '')"]],
    table: 'servers',
    fault: 'never listens',
  },
  verify: {
    file: 'packages/bench/src/measure/life.ts',
    changes: [['await this.#verifyBefore(server);', '']],
    table: 'servers',
    fault: 'answers with an error',
  },
  connect: {
    file: 'packages/bench-analysis/src/judge/judge.ts',
    changes: [["reasonIf(established < planned, 'not-all", "reasonIf(established < 0, 'not-all"]],
    table: 'servers',
    fault: 'says nothing',
  },
  'warm-up': {
    file: 'packages/bench/src/measure/window.ts',
    changes: [['if (end !== undefined) reject(', "if (end === '') reject("]],
    table: 'servers',
    fault: 'exits with 1',
  },
  window: {
    file: 'packages/bench-analysis/src/judge/judge.ts',
    changes: [['reasonIf(unsolicited > 0,', 'reasonIf(unsolicited > Infinity,']],
    table: 'servers',
    fault: 'answers twice',
  },
  'verify after': {
    file: 'packages/bench/src/measure/life.ts',
    changes: [['await this.#verifyAfter(trial, load);', '']],
    table: 'servers',
    fault: 'resets the connection',
  },
  stop: {
    file: 'packages/bench-machine/src/launch.ts',
    changes: [
      ["for (const pid of this.#strays()) sendSignal(pid, 'SIGKILL');", ''],
      ['await this.#endStrays();', ''],
    ],
    table: 'servers',
    fault: 'leaves children behind',
  },
  record: {
    file: 'packages/bench-analysis/src/results/store.ts',
    changes: [['throw unwritable(file, error', 'throw error ?? unwritable(file, error']],
    table: 'commands',
    fault: 'the results folder is removed',
  },
  report: {
    file: 'packages/bench-analysis/src/results/store.ts',
    changes: [[".split('\\n').slice(0, -1) : [];", ".split('\\n').filter(Boolean) : [];"]],
    table: 'runs',
    fault: 'has half a record at its end',
  },
};

/** The part of a report of Vitest that is read. */
interface Report {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { message: string }[];
}

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const MOST_MS = 120_000;
/** The processes of a broken copy have it in their environment. */
const MARK = 'BENCH_MUTATION';

/** Copies what Git tracks, and links what is installed. */
async function copyTo(folder: string): Promise<void> {
  const { stdout } = await run(['git', 'ls-files', '-z'], { cwd: ROOT });
  for (const file of stdout.split('\0').filter(Boolean)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(ROOT, file), join(folder, file), { verbatimSymlinks: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const modules of globSync('packages/*/node_modules', { cwd: ROOT }))
    cpSync(join(ROOT, modules), join(folder, modules), { recursive: true, verbatimSymlinks: true });
}

/** Runs the case in the copy, ends what it left, and returns true if it passed. Throws if it did not run. */
async function passes(folder: string, phase: Phase, { table, fault }: Mutation): Promise<boolean> {
  const name = table === 'runs' ? fault : `${fault} (${phase})`;
  const escaped = name.replaceAll(/[()]/g, String.raw`\$&`);
  const file = join(folder, 'report.json');
  const words = ['run', `packages/bench/test/faults/${table}.test.ts`, '-t', ` ${escaped}$`];
  await run(
    [process.execPath, 'node_modules/vitest/vitest.mjs', ...words, '--reporter=json', '--outputFile', file],
    {
      cwd: folder,
      env: {
        ...process.env,
        [MARK]: folder,
        BENCH_CACHE: process.env['BENCH_CACHE'] ?? join(ROOT, '.cache'),
      },
      timeoutMs: MOST_MS,
    },
  ).catch((error: unknown) => {
    if (!(error instanceof SubprocessError && error.why === 'failed')) throw error;
  });
  endMarked(folder);
  const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
  rmSync(file);
  const { numPassedTests: passed, numFailedTests: failed, testResults: files } = report;
  if (passed + failed !== 1)
    throw new Error(
      `${passed + failed} cases named "${name}" ran: ${files.map(({ message }) => message).join()}`,
    );
  return passed === 1;
}

/** Ends what a broken copy has left. */
function endMarked(folder: string): void {
  for (const pid of listPids().filter((one) => environHas(one, MARK, folder) === true)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
}

/** Breaks a file of the copy; disposing mends it. */
function spoil(folder: string, { file, changes }: Mutation): Disposable {
  const path = join(folder, file);
  const text = readFileSync(path, 'utf8');
  let broken = text;
  for (const [found, written] of changes) {
    if (broken.split(found).length !== 2) throw new Error(`${file} does not have once: ${found}`);
    broken = broken.replace(found, () => written);
  }
  writeFileSync(path, broken);
  return { [Symbol.dispose]: () => writeFileSync(path, text) };
}

const asked = process.argv.slice(2);
const phases = (Object.keys(MUTATIONS) as Phase[]).filter(
  (phase) => asked.length === 0 || asked.includes(phase),
);
const folder = mkdtempSync(join(tmpdir(), 'mutations-'));
try {
  await copyTo(folder);
  for (const phase of phases) {
    const mutation = MUTATIONS[phase];
    const isGreen = await passes(folder, phase, mutation);
    const isFound = await (async () => {
      using _ = spoil(folder, mutation);
      return !(await passes(folder, phase, mutation));
    })();
    if (!isGreen || !isFound) process.exitCode = 1;
    const found = isFound ? 'fails if broken' : 'DOES NOT FIND THE DEFECT';
    console.log(`${phase}: "${mutation.fault}" ${isGreen ? 'passes' : 'FAILS'}, and ${found}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
