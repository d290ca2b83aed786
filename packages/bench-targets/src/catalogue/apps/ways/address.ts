/** The address of a server in its command, and the programs that are no server. */
import { basename } from 'node:path';

const BOTH = ['--host', '{host}', '--port', '{port}'];
const BIND = ['--bind', '{host}:{port}'];
/** How each server is told its address. */
const SERVERS: Record<string, string[]> = {
  uvicorn: BOTH,
  gunicorn: BIND,
  hypercorn: BIND,
  granian: BOTH,
  daphne: ['--bind', '{host}', '--port', '{port}'],
  'waitress-serve': ['--listen', '{host}:{port}'],
  flask: BOTH,
  fastapi: BOTH,
  litestar: BOTH,
  sanic: BOTH,
  wrangler: ['--ip', '{host}', '--port', '{port}'],
  next: ['--hostname', '{host}', '--port', '{port}'],
};
/** The options that these take their address from. */
const ADDRESS = /^(?:-b|--bind|--host|-h|-H|--hostname|--ip|-p|--port|--listen)$/;
const WORKERS = /^(?:-w|-W|--workers)$/;
/** Programs that start a server by one of these words only. */
const WITH_WORD = /^(?:flask|fastapi|litestar|wrangler|next)$/;
const WORDS = ['run', 'dev', 'start'];
/** Options that start a server again at each change, and those of its debugger. */
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
  const name = programOf(words);
  const address = Object.hasOwn(SERVERS, name) ? SERVERS[name] : undefined;
  if (address === undefined) return fillUnknown(words);
  if (WITH_WORD.test(name) && !words.some((word) => WORDS.includes(word))) return [...words];
  const at = programAt(words) + 1;
  const given = plain.slice(at).flatMap((word, index, all) => {
    const before = all[index - 1] ?? '';
    if (ADDRESS.test(word) || ADDRESS.test(before) || OF_DEVELOPMENT.test(word)) return [];
    return [WORKERS.test(before) ? '{workers}' : word];
  });
  const program = words.slice(0, at);
  // Waitress takes no option after its app.
  const isLast = name === 'waitress-serve';
  return isLast ? [...program, ...address, ...given] : [...program, ...given, ...address];
}

function fillUnknown(words: readonly string[]): string[] {
  return words.map((word, index) => {
    const before = words[index - 1] ?? '';
    if (before === '--host') return '{host}';
    if (/^(?:-p|--port)$/.test(before) && /^\d+$/.test(word)) return '{port}';
    return word.replace(/^--port=\d+$/, '--port={port}').replace(/^--host=.+$/, '--host={host}');
  });
}

/** The index of the program among the words of a command: that of a module, or itself. */
function programAt(words: readonly string[]): number {
  const isModule = /^(python[\d.]*t?|\{runtime\})$/.test(basename(words[0] ?? '')) && words[1] === '-m';
  return isModule ? 2 : 0;
}

function programOf(words: readonly string[]): string {
  return basename(words[programAt(words)] ?? '');
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

function lineOf(words: readonly string[]): string {
  return [programOf(words), ...words.slice(programAt(words) + 1)].join(' ');
}

/** The names of programs that end: they fill a database, build or test. */
const ENDS =
  /(^|[-_.:])(init|seed|setup|create|populate|migrat\w*|load|import|export|build|generate|lint|format|tests?|check|docs?|clean|deploy|worker|celery|client|cli)([-_.:]|$)|(?:cli|ctl)$/i;

/** Returns true for a program that ends by itself, as its name says. */
export function isJob(name: string): boolean {
  return ENDS.test(basename(name));
}

/** Returns the line of a script without the options and the programs that start it again at each change. */
export function withoutWatcher(line: string): string {
  return line
    .replaceAll(/\s--(?:watch|watch-path|hot|reload)(?:=\S+)?(?=\s|$)/g, '')
    .replace(/\btsx\s+watch\b(\s+--clear-screen=false)?/, 'tsx')
    .replace(/\bnodemon\s(?:.*\s)?(?:--exec|-x)\s+(?=[\w-]+\s)/, '')
    .replace(/\bnodemon\s(?:.*\s)?(?=[\w./-]+\.[cm]?js\b)/, 'node ');
}
