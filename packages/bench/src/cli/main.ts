/** The program `bench-http`: runs the command that the first word names. */
import { BenchError, UsageError } from 'bench-model/errors';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HOME } from 'bench-machine/home';
import { readNames } from 'bench-machine/procfs';
import { hide, literalsInEnvironment } from 'bench-machine/redact';
import { renderOverview, type Command } from './command.ts';
import { bearLostOutput, fail, INTERRUPTED, onInterrupt, print } from '../terminal/shell.ts';
import { suggest } from 'bench-model/suggest';

/** TypeScript in the repository, JavaScript in the package. */
const EXTENSION = extname(import.meta.url);

/** The folders of commands: that of this package and, inside the repository, those of other packages and of the scripts. */
const FOLDERS =
  EXTENSION === '.ts' && HOME.kind === 'repository'
    ? [
        '../commands/',
        ...['bench-cluster', 'bench-lab'].map((name) => `../../../${name}/src/commands/`),
        '../../../../scripts/',
      ]
    : ['../commands/'];

/** Returns the files of the commands by name: every file in a folder of commands is one. */
export function findCommands(): Map<string, URL> {
  const files = FOLDERS.flatMap((path) => {
    const folder = new URL(path, import.meta.url);
    const names = readNames(fileURLToPath(folder)).filter((name) => extname(name) === EXTENSION);
    return names.map((name) => [basename(name, EXTENSION), new URL(name, folder)] as const);
  });
  return new Map(files.toSorted(([one], [other]) => one.localeCompare(other)));
}

/** Loads a command, with the code that it needs. */
export async function loadCommand(file: URL): Promise<Command<unknown>> {
  return ((await import(file.href)) as { default: Command<unknown> }).default;
}

/** Runs `bench-http <words>` and returns the exit code. Options alone are those of `bench`. */
export async function main(words: readonly string[]): Promise<number> {
  using output = bearLostOutput();
  // A signal that no step of the command handles would leave the programs that it waits for, such as compilers.
  using _ = onInterrupt(() => process.exit(INTERRUPTED), 'stopping');
  const code = await runWords(words);
  const lost = await output.findLost();
  return code === 0 && lost !== undefined ? fail(lost) : code;
}

async function runWords(words: readonly string[]): Promise<number> {
  const [first = 'help', ...rest] = words;
  const [named] = rest;
  if (first === 'help' && named !== undefined) return runWords([named, '--help']);
  if (first === 'help' || (rest.length === 0 && HELP.has(first))) {
    print(overview());
    return 0;
  }
  if (['version', '--version', '-V'].includes(first)) {
    print(`${version()}\n`);
    return 0;
  }
  const files = findCommands();
  try {
    const file = files.get(first);
    if (file !== undefined) return await runCommand(await loadCommand(file), rest);
    if (!first.startsWith('-')) throw await unknownCommand(first, [...files.keys()]);
    return await runCommand(await loadCommand(files.get('bench') as URL), words);
  } catch (error) {
    return fail(error);
  }
}

const HELP = new Set(['-h', '--help', '--help-all']);

/**
 * Parses the words after the name of a command, runs it, and returns the exit code. `--help` and `--help-all` print the help. An error
 * becomes a message on stderr and an exit code.
 */
export async function runCommand(command: Command<unknown>, words: readonly string[]): Promise<number> {
  // The servers of users inherit it.
  hide(literalsInEnvironment(process.env).map(({ value }) => value));
  try {
    const help = words.find((word) => HELP.has(word));
    if (help === undefined) return (await command.run(command.parse(words))) ?? 0;
    print(command.help(help === '--help-all'));
    return 0;
  } catch (error) {
    return fail(error);
  }
}

async function unknownCommand(word: string, names: readonly string[]): Promise<BenchError> {
  const { locateBuiltIn, readStacks } = await import('bench-targets/catalogue/stacks');
  const isStack = readStacks().some(({ name }) => name === word.split(/[/@]/)[0]);
  const close = locateBuiltIn(word) ?? suggest(word, names) ?? `the commands are ${names.join(', ')}`;
  const cure = isStack ? `to measure it: bench-http bench ${word}` : close;
  return new UsageError(`unknown command "${word}"`, cure);
}

/** The commands with their summaries, which a test keeps: to load all commands for them would take longer than the rest. */
function overview(): string {
  const text = readFileSync(new URL('summaries.json', import.meta.url), 'utf8');
  const found = findCommands();
  return renderOverview(
    Object.entries(JSON.parse(text) as Record<string, string>).filter(([name]) => found.has(name)),
  );
}

function version(): string {
  return (createRequire(import.meta.url)('bench-http/package.json') as { version: string }).version;
}
