import { inspect } from 'node:util';
import { asksForHelp, type Command } from '@bench/harness/cli/command';
import { BenchError } from '@bench/harness/errors';
import { hide, secretsOf } from '@bench/harness/redact';
import { toLine, toOutput, toPrintable } from '@bench/harness/report/printable';
import type { Screen } from '@bench/harness/report/progress';

/** Under `npx pnpm` one Ctrl-C arrives twice; within this time it is the same press. */
const SAME_PRESS_MS = 1000;

/**
 * Runs `main` with the command line as a typed value, and sets the exit code that it gives. Prints the help if it is
 * asked for; an error becomes a message on stderr and an exit code.
 */
export async function runCommand<T>(
  command: Command<T>,
  main: (asked: T) => Promise<number | void>,
): Promise<void> {
  // Whoever reads may leave, as `| head` does: what is measured goes on and is kept.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
    });
  }
  hide([...secretsOf({ url: process.env['DATABASE_URL'] ?? '' }), process.env['PGPASSWORD']]);
  try {
    const words = process.argv.slice(2);
    if (asksForHelp(words)) print(command.help());
    else process.exitCode = (await main(command.parse(words))) ?? 0;
  } catch (error) {
    process.exitCode = fail(error);
  }
}

/** One line to the user on stderr: stdout is the report's. */
export function tell(line: string): void {
  process.stderr.write(`${toOutput(line)}\n`);
}

/** Prints a report on stdout. */
export function print(text: string): void {
  process.stdout.write(toOutput(text));
}

/** Prints a JSON document on stdout. It has lost its secrets value by value: in its text they would be sought in figures too. */
export function printJson(text: string): void {
  process.stdout.write(toPrintable(text));
}

const CLEAR_LINE = '\r\u001B[K';

/** Shows the progress of a run on stderr. */
export const screen: Screen = {
  isLive: process.stderr.isTTY,
  showLive: (text) => process.stderr.write(`${CLEAR_LINE}${toLine(toOutput(text))}`),
  showLine: (text) => process.stderr.write(`${screen.isLive ? CLEAR_LINE : ''}${toLine(toOutput(text))}\n`),
};

/** The columns that a table may take: those of the terminal, or any number with `--detail` and for a file or pipe. */
export function widthFor({ detail = false }: { detail?: boolean | undefined }): number | undefined {
  return detail ? undefined : process.stdout.columns || undefined;
}

/** Prints the message of an error and gives its exit code. A stack trace is shown only with DEBUG. */
export function fail(error: unknown): number {
  if (process.env['DEBUG'] !== undefined) tell(inspect(error));
  if (error instanceof BenchError) {
    tell(`error: ${error.message}${error.hint === undefined ? '' : `\n       ${error.hint}`}`);
    return error.exitCode;
  }
  tell(
    `error: ${error instanceof Error ? error.message : String(error)}\n       a defect of this tool: DEBUG=1 shows where`,
  );
  return 1;
}

/**
 * Says `words` and calls `stop` on the first Ctrl-C (or SIGTERM), and ends the process at once on a
 * second one that is not an echo of the first.
 */
export function onInterrupt(
  stop: () => void,
  words = 'stopping: what has been measured is kept',
): Disposable {
  let pressedAt: number | undefined;
  const press = (): void => {
    const now = performance.now();
    if (pressedAt === undefined) {
      pressedAt = now;
      tell(`\n${words}`);
      stop();
    } else if (now - pressedAt > SAME_PRESS_MS) {
      process.exit(130);
    }
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, press);
  return {
    [Symbol.dispose]() {
      for (const signal of signals) process.off(signal, press);
    },
  };
}
