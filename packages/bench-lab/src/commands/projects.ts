import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { defineCommand, option } from 'bench-http/cli/command';
import { text, wholeNumber } from 'bench-http/cli/values';
import { logLine, print } from 'bench-http/terminal/shell';
import { tryGit } from 'bench-machine/git';
import { HOME } from 'bench-machine/home';
import { run, SubprocessError } from 'bench-machine/subprocess';
import { BenchError } from 'bench-model/errors';
import type { Trial } from 'bench-model/record';
import { describeVerdict } from 'bench-report/compare';
import type { ModelComparisons } from 'bench-report/model/definition';
import { renderRows } from 'bench-report/terminal';

/** The longest time that the start of a project may take: downloads and builds are part of it. */
const INIT_MS = 900_000;

/** What became of one project. */
interface Outcome {
  project: string;
  /** The start that was written, or the sentence that refused it. */
  start: string;
  requests: string;
  verdict: string;
  minutes: number;
  isRight: boolean;
}

export default defineCommand({
  name: 'projects',
  about:
    'Runs init and a short comparison of the last two commits in a copy of each project below a folder, and prints what became of it.',
  arguments: {
    terms: '<folder>',
    noun: 'folder',
    help: 'a folder with clones of projects',
    example: 'bench-http projects ../clones',
  },
  options: {
    budget: option('<minutes>', wholeNumber(), { help: 'the longest comparison of one project', default: 3 }),
    only: option('<name>', text, { help: 'one project of the folder', usually: 'all of them' }),
  },
  notes: 'Exit codes: 0 each project has a verdict, 1 one is undecided or has none, 2 bad\nusage.',
  read: (values, [folder = '.']) => ({ ...values, folder }),
  async run({ folder, budget, only }) {
    if (!existsSync(folder))
      throw new BenchError('usage', `${folder}: no such folder`, 'name a folder with clones of projects');
    const names = readdirSync(resolve(folder), { withFileTypes: true })
      .filter(
        (one) =>
          one.isDirectory() &&
          existsSync(join(folder, one.name, '.git')) &&
          (only === undefined || one.name === only),
      )
      .map(({ name }) => name);
    if (names.length === 0)
      throw new BenchError(
        'usage',
        `${folder}: no clone of a project`,
        'name a folder with clones of projects',
      );
    const outcomes: Outcome[] = [];
    for (const name of names) {
      logLine(`trying ${name}`);
      const outcome = await tryProject(resolve(folder, name), budget);
      logLine(`${name}: ${outcome.verdict || outcome.start}`);
      outcomes.push(outcome);
    }
    const rows = outcomes.map(({ project, start, requests, verdict, minutes }) => [
      project,
      start,
      requests,
      verdict,
      `${minutes.toFixed(1)} min`,
    ]);
    const head = ['project', 'start', 'requests', 'last commit', 'time'];
    print(`${renderRows(head, rows, head, process.stdout.columns)}\n`);
    return outcomes.every(({ isRight }) => isRight) ? 0 : 1;
  },
});

/** Tries one project in a copy, which is removed. */
async function tryProject(original: string, budget: number): Promise<Outcome> {
  const scratch = mkdtempSync(join(tmpdir(), 'bench-project-'));
  const root = join(scratch, basename(original));
  const began = performance.now();
  const outcome = { project: basename(original), start: '', requests: '', verdict: '', isRight: false };
  const finish = (facts: Partial<Outcome>): Outcome => ({
    ...outcome,
    ...facts,
    minutes: (performance.now() - began) / 60_000,
  });
  try {
    await run(['git', 'clone', '--quiet', original, root]);
    const init = await runBench(['init', '--yes'], root, INIT_MS);
    if (init.problem !== undefined) return finish({ start: init.problem });
    const file = join(root, /^wrote {4}(.+)$/m.exec(init.stdout)?.[1] ?? 'stack.json');
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as {
      variants: { app: { command: string[] } };
      requests: unknown[];
    };
    const start = manifest.variants.app.command.join(' ');
    const requests = String(manifest.requests.length);
    if ((await tryGit(root, ['rev-parse', 'HEAD~1'])) === undefined)
      return finish({ start, requests, verdict: 'it has one commit' });
    const words = ['bench', '--stack', file, '--rev', 'HEAD~1,.', '--mix', '--until-decided', '--json'];
    const limits = ['--budget', `${budget}m`, '--connections', '10'];
    const { stdout, problem } = await runBench([...words, ...limits], root, (budget + 10) * 60_000);
    return finish({ start, requests, ...readVerdict(stdout, problem) });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Returns the verdict of a run that was printed as JSON; without one, the reason of its first failed trial, or the error. */
export function readVerdict(
  json: string,
  problem = 'nothing was measured',
): Pick<Outcome, 'verdict' | 'isRight'> {
  if (json === '') return { verdict: problem, isRight: false };
  const { comparisons, trials } = JSON.parse(json) as {
    comparisons: ModelComparisons[];
    trials: Pick<Trial, 'status' | 'reasons'>[];
  };
  const rows = comparisons.find(({ by }) => by === 'cpu')?.rows ?? [];
  const verdict = rows.map((row) => describeVerdict(row)).join('; ');
  const failed = trials.find(({ status }) => status === 'failed')?.reasons[0]?.text;
  const isMeasured = trials.some(({ status }) => status !== 'failed');
  return {
    verdict: isMeasured && verdict !== '' ? verdict : (failed ?? problem),
    isRight: rows.length > 0 && rows.every(({ comparison }) => comparison.verdict !== 'undecided'),
  };
}

/** Runs a command of Bench, and returns what it printed, with the sentence of its error if it failed. */
async function runBench(
  words: string[],
  cwd: string,
  timeoutMs: number,
): Promise<{ stdout: string; problem?: string }> {
  const program = join(HOME.root, 'packages', 'bench', 'bench-http.mjs');
  return run([process.execPath, program, ...words], { cwd, timeoutMs }).catch((error: unknown) => {
    if (!(error instanceof SubprocessError)) throw error;
    const { stdout, stderr, message } = error;
    return { stdout, problem: /^error: (.*)$/m.exec(stderr)?.[1] ?? message };
  });
}
