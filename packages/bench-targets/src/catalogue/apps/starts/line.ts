/** Command lines as projects write them: several steps, wrappers, scripts and addresses of an image. */
import { basename, join, posix } from 'node:path';
import { existsSync } from 'node:fs';
import { isFile } from 'bench-machine/files';
import { scriptOf, withoutRunner } from '../runners.ts';
import { joinWords, splitCommand } from '../words.ts';
import { readText } from './files.ts';
import { withAddress } from './listen.ts';

/** The commands of a line: what is built, what is set up, and the server. */
export interface Line {
  command: string[];
  env: Record<string, string>;
  build: string[][];
  setup: string[][];
}

/** The folder in which a line is written, and the values that it may name. */
export interface Surroundings {
  root: string;
  folder: string;
  env: Readonly<Record<string, string>>;
  copied: readonly [to: string, from: string][];
  /**
   * True for a line that was written for a disposable file system, such as that of a container: it is read for the command that it
   * ends in, and of the rest only known migrations count.
   */
  isForeign: boolean;
}

/** More steps than any script takes to name its server. */
const DEEPEST = 6;

/** Reads a command line. Undefined if it has no server, or only a shell could tell which. */
export function readLine(
  line: string | readonly string[],
  around: Surroundings,
  depth = 0,
): Line | undefined {
  if (depth > DEEPEST) return undefined;
  const steps = typeof line === 'string' ? splitSteps(fillVariables(line, around.env)) : [[...line]];
  const read: Line = { command: [], env: {}, build: [], setup: [] };
  for (const [index, step] of steps.entries()) {
    const isLast = index === steps.length - 1;
    let words: string[];
    try {
      const split = typeof step === 'string' ? splitCommand(step, 'start') : { words: step, env: {} };
      // The server gets the variables of a file by the manifest.
      const { env, ...plain } = withoutRunner(split, true);
      words = plain.words;
      Object.assign(read.env, env);
    } catch {
      return undefined;
    }
    if (!isLast) {
      sort(words, read, around);
      continue;
    }
    const inner = readInner(words, { ...around, env: { ...around.env, ...read.env } }, depth);
    if (inner === undefined) read.command = withAddress(withoutEnvFile(inProject(words, around), around));
    else if (inner === 'unreadable') return undefined;
    else {
      read.command = inner.command;
      Object.assign(read.env, inner.env, read.env);
      read.build.push(...inner.build);
      read.setup.push(...inner.setup);
    }
  }
  return read.command.length === 0 ? undefined : read;
}

/** Splits a line at `&&`, `;` and line ends, outside quotes. */
function splitSteps(line: string): string[] {
  const steps = [''];
  for (const [part] of line.matchAll(/"(?:\\.|[^"\\])*"|'[^']*'|\\.|&&|;|\n|[\s\S]/g)) {
    if (['&&', ';', '\n'].includes(part)) steps.push('');
    else steps.push(`${steps.pop()}${part}`);
  }
  return steps.map((step) => step.trim()).filter((step) => step !== '');
}

/** Replaces the address of the environment by placeholders, and variables by their values or their defaults. */
function fillVariables(line: string, env: Readonly<Record<string, string>>): string {
  return line.replaceAll(
    /"?\$(?:\{(\w+)(?::?-([^}]*))?\}|(\w+))"?/g,
    (whole, braced: string | undefined, usual: string | undefined, plain: string | undefined) => {
      const name = braced ?? plain ?? '';
      if (/^PORT$|_PORT$/.test(name)) return '{port}';
      if (/^HOST$|_HOST$/.test(name)) return '{host}';
      return env[name] ?? usual ?? whole;
    },
  );
}

/** Installs, folders and permissions: the environment that Bench makes has them already. */
const NOTHING =
  /^(cd|set|mkdir|chmod|chown|cp|mv|rm|echo|sleep|export|source|\.|touch|true|wait-for\S*|apt(-get)?|apk)$/;
const INSTALLS = /^(npm|pnpm|yarn|pip\d?|uv|poetry|pipenv|pdm|bundle|composer|bun)$/;

/** Adds a step before the server to the builds or to the setup. */
function sort(words: string[], read: Line, { isForeign }: Surroundings): void {
  const [program = '', verb = '', script = ''] = words;
  const name = basename(program);
  const isScript = ['npm', 'pnpm', 'yarn', 'bun'].includes(name) && verb === 'run';
  if (words.length === 0 || NOTHING.test(name)) return;
  if (INSTALLS.test(name) && /^(install|ci|i|sync|add)$/.test(verb)) return;
  const isBuild = isScript
    ? /build|compile|generate/.test(script)
    : /^(tsc|swc|esbuild|webpack|rollup|vite|nest|nx)$/.test(name);
  if (isBuild) read.build.push(words);
  else if (!isForeign || isMigration(words)) read.setup.push(words);
}

/** Reads the line that a command only leads to: of a shell, a script of the project, or of package.json. */
function readInner(
  words: readonly string[],
  around: Surroundings,
  depth: number,
): Line | 'unreadable' | undefined {
  const { root, folder } = around;
  const [program = '', ...rest] = words;
  const name = basename(program);
  const isShell = /^(ba|da|z|a)?sh$/.test(name);
  if (isShell && /^-\w*c$/.test(rest[0] ?? ''))
    return readLine(rest[1] ?? '', around, depth + 1) ?? 'unreadable';
  const script = isShell ? rest.find((word) => !word.startsWith('-')) : program;
  // A name alone is a program on PATH, even if the project has a file that is called like it.
  const isPath = isShell || /[./]/.test(script ?? '');
  const file = script !== undefined && isPath ? fileInProject(script, around) : undefined;
  const isScript =
    isShell ||
    /\.(sh|bash)$/.test(script ?? '') ||
    (file !== undefined && /^#!.*\b(ba|da)?sh\b/.test(readText(root, folder, file)));
  if (isScript) {
    const args = isShell ? rest.slice(rest.indexOf(script ?? '') + 1) : rest;
    const text = file === undefined ? '' : readText(root, folder, file);
    const inner = readScript(text, args, around, depth);
    if (inner !== undefined) return inner;
    // The script of an image usually ends in its arguments; it is never run itself.
    if (around.isForeign)
      return (args.length > 0 ? readLine(args, around, depth + 1) : undefined) ?? 'unreadable';
    return file === undefined ? undefined : { command: ['sh', file, ...args], env: {}, build: [], setup: [] };
  }
  if (around.isForeign && isEntry(words))
    return readLine(argsOfEntry(words), around, depth + 1) ?? 'unreadable';
  const named = scriptOf(words, join(root, folder));
  if (named === undefined) return undefined;
  return readLine([named.line, ...named.added].join(' '), around, depth + 1) ?? 'unreadable';
}

/** Reads a shell script: its last command is the server, single commands before it are its setup. */
function readScript(
  text: string,
  args: readonly string[],
  around: Surroundings,
  depth: number,
): Line | undefined {
  const lines = text
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .map((line) => line.trim().replace(/^(?:if|while|until)\s+!?\s*(.*?);?\s*(?:then|do)?$/, '$1'))
    .filter(
      (line) =>
        line !== '' &&
        !/^(#|(if|then|else|elif|fi|do|done|while|until|for|case|esac|break|exit|function|\w+\(\)|[{}]|\[)(\s|;|$)|\[)/.test(
          line,
        ),
    );
  const last = lines.findLast((line) => /^exec\s/.test(line)) ?? lines.at(-1);
  if (last === undefined) return undefined;
  const given = last.replaceAll(/"?\$(?:@|\*|\{@\})"?/g, () => joinWords(args));
  const server = readLine(given, around, depth + 1);
  if (server === undefined) return undefined;
  const before = lines.slice(0, lines.indexOf(last)).map((line) => readLine(line, around, depth + 1));
  const commands = before.flatMap((one) => (one === undefined ? [] : [...one.setup, one.command]));
  return { ...server, setup: [...commands.filter((words) => isMigration(words)), ...server.setup] };
}

/** Tools that bring a database or static files to their form, and scripts of package.json that are named like that. */
const MIGRATIONS =
  /^(?:(?:python[\d.]*t? )?(?:\S*\/)?manage\.py (?:migrate|collectstatic)|alembic upgrade|(?:python[\d.]*t? -m )?flask (?:--app \S+ )?db upgrade|aerich upgrade|prisma (?:migrate deploy|db push)|(?:knex|sequelize|typeorm|mikro-orm|drizzle-kit) (?:db:)?migrat\S*|(?:npm|pnpm|yarn|bun) run (?:\S*[-:])?migrat\S*|(?:npm|pnpm|yarn|bun) run db:\S+)\b/;

/** Returns true for a migration. Other commands of a script may wait, print or check, or change the system of a container. */
function isMigration(words: readonly string[]): boolean {
  return MIGRATIONS.test(words.join(' '));
}

/** The name of a program that prepares a container, and then starts the command after it. */
const ENTRY = /entry[-_]?point|^(?:docker|container)[-_]|^(?:init|setup|prepare|boot|bootstrap)(?:\.\w+)?$/i;

/** Returns the place of such a program among the words: first, or after its interpreter. */
function entryAt([program = '', script = '']: readonly string[]): number {
  if (ENTRY.test(basename(program))) return 0;
  return /^(?:python|node|perl|ruby|php|bun|deno)[\d.]*$/.test(basename(program)) &&
    ENTRY.test(basename(script))
    ? 1
    : -1;
}

/** Returns true if a command runs a program that prepares a container. */
export function isEntry(words: readonly string[]): boolean {
  return entryAt(words) >= 0;
}

function argsOfEntry(words: readonly string[]): string[] {
  return words.slice(entryAt(words) + 1);
}

/** Returns the path of a program or a file of an image in the project: `/app/boot.sh` is `boot.sh`. */
function fileInProject(word: string, { root, folder, copied }: Surroundings): string | undefined {
  const isHere = (file: string): boolean => isFile(join(root, folder, file));
  const plain = word.replace(/^\.\//, '');
  const moved = copied.flatMap(([to, from]) => {
    const rest = posix.relative(to, plain);
    return rest.startsWith('..') ? [] : [posix.join(from, rest)];
  });
  const inner = plain.startsWith('/') ? [plain.replace(/^\/[^/]+\//, ''), basename(plain)] : [plain];
  return (
    [...moved, ...inner].find((file) => file.includes('.') && isHere(file)) ??
    [...moved, ...inner].find(isHere)
  );
}

/** Removes a file of variables that the project does not have: Bench gives the server those of its example. */
function withoutEnvFile(words: readonly string[], { root, folder }: Surroundings): string[] {
  return words.filter((word) => {
    const [, file] = /^--env-file=(.+)$/.exec(word) ?? [];
    return file === undefined || existsSync(join(root, folder, file));
  });
}

/** Replaces the paths of an image in a command by those of the project. */
function inProject(words: readonly string[], around: Surroundings): string[] {
  return words.map((word, index) => {
    if (word.startsWith('-')) return word;
    const moved = around.copied.find(([to]) => to === word.replace(/^\.\//, ''));
    if (moved !== undefined) return moved[1];
    if (index === 0 || !word.startsWith('/')) return word;
    return fileInProject(word, around) ?? word;
  });
}
