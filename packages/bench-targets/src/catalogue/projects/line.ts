/** Command lines as projects write them: several steps, runners, shells, and scripts of package managers. */
import { basename } from 'node:path';
import { BenchError } from 'bench-model/errors';
import { readNodeManifest } from './manifests.ts';
import { joinWords, splitCommand, type Words } from './words.ts';

/** More scripts than any that lead to each other. */
const DEEPEST = 6;

/** Returns a line as the command of a shell. */
export const inShell = (line: string): string[] => ['sh', '-c', line];

/**
 * Returns the command that starts a server itself: behind runners, shells and scripts of package managers, without the steps before
 * it; with `isWhole`, only if there are none. Undefined if there is no such command, or only a shell could tell which.
 */
export function follow(typed: Words, place: string, isWhole = false, depth = 0): Words | undefined {
  const { words, env } = withoutRunner(typed);
  const line = lineBehind(words, place);
  if (line === undefined) return words.length === 0 ? undefined : { words, env };
  if (depth === DEEPEST) return undefined;
  try {
    const last = isWhole ? line : (stepsOf(fillVariables(line, env)).at(-1) ?? '');
    const inner = splitCommand(last, line);
    return follow({ words: inner.words, env: { ...env, ...inner.env } }, place, isWhole, depth + 1);
  } catch (error) {
    // Only a shell understands it.
    if (error instanceof BenchError) return undefined;
    throw error;
  }
}

/** Returns the line that a command only leads to: that of a shell, or of a script of a package manager. */
function lineBehind([program = '', ...rest]: readonly string[], place: string): string | undefined {
  const name = basename(program);
  if (/^(ba|da|z|a)?sh$/.test(name)) return /^-\w*c$/.test(rest[0] ?? '') ? rest[1] : undefined;
  if (!['npm', 'pnpm', 'yarn', 'bun'].includes(name)) return undefined;
  const isRun = rest[0] === 'run' || rest[0] === 'run-script';
  const [script = '', ...added] = isRun ? rest.slice(1) : rest;
  // npm needs the word run, except before its own words.
  const isOwn = name === 'npm' && !isRun && script !== 'start';
  const line = isOwn ? undefined : readNodeManifest(place).scripts[script];
  return line && `${line} ${joinWords(added.filter((word) => word !== '--'))}`.trim();
}

/** Returns the steps of a line: what `&&`, `;` and line ends outside quotes separate. */
export function stepsOf(line: string): string[] {
  const steps = [''];
  for (const [part] of line.trim().matchAll(/"(?:\\.|[^"\\])*"|'[^']*'|\\.|&&|;|\n|[\s\S]/g)) {
    if (['&&', ';', '\n'].includes(part)) steps.push('');
    else steps.push(`${steps.pop()}${part}`);
  }
  return steps.map((step) => step.trim());
}

/** Replaces the address of the environment by placeholders, and variables by their values or their defaults. */
function fillVariables(line: string, env: Readonly<Record<string, string>>): string {
  const fill = (whole: string, braced?: string, usual?: string, plain?: string): string => {
    const name = braced ?? plain ?? '';
    const [, part] = /^(?:.*_)?(PORT|HOST)$/.exec(name) ?? [];
    return part === undefined ? (env[name] ?? usual ?? whole) : `{${part.toLowerCase()}}`;
  };
  return line.replaceAll(/"?\$(?:\{(\w+)(?::?-([^}]*))?\}|(\w+))"?/g, fill);
}

/** Programs that make way for the command after them. */
const PASSING = /^(exec|nohup|time|command|tini|dumb-init|cross-env|cross-env-shell|env|npx)$/;
/** Those that run a command in the environment of the project, which Bench makes itself. */
const RUNNERS = /^(?:(?:uv|poetry|pipenv|pdm|hatch) run|pnpm exec)$/;
/** Options of these that take a value. */
const WITH_VALUE =
  /^(-p|--(?:with|python|env-file|extra|group|only-group|package|project|directory|index|env))$/;

/** Returns a command and its variables without what only stands before it. */
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
