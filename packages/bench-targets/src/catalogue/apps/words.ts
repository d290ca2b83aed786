/** Command lines as words. Bench starts no shell, so a command line must not need one. */
import { BenchError } from 'bench-model/errors';

const SCRIPT = 'put it into a script of the project, and run that';

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
  const words = first < 0 ? [] : parts.slice(first);
  if (words.length === 0) {
    throw new BenchError(
      'usage',
      `${where}: expected a command`,
      "e.g. --run 'uvicorn app:app --port {port}'",
    );
  }
  const assigned = first < 0 ? parts : parts.slice(0, first);
  const env = assigned.map((part) => {
    const at = part.indexOf('=');
    return [part.slice(0, at), part.slice(at + 1)] as const;
  });
  return { words, env: Object.fromEntries(env) };
}

function split(line: string, where: string): string[] {
  const refuse = (what: string, hint: string): never => {
    throw new BenchError('usage', `${where} ${line}: ${what}`, hint);
  };
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let index = 0; index < line.length; index++) {
    const letter = line.charAt(index);
    if (quote !== "'" && letter === '\\') {
      word = `${word ?? ''}${line.charAt(++index)}`;
    } else if (quote !== "'" && (letter === '$' || letter === '`')) {
      refuse('Bench starts no shell, so nothing replaces the variable or the command', SCRIPT);
    } else if (letter === quote) {
      quote = '';
    } else if (quote !== '') {
      word = `${word ?? ''}${letter}`;
    } else if (letter === "'" || letter === '"') {
      quote = letter;
      word ??= '';
    } else if (/[&|;<>]/.test(letter)) {
      refuse(`Bench starts no shell, so "${letter}" has no meaning`, SCRIPT);
    } else if (/\s/.test(letter)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = `${word ?? ''}${letter}`;
    }
  }
  if (quote !== '') refuse(`the quote ${quote} is not closed`, 'close it');
  return word === undefined ? words : [...words, word];
}

/** Returns the words as a line that a shell would split into them again. */
export function joinWords(words: readonly string[]): string {
  return words
    .map((word) => (/^(?:[\w@%+=:,./-]|\{\w+\})+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ');
}
