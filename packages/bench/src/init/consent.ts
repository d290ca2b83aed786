/** What `init` would execute of a project: shown whole before any of it runs, and asked once on a terminal. */
import { BenchError } from 'bench-model/errors';
import { toLine, toPrintable } from 'bench-report/printable';
import { commandsOf } from 'bench-targets/catalogue/apps/commands';
import type { Start } from 'bench-targets/catalogue/apps/starts';
import { confirm } from '../terminal/ask.ts';
import { printStyled } from '../terminal/shell.ts';
import type { InitChoices } from './choices.ts';

/** The project, and what was asked. */
interface Asked {
  root: string;
  choices: Pick<InitChoices, 'lock' | 'envFile' | 'yes'>;
}

/**
 * Shows everything that these starts would execute of the project, in the order in which they are tried. Throws a usage error if
 * the user, who is asked on a terminal, does not want that.
 */
export async function showCommands(starts: readonly Start[], { root, choices }: Asked): Promise<void> {
  const seen = new Set<string>();
  const lines = starts.flatMap((start, index) => {
    const commands = commandsOf(start, { root, ...choices }).filter((line) => !seen.has(line));
    for (const line of commands) seen.add(line);
    return commands.map((line, at) => `${(index > 0 && at === 0 ? 'else' : 'runs').padEnd(9)}${line}`);
  });
  // Nothing is redacted: a command of which a part is hidden would not be shown.
  const text = lines.map((line) => `${toPrintable(toLine(line.replaceAll('\n', '\\n')))}\n`).join('');
  const isTyped = starts.every(({ why }) => why === '--run') && lines.length === 1;
  printStyled(text);
  if (choices.yes || isTyped) return;
  // Where the output goes into a file, the question shows it.
  const again = process.stdout.isTTY ? '' : text;
  const answer = await confirm(`${again}Run this, with your rights?`, 'yes');
  if (answer === false)
    throw new BenchError(
      'usage',
      'nothing of the project was executed, and nothing was written',
      "name another command: --run 'uvicorn app:app --port {port}'",
    );
}
