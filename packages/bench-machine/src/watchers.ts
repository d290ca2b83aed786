/** Programs of development that start a server anew when its files change, recognised in its process tree. */
import { basename } from 'node:path';
import { addressesOf, ancestorsOf, environHas, familyOf, readNames, readText, readWords } from './procfs.ts';

/** Watchers that are programs of their own. */
const PROGRAMS = new Set(
  'air cargo-watch entr node-dev nodemon onchange reflex ts-node-dev tsnd watchexec watchmedo'.split(' '),
);

/** Programs that watch files, and the word after their name with which they do. */
const MODES: readonly [programs: string, word: RegExp][] = [
  ['astro fastapi next nuxi nuxt quarkus react-router remix', /^dev$/],
  ['cargo dotnet tsx', /^watch$/],
  ['granian gunicorn hypercorn uvicorn', /^--reload$/],
  ['flask quart', /^--(debug|reload)$/],
  ['deno node', /^--watch/],
  ['bun', /^--(watch|hot)$/],
  ['litestar', /^(--reload|-r)$/],
  ['nest', /^(--watch|-w)$/],
  ['sanic', /^(--dev|-d|--auto-reload|-r|--reload)$/],
  ['vite', /^(dev|serve)$/],
  ['webpack', /^(serve|--watch|-w)$/],
];

/** Variables by which a reloader marks the server that it starts. */
const MARKS: readonly [variable: string, name: string][] = [
  ['RUN_MAIN', "Django's runserver"],
  ['WERKZEUG_RUN_MAIN', 'the reloader of Flask'],
];

/** Programs that are named by one of their next words: `python -m uvicorn`, `node node_modules/.bin/tsx`. */
const INTERPRETER = /^(node|nodejs|python[\d.]*t?|pypy[\d.]*)$/;
const WORDS_BEFORE = 4;

/** Names the watcher that a command line starts: `nodemon`, `uvicorn --reload`. Undefined if it starts none. */
export function nameWatcher(words: readonly string[]): string | undefined {
  const isInterpreted = INTERPRETER.test(basename(words[0] ?? ''));
  for (const [index, word] of words.slice(0, isInterpreted ? WORDS_BEFORE : 1).entries()) {
    for (const program of nameProgram(word)) {
      if (PROGRAMS.has(program)) return program;
      const [, mode] = MODES.find(([programs]) => programs.split(' ').includes(program)) ?? [];
      // The words of a script that Node runs are not those of Node.
      const own = program === 'node' ? takeOptions(words.slice(index + 1)) : words.slice(index + 1);
      const found = mode && own.find((one) => mode.test(one));
      if (found !== undefined) return `${program} ${found.replace(/=.*/, '')}`;
    }
  }
  return undefined;
}

/** The names of a program by its path: that of its file and that of its package, as in `node_modules/tsx/dist/cli.mjs`. */
function nameProgram(path: string): string[] {
  const inPackage = /.*\/node_modules\/(?:@[^/]+\/)?([^/.][^/]*)\//.exec(path)?.[1];
  const name = basename(path);
  return [name === 'nodejs' ? 'node' : name, ...(inPackage === undefined ? [] : [inPackage])];
}

function takeOptions(words: readonly string[]): readonly string[] {
  const end = words.findIndex((word) => !word.startsWith('-'));
  return end < 0 ? words : words.slice(0, end);
}

/**
 * Names the watcher in the process tree of a server: of the process itself, of its descendants and, if `isAttached`, of the
 * processes that started it. A program without a known name is one if it watches files and the process that listens is below
 * it. Undefined if there is none, and on systems without /proc.
 */
export function findWatcher(pid: number, isAttached: boolean): string | undefined {
  const family = [...familyOf([pid])];
  for (const one of isAttached ? [...ancestorsOf(pid), ...family] : family) {
    const named =
      nameWatcher(readWords(one)) ?? MARKS.find(([variable]) => environHas(one, variable, 'true'))?.[1];
    if (named !== undefined) return named;
  }
  const other = family.find((one) => watchesFiles(one) && listensBelow(one));
  return other === undefined ? undefined : nameCommand(readWords(other));
}

/** Returns true if the system tells a process of changed files (inotify(7)). */
function watchesFiles(pid: number): boolean {
  const folder = `/proc/${pid}/fdinfo`;
  return readNames(folder).some((name) => readText(`${folder}/${name}`)?.includes('\ninotify wd:') === true);
}

function listensBelow(pid: number): boolean {
  return addressesOf([pid]).length === 0 && addressesOf(familyOf([pid])).length > 0;
}

/** `node dev.js`: a program, and the script that it runs. */
function nameCommand([program = '', ...words]: string[]): string {
  const script = INTERPRETER.test(basename(program))
    ? words.find((word) => !word.startsWith('-'))
    : undefined;
  return [program, script ?? []]
    .flat()
    .map((word) => basename(word))
    .join(' ');
}
