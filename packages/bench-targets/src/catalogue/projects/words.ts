/** Command lines as words. Bench starts no shell, so a command line must not need one. */
import { UsageError } from 'bench-model/errors';

/** A command line as words, and the variables that it sets. */
export interface Words {
  words: string[];
  env: Record<string, string>;
}

/**
 * Splits a command line as a shell would: blanks, quotes, backslashes, and NAME=value before the command. Throws a usage
 * error for operators and variables, which only a shell understands. `where` names the command line in errors.
 */
export function splitCommand(line: string, where: string): Words {
  const parts = split(line, where);
  const first = parts.findIndex((part) => !/^\w+=/.test(part));
  if (first < 0)
    throw new UsageError(`${where}: expected a command`, "e.g. --run 'uvicorn app:app --port {port}'");
  const assigned = parts.slice(0, first).map((part) => part.split(/=(.*)/s).slice(0, 2));
  return { words: parts.slice(first), env: Object.fromEntries(assigned) as Record<string, string> };
}

/** Blanks, quoted text, an escaped letter, plain text, and anything else. */
const PARTS = /\s+|'([^']*)'|"((?:\\.|[^"\\$`])*)"|\\(.)|([^\s'"\\$`&|;<>]+)|(.)/gs;

function split(line: string, where: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (const { 0: text, 1: single, 2: double, 3: escaped, 4: plain, 5: other, index } of line.matchAll(
    PARTS,
  )) {
    if (other !== undefined) throw refusedAt(line.slice(index), `${where} ${line}`);
    if (/^\s/.test(text)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = `${word ?? ''}${single ?? double?.replaceAll(/\\(.)/gs, '$1') ?? escaped ?? plain}`;
  }
  return word === undefined ? words : [...words, word];
}

/** Returns the error of a line of which only a shell understands the rest. */
function refusedAt(rest: string, shown: string): UsageError {
  const [sign = ''] = rest;
  const isVariable = /^(?:"[^"]*)?[$`]/.test(rest);
  if (!isVariable && /["']/.test(sign))
    return new UsageError(`${shown}: the quote ${sign} is not closed`, 'close it');
  const what = isVariable ? 'nothing replaces the variable or the command' : `"${sign}" has no meaning`;
  return new UsageError(
    `${shown}: Bench starts no shell, so ${what}`,
    'put it into a script of the project, and run that',
  );
}

/** Returns the words as a line that a shell would split into them again. */
export function joinWords(words: readonly string[]): string {
  return words
    .map((word) => (/^(?:[\w@%+=:,./-]|\{\w+\})+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ');
}
