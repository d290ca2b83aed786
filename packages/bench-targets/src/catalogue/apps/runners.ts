/** Programs that only lead to a server: runners, supervisors, and scripts of package managers. */
import { basename } from 'node:path';
import { readNodeManifest } from './manifests.ts';
import type { Words } from './words.ts';

/** Programs that make way for the command after them. */
const PASSING = /^(exec|nohup|time|command|tini|dumb-init|cross-env|cross-env-shell|env|npx)$/;
/** Programs that run a command in the environment of the project, which Bench makes itself. */
const RUNNERS = /^(?:(?:uv|poetry|pipenv|pdm|hatch) run|pnpm exec)$/;
/** Options of these that take a value. */
const WITH_VALUE =
  /^(-p|--(?:with|python|env-file|extra|group|only-group|package|project|directory|index|env))$/;

/** Returns the command that starts a server itself, and its variables, without what only stands before it. */
export function withoutRunner(typed: Words): Words {
  const words = [...typed.words];
  const env = { ...typed.env };
  for (;;) {
    const [first = '', second = ''] = words;
    const [, variable, value = ''] = /^(\w+)=(.*)$/s.exec(first) ?? [];
    const isRunner = RUNNERS.test(`${basename(first)} ${second}`);
    if (variable !== undefined) env[variable] = value;
    else if (!PASSING.test(basename(first)) && !isRunner) return { words, env };
    words.splice(0, isRunner ? 2 : 1);
    while (words[0]?.startsWith('-')) words.splice(0, WITH_VALUE.test(words[0]) ? 2 : 1);
  }
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
