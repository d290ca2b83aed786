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

/** Asks a question whose answer is yes or no, one of which is usual; undefined without a terminal. */
export async function confirm(question: string, usual: 'yes' | 'no' = 'no'): Promise<boolean | undefined> {
  const answer = await ask(`${question} ${usual === 'yes' ? '[Y/n]' : '[y/N]'} `);
  return answer === undefined ? undefined : /^y(es)?$/i.test(answer === '' ? usual : answer);
}
