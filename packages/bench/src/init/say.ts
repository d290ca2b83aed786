/** What `init` prints. */
import { print } from '../terminal/shell.ts';

/** Prints a finding in two columns: what it is, and its words. */
export function say(what: string, words: string): void {
  print(`${what.padEnd(9)}${words}\n`);
}
