/** The lines that the harness may have. Run as a program, counts those of this repository; --fix lowers what has become less. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runSync } from 'bench-machine/subprocess';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FILE = 'scripts/checks/budget.json';

/** Texts of a user's first minutes, by what they are. */
const TEXTS = {
  help: 'packages/bench-lab/testing/fixtures/golden/help.txt',
  errors: 'packages/bench-lab/testing/fixtures/golden/errors.txt',
};

/** Figures of the harness, or the most that they may be. */
export interface Budget {
  /** Lines in `src` of each package. */
  src: Record<string, number>;
  /** Lines beside `src` in all packages: tests, fixtures, experiments, schemas. */
  around: number;
  /** Words of the help texts and of the error messages. */
  words: Record<string, number>;
}

/** A file that has lines beside `src`. */
const COUNTED = /\.(ts|mts|js|mjs|py|c|css|html|txt|json|csv)$/;

/** Counts the figures of these files, paths from the root of the repository. `read` returns the text of one. */
export function countFiles(files: readonly string[], read: (path: string) => string): Budget {
  const counted: Budget = { src: {}, around: 0, words: {} };
  for (const path of files) {
    const [, name, rest] = /^packages\/(bench[\w-]*)\/(.+)$/.exec(path) ?? [];
    if (name === undefined || rest === undefined) continue;
    if (rest.startsWith('src/')) counted.src[name] = (counted.src[name] ?? 0) + countLines(read(path));
    else if (COUNTED.test(rest)) counted.around += countLines(read(path));
  }
  for (const [name, path] of Object.entries(TEXTS))
    counted.words[name] = read(path).split(/\s+/).filter(Boolean).length;
  return counted;
}

function countLines(text: string): number {
  return text.split('\n').length - 1;
}

/**
 * Lists what exceeds the budget, one line each. Packages may trade lines with each other, so their sum counts. `before` are
 * budgets of earlier commits: no sum of the new one may be higher.
 */
export function listExceeded(counted: Budget, allowed: Budget, before: readonly Budget[]): string[] {
  const limits = rowsOf(allowed);
  return [
    ...rowsOf(counted).flatMap(([name, count], index) => {
      const most = limits[index]?.[1] ?? 0;
      return count > most ? [`${name}: ${count}, and the budget is ${most}: remove ${count - most}`] : [];
    }),
    ...before.flatMap((earlier) =>
      limits.flatMap(([name, most], index) => {
        const was = rowsOf(earlier)[index]?.[1] ?? Infinity;
        return most > was ? [`${FILE} raises ${name} from ${was} to ${most}: a budget only falls`] : [];
      }),
    ),
  ];
}

function rowsOf({ src, around, words }: Budget): [name: string, figure: number][] {
  const lines = Object.values(src).reduce((sum, count) => sum + count, 0);
  return [
    ['lines in src of all packages', lines],
    ['lines beside src', around],
    ...Object.keys(TEXTS).map((name): [string, number] => [`words of ${name}`, words[name] ?? 0]),
  ];
}

function git(...words: string[]): string {
  return runSync(['git', ...words], { cwd: ROOT }).stdout;
}

/** Returns the budgets of this commit and the one before, as far as the history is here. */
function readEarlier(): Budget[] {
  return ['HEAD', 'HEAD~1'].flatMap((commit) => {
    try {
      return [JSON.parse(git('show', `${commit}:${FILE}`)) as Budget];
    } catch {
      return [];
    }
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
  // A deleted file is still listed until the deletion is staged.
  const gone = new Set(git('ls-files', '--deleted').split('\n'));
  const files = git('ls-files', '--cached', '--others', '--exclude-standard', 'packages')
    .split('\n')
    .filter((path) => !gone.has(path));
  const counted = countFiles(files, read);
  const exceeded = listExceeded(counted, JSON.parse(read(FILE)) as Budget, readEarlier());
  process.stdout.write(exceeded.map((line) => `${line}\n`).join(''));
  process.exitCode = exceeded.length > 0 ? 1 : 0;
  if (process.argv.includes('--fix') && exceeded.length === 0)
    writeFileSync(join(ROOT, FILE), `${JSON.stringify(counted, null, 2)}\n`);
}
