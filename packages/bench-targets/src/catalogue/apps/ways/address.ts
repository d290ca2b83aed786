/** Programs that serve, and how each is told its address; and those that are no server. */
import { basename } from 'node:path';

const BOTH = '--host {host} --port {port}';
const BIND = '--bind {host}:{port}';
/** How each server is told its address. */
const SERVERS: Record<string, string> = {
  uvicorn: BOTH,
  gunicorn: BIND,
  hypercorn: BIND,
  granian: BOTH,
  daphne: '--bind {host} --port {port}',
  'waitress-serve': '--listen {host}:{port}',
  flask: BOTH,
  fastapi: BOTH,
  litestar: BOTH,
  sanic: BOTH,
  wrangler: '--ip {host} --port {port}',
  next: '--hostname {host} --port {port}',
};
/** Programs that start a server by one of these words only. */
const WITH_WORD = /^(?:flask|fastapi|litestar|wrangler|next)\b(?!.* (?:run|dev|start)\b)/;
/** The options of these: of an address, of the number of processes, and of development. */
const ADDRESS = /^(?:-b|--bind|--host|-h|-H|--hostname|--ip|-p|--port|--listen)$/;
const WORKERS = /^(?:-w|-W|--workers)$/;
const OF_DEVELOPMENT = /^--(?:reload|debug)$/;

/**
 * Returns the words of a server with its address as placeholders, and its number of processes as `{workers}`. Of a program that is
 * not known, only the values of --host and --port are replaced.
 */
export function withAddress(words: readonly string[]): string[] {
  const django = words.indexOf('runserver');
  if (django > 0) return [...words.slice(0, django + 1), '{host}:{port}', '--noreload'];
  // `--port=80` is `--port 80`.
  const plain = words.flatMap((word) => (/^--[\w-]+=/.test(word) ? word.split(/=(.*)/s, 2) : [word]));
  const at = programAt(words) + 1;
  const name = basename(words[at - 1] ?? '');
  const address = Object.hasOwn(SERVERS, name) ? SERVERS[name]?.split(' ') : undefined;
  if (address === undefined) return words.map((word, index) => fillUnknown(word, words[index - 1]));
  if (WITH_WORD.test(lineOf(words))) return [...words];
  const given = plain.slice(at).flatMap((word, index, all) => {
    const before = all[index - 1] ?? '';
    if (ADDRESS.test(word) || ADDRESS.test(before) || OF_DEVELOPMENT.test(word)) return [];
    return [WORKERS.test(before) ? '{workers}' : word];
  });
  // Waitress takes no option after its app.
  const all = name === 'waitress-serve' ? [address, given] : [given, address];
  return [...words.slice(0, at), ...all.flat()];
}

function fillUnknown(word: string, before = ''): string {
  if (before === '--host') return '{host}';
  if (/^(?:-p|--port)$/.test(before) && /^\d+$/.test(word)) return '{port}';
  return word.replace(/^--port=\d+$/, '--port={port}').replace(/^--host=.+$/, '--host={host}');
}

/** The index of the program among the words of a command: that of a module, or itself. */
function programAt(words: readonly string[]): number {
  const isModule = /^(python[\d.]*t?|\{runtime\})$/.test(basename(words[0] ?? '')) && words[1] === '-m';
  return isModule ? 2 : 0;
}

/** The words from the program on, without its folder. */
function lineOf(words: readonly string[]): string {
  const [program = '', ...args] = words.slice(programAt(words));
  return [basename(program), ...args].join(' ');
}

/** Servers that say themselves that they are for development. */
const DEVELOPMENT =
  /^flask\b.* run\b|\b(?:manage\.py|django-admin) runserver\b|^nest start\b|^fastapi dev\b|^wrangler dev\b/;

/** Returns true for a server of development. */
export function isForDevelopment(words: readonly string[]): boolean {
  return DEVELOPMENT.test(lineOf(words));
}

/** Programs that are never the service: they watch files, start others, bundle what a browser loads, or show documents. */
const BESIDE = [
  /^(?:nodemon|ts-node-dev|tsnd|concurrently|npm-run-all2?|run-[ps]|air|reflex|watchexec|cargo-watch|watchmedo|pm2|pm2-\w+|forever)\b/,
  /^(?:vite|vite-node|webpack|webpack-dev-server|rollup|esbuild|parcel|rspack|gulp|grunt|tsc|tsup|swc|turbo|nx|lerna|ng)\b/,
  /^(?:vue-cli-service|react-scripts|gatsby|storybook|start-storybook|live-server|browser-sync|expo|metro)\b/,
  /^(?:docusaurus|vitepress|vuepress|mkdocs|sphinx-\w+|jekyll|hugo|eleventy|hexo|mdbook|docsify|honkit)\b/,
  /^(?:next|nuxt|nuxi|astro|vinxi|remix|react-router|svelte-kit)\b.* (?:dev|develop|watch)\b/,
  /\s(?:--(?:watch|reload|hot)|watch)\b/,
];

/** Returns true for a program that is never the service of a project. */
export function isBesideService(words: readonly string[]): boolean {
  const line = lineOf(words);
  return BESIDE.some((pattern) => pattern.test(line));
}

/** The name of a program that prepares a container and then starts another one, and of a script of a shell. */
const PREPARING =
  /entry[-_]?point|^(?:docker|container)[-_]|^(?:init|setup|prepare|boot|bootstrap)(?:\.\w+)?$|\.(?:ba)?sh$/i;
const INTERPRETER = /^(?:(?:ba|da|z|a)?sh|python|node|perl|ruby|php|bun|deno)[\d.]*$/;

/** Returns true if a command runs a script of an image: it prepares a file system that is not that of this machine. */
export function isOfImage([program = '', ...args]: readonly string[]): boolean {
  const name = INTERPRETER.test(basename(program)) ? args.find((word) => !word.startsWith('-')) : program;
  // A word of a package manager is no file.
  return name !== undefined && /[./]/.test(name) && PREPARING.test(basename(name));
}

/** The names of programs that end: they fill a database, build or test. */
const ENDS =
  /(^|[-_.:])(init|seed|setup|create|populate|migrat\w*|load|import|export|build|generate|lint|format|tests?|check|docs?|clean|deploy|worker|celery|client|cli)([-_.:]|$)|(?:cli|ctl)$/i;

/** Returns true for a program that ends by itself, as its name says. */
export function isJob(name: string): boolean {
  return ENDS.test(basename(name));
}
