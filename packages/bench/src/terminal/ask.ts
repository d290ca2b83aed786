/** Questions to the user on a terminal. */
import { createInterface } from 'node:readline/promises';

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

/** Asks a question whose answer is yes or no, which is the default; undefined without a terminal. */
export async function confirm(question: string): Promise<boolean | undefined> {
  const answer = await ask(`${question} [y/N] `);
  return answer === undefined ? undefined : /^y(es)?$/i.test(answer);
}
