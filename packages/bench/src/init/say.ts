/** What `init` prints. */
import { toLine } from 'bench-report/printable';
import { print } from '../terminal/shell.ts';

/** Prints a finding in two columns: what it is, and its words. */
export function say(what: string, words: string): void {
  print(`${what.padEnd(9)}${toLine(words)}\n`);
}
