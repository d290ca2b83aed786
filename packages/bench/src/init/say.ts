/** What `init` prints and asks. */
import { createInterface } from 'node:readline/promises';
import { print } from '../terminal/shell.ts';

/** Prints a finding in two columns: what it is, and its words. */
export function say(what: string, words: string): void {
  print(`${what.padEnd(9)}${words}\n`);
}

/** Asks on a terminal; undefined if there is none. */
export async function ask(question: string): Promise<string | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await lines.question(question)).trim();
  } finally {
    lines.close();
  }
}
