import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { defineCommand, option } from 'bench-http/cli/command';
import { text, wholeNumber } from 'bench-http/cli/values';
import { logLine, print } from 'bench-http/terminal/shell';
import { tryGit } from 'bench-machine/git';
import { HOME } from 'bench-machine/home';
import { run, SubprocessError, type Output } from 'bench-machine/subprocess';
import { BenchError } from 'bench-model/errors';
import type { ComparedRow } from 'bench-analysis/compare';
import { describeVerdict } from 'bench-report/compare';
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
  notes: 'Exit codes: 0 each project has a verdict, 1 one has none, 2 bad usage.',
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
    if (typeof init === 'string') return finish({ start: init });
    const file = join(root, /^wrote {4}(.+)$/m.exec(init.stdout)?.[1] ?? 'stack.json');
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as {
      variants: { app: { command: string[] } };
      requests: unknown[];
    };
    const start = manifest.variants.app.command.join(' ');
    const requests = String(manifest.requests.length);
    if ((await tryGit(root, ['rev-parse', 'HEAD~1'])) === undefined)
      return finish({ start, requests, verdict: 'it has one commit' });
    const words = [
      'bench',
      '--stack',
      file,
      '--rev',
      'HEAD~1',
      '--rev',
      '.',
      '--until-decided',
      '--budget',
      `${budget}m`,
    ];
    const measured = await runBench([...words, '--connections', '10'], root, (budget + 10) * 60_000);
    if (typeof measured === 'string') return finish({ start, requests, verdict: measured });
    const compared = await runBench(['compare', 'latest', '--json'], root, 60_000);
    if (typeof compared === 'string') return finish({ start, requests, verdict: compared });
    const { rows } = JSON.parse(compared.stdout) as { rows: ComparedRow[] };
    const verdict = rows.map((row) => describeVerdict(row)).join('; ');
    return finish({ start, requests, verdict, isRight: rows.length > 0 });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Runs a command of Bench, and returns its output, or the sentence of its error. */
async function runBench(words: string[], cwd: string, timeoutMs: number): Promise<Output | string> {
  const program = join(HOME.root, 'packages', 'bench', 'bench-http.mjs');
  return run([process.execPath, program, ...words], { cwd, timeoutMs }).catch((error: unknown) => {
    if (!(error instanceof SubprocessError)) throw error;
    return /^error: (.*)$/m.exec(error.stderr)?.[1] ?? error.message;
  });
}
