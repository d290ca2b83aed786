/** Programs that only lead to a server: runners, supervisors, and scripts of package managers. */
import { basename } from 'node:path';
import { readNodeManifest } from './manifests.ts';
import type { Words } from './words.ts';

/** Programs that make way for the command after them. */
const PASSING = /^(exec|nohup|time|command)$/;
/** Programs that take options and variables before the command. */
const SETTING = /^(tini|dumb-init|cross-env|cross-env-shell|env|pidproxy)$/;
/** Programs that give the command the variables of a file. */
const LOADING = /^dotenvx?$/;
/** Programs that run a command in the environment of the project, which Bench makes itself. */
const RUNNERS = /^(uv|poetry|pipenv|pdm|hatch)$/;
/** Options of a runner that take a value. */
const WITH_VALUE =
  /^(-p|--(?:with|python|env-file|extra|group|only-group|package|project|directory|index|env))$/;

/**
 * Returns the command that starts a server itself, and its variables, without what only stands before it. A command that loads
 * variables from a file stays as it is, unless they come from elsewhere.
 */
export function withoutRunner({ words, env }: Words, hasVariables = false): Words {
  const [first = '', ...rest] = words;
  const name = basename(first);
  const next = (from: number, more: Words['env'] = {}): Words =>
    withoutRunner({ words: from < 0 ? [] : rest.slice(from), env: { ...env, ...more } }, hasVariables);
  if (PASSING.test(name)) return next(0);
  if (isAssigned(first)) return next(0, readAssigned([first]));
  if (SETTING.test(name) || (hasVariables && LOADING.test(name))) {
    const after = rest.indexOf('--');
    const isOption = (word: string): boolean => word.startsWith('-') || word === 'run' || isAssigned(word);
    const from = after >= 0 ? after + 1 : rest.findIndex((word) => !isOption(word));
    return next(from, readAssigned(rest.slice(0, Math.max(from, 0))));
  }
  if (RUNNERS.test(name) && rest[0] === 'run') {
    return next(
      rest.findIndex(
        (word, index) => index > 0 && !word.startsWith('-') && !WITH_VALUE.test(rest[index - 1] ?? ''),
      ),
    );
  }
  if (name === 'npx' && rest[0]?.startsWith('-') === false) return next(0);
  if (name === 'pnpm' && rest[0] === 'exec') return next(1);
  return { words, env };
}

function isAssigned(word: string): boolean {
  return /^\w+=/.test(word);
}

function readAssigned(words: readonly string[]): Words['env'] {
  return Object.fromEntries(
    words.filter(isAssigned).map((word) => {
      const at = word.indexOf('=');
      return [word.slice(0, at), word.slice(at + 1)];
    }),
  );
}

/** A script of a `package.json`, and the words that its caller adds. */
export interface Script {
  name: string;
  line: string;
  added: string[];
}

/** Returns the script that a package manager runs in a folder; undefined if it runs none. */
export function scriptOf([program = '', ...rest]: readonly string[], folder: string): Script | undefined {
  const manager = basename(program);
  if (!['npm', 'pnpm', 'yarn', 'bun'].includes(manager)) return undefined;
  const isRun = rest[0] === 'run' || rest[0] === 'run-script';
  const [name = '', ...added] = isRun ? rest.slice(1) : rest;
  // npm needs the word run, except before its own words.
  if (manager === 'npm' && !isRun && name !== 'start') return undefined;
  const line = readNodeManifest(folder).scripts?.[name];
  return line === undefined ? undefined : { name, line, added: added.filter((word) => word !== '--') };
}
