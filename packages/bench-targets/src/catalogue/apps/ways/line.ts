/** Command lines as projects write them: several steps, runners, and scripts of package managers. */
import { basename } from 'node:path';
import { BenchError } from 'bench-model/errors';
import { readNodeManifest } from '../manifests.ts';
import { splitCommand, type Words } from '../words.ts';
import { withAddress } from './address.ts';

/** The folder in which a line is written, and the values that it may name. */
interface Surroundings {
  place: string;
  env: Readonly<Record<string, string>>;
  isForeign: boolean;
}

/** More scripts than any that lead to each other. */
const DEEPEST = 6;

/** Reads the server that a command line ends in: the steps before it are left out. Undefined if it has none, or only a shell could tell which. */
export function readLine(
  line: string | readonly string[],
  { place, env: given, isForeign }: Surroundings,
  depth = 0,
): Words | undefined {
  if (depth > DEEPEST) return undefined;
  try {
    const typed =
      typeof line === 'string'
        ? splitCommand(stepsOf(fillVariables(line, given)).at(-1) ?? '', 'start')
        : { words: [...line], env: {} };
    const { words, env } = withoutRunner(typed);
    const behind = lineBehind(words, place);
    if (behind !== undefined) {
      const inner = readLine(behind, { place, env: { ...given, ...env }, isForeign }, depth + 1);
      return inner && { words: inner.words, env: { ...inner.env, ...env } };
    }
    // The script of an image prepares a file system that is not that of this machine.
    if (words.length === 0 || (isForeign && isScript(words))) return undefined;
    return { words: withAddress(words), env };
  } catch (error) {
    // Only a shell understands it.
    if (error instanceof BenchError) return undefined;
    throw error;
  }
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
    if (/^PORT$|_PORT$/.test(name)) return '{port}';
    if (/^HOST$|_HOST$/.test(name)) return '{host}';
    return env[name] ?? usual ?? whole;
  };
  return line.replaceAll(/"?\$(?:\{(\w+)(?::?-([^}]*))?\}|(\w+))"?/g, fill);
}

/** Returns the line that a command only leads to: that of a shell, or of a script of package.json. */
function lineBehind(words: readonly string[], place: string): string | undefined {
  const [program = '', option = '', line = ''] = words;
  if (/^(ba|da|z|a)?sh$/.test(basename(program)) && /^-\w*c$/.test(option)) return line;
  const script = scriptOf(words, place);
  return script && [script.line, ...script.added].join(' ');
}

/** The name of a program that prepares a container, and then starts the command after it; and a script of a shell. */
const SCRIPT =
  /entry[-_]?point|^(?:docker|container)[-_]|^(?:init|setup|prepare|boot|bootstrap)(?:\.\w+)?$|\.(?:ba)?sh$/i;
const INTERPRETER = /^(?:(?:ba|da|z|a)?sh|python|node|perl|ruby|php|bun|deno)[\d.]*$/;

/** Returns true if a command runs a script of an image. */
function isScript([program = '', ...args]: readonly string[]): boolean {
  const name = INTERPRETER.test(basename(program)) ? args.find((word) => !word.startsWith('-')) : program;
  // A word of a package manager is no file.
  return name !== undefined && /[./]/.test(name) && SCRIPT.test(basename(name));
}

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
