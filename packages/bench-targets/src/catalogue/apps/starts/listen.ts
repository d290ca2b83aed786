/** The options by which servers are told where to listen and how many processes to start. */
import { basename } from 'node:path';

/** The options of a server. A value of `both` holds host and port. */
interface Options {
  host?: string[];
  port?: string[];
  both?: string[];
  workers?: string[];
  /** Words that are added if none of these options is there. */
  added: string[];
  /** True if they must precede the app. */
  isBeforeApp?: true;
  /** Words without which the command starts no server. */
  subcommand?: string;
  /** Options that are for development only. */
  dropped?: string[];
}

const SEPARATE = ['--host', '{host}', '--port', '{port}'];
const BIND = ['--bind', '{host}:{port}'];

const SERVERS: Record<string, Options> = {
  uvicorn: {
    host: ['--host'],
    port: ['--port'],
    workers: ['--workers'],
    added: SEPARATE,
    dropped: ['--reload'],
  },
  gunicorn: { both: ['-b', '--bind'], workers: ['-w', '--workers'], added: BIND, dropped: ['--reload'] },
  hypercorn: { both: ['-b', '--bind'], workers: ['-w', '--workers'], added: BIND, dropped: ['--reload'] },
  granian: {
    host: ['--host'],
    port: ['--port'],
    workers: ['--workers'],
    added: SEPARATE,
    dropped: ['--reload'],
  },
  daphne: { host: ['-b', '--bind'], port: ['-p', '--port'], added: ['-b', '{host}', '-p', '{port}'] },
  'waitress-serve': {
    both: ['--listen'],
    host: ['--host'],
    port: ['--port'],
    added: ['--listen={host}:{port}'],
    isBeforeApp: true,
  },
  uwsgi: { both: ['--http', '--http-socket'], added: ['--http-socket', '{host}:{port}'] },
  flask: {
    subcommand: 'run',
    host: ['-h', '--host'],
    port: ['-p', '--port'],
    added: SEPARATE,
    dropped: ['--debug', '--reload'],
  },
  fastapi: {
    host: ['--host'],
    port: ['--port'],
    workers: ['--workers'],
    added: SEPARATE,
    dropped: ['--reload'],
  },
  litestar: {
    subcommand: 'run',
    host: ['-H', '--host'],
    port: ['-p', '--port'],
    workers: ['-W', '--wc', '--web-concurrency'],
    added: SEPARATE,
    dropped: ['-r', '--reload', '-d', '--debug'],
  },
  sanic: { host: ['-H', '--host'], port: ['-p', '--port'], workers: ['-w', '--workers'], added: SEPARATE },
  wrangler: {
    subcommand: 'dev',
    host: ['--ip'],
    port: ['--port'],
    added: ['--ip', '{host}', '--port', '{port}'],
  },
  next: { host: ['-H', '--hostname'], port: ['-p', '--port'], added: ['-H', '{host}', '-p', '{port}'] },
};

/** The options of a program that is not known: a number after one that is called so is a port. */
const UNKNOWN: Options = { host: ['--host'], port: ['--port', '-p'], added: [] };

/**
 * Returns the words of a server with its address as placeholders, and its number of processes as `{workers}`. A known
 * server that names no address gets one; an unknown one keeps the port of its sources.
 */
export function withAddress(words: readonly string[]): string[] {
  const django = words.indexOf('runserver');
  if (django > 0) {
    const options = words.slice(django + 1).filter((word) => word.startsWith('-') && word !== '--noreload');
    return [...words.slice(0, django + 1), '{host}:{port}', '--noreload', ...options];
  }
  const at = programAt(words);
  const program = basename(words[at] ?? '');
  const known = Object.hasOwn(SERVERS, program) ? SERVERS[program] : undefined;
  const { subcommand } = known ?? {};
  if (subcommand !== undefined && !words.includes(subcommand)) return [...words];
  const options = known ?? UNKNOWN;
  const values: [string[] | undefined, string, RegExp][] = [
    [options.both, '{host}:{port}', /./],
    [options.host, '{host}', /./],
    [options.port, '{port}', /^(\d+|\{port\})$/],
    [options.workers, '{workers}', /^\d+$/],
  ];
  const isTold = { host: false, port: false };
  const told = words.flatMap((word, index): string[] => {
    if (index <= at) return [word];
    if (options.dropped?.includes(word) === true) return [];
    for (const [names = [], placeholder, fits] of values) {
      const isValue = names.includes(words[index - 1] ?? '') && fits.test(word);
      const prefix = isValue
        ? ''
        : names
            .flatMap((name) => [`${name}=`, ...(/^-\w$/.test(name) ? [name] : [])])
            .find((one) => word.startsWith(one) && word !== one && fits.test(word.slice(one.length)));
      if (prefix === undefined) continue;
      isTold.host ||= placeholder.includes('{host}');
      isTold.port ||= placeholder.includes('{port}');
      return [`${prefix}${placeholder}`];
    }
    return [word];
  });
  // After two hyphens, a word is no option of the server.
  const hyphens = known === undefined ? -1 : told.indexOf('--');
  const end = options.isBeforeApp === true ? at + 1 : hyphens < 0 ? told.length : hyphens;
  const add = (added: readonly string[]): string[] => told.toSpliced(end, 0, ...added);
  if (!isTold.host && !isTold.port) return add(options.added);
  const more = (
    [
      ['host', '{host}'],
      ['port', '{port}'],
    ] as const
  ).flatMap(([kind, value]) => {
    const name = options[kind]?.at(-1);
    return isTold[kind] || name === undefined || known === undefined ? [] : [name, value];
  });
  return add(more);
}

/** The index of the program among the words of a command: that of a module, or itself. */
function programAt(words: readonly string[]): number {
  const isModule = /^(python[\d.]*t?|\{runtime\})$/.test(basename(words[0] ?? '')) && words[1] === '-m';
  return isModule ? 2 : 0;
}

/** Returns the program of a command: that which `python -m` runs, or itself. */
export function programOf(words: readonly string[]): string {
  return basename(words[programAt(words)] ?? '');
}

/** Returns true if a command starts a server that is known by its name. */
export function isServer(words: readonly string[]): boolean {
  return Object.hasOwn(SERVERS, programOf(words));
}

/** The names of programs that end: they fill a database, build or test. */
export const NO_SERVER =
  /^http\.server$|(^|[-_./:])(init|seed|setup|create|populate|prepare|migrate|migrations?|upgrade|load|import|export|build|compile|generate|lint|format|fmt|tests?|pytest|mypy|ruff|black|pip|venv|virtualenv|tox|nox|unittest|check|docs?|clean|deploy|worker|celery|client|cli)([-_.:]|$)/i;

/** Servers that say themselves that they are for development. */
const DEVELOPMENT: [RegExp, RegExp][] = [
  [/^flask$/, /^run$/],
  [/^(manage\.py|django-admin)$/, /^runserver$/],
  [/^(nest|fastapi|wrangler)$/, /^(start|dev|serve)$/],
];

/** Returns true for a server of development. */
export function isForDevelopment(words: readonly string[]): boolean {
  return isOneOf(DEVELOPMENT, words);
}

/** Programs that are never the service: they watch files, start others, bundle what a browser loads, or show documents. */
const BESIDE: [RegExp, RegExp?][] = [
  [
    /^(nodemon|ts-node-dev|tsnd|concurrently|npm-run-all2?|run-[ps]|air|reflex|watchexec|cargo-watch|watchmedo|pm2|pm2-\w+|forever)$/,
  ],
  [
    /^(vite|vite-node|webpack|webpack-dev-server|rollup|esbuild|parcel|rspack|rsbuild|snowpack|gulp|grunt|tsc|tsup|swc|turbo|nx|lerna|ng)$/,
  ],
  [/^(vue-cli-service|react-scripts|gatsby|storybook|start-storybook|live-server|browser-sync|expo|metro)$/],
  [
    /^(docusaurus|vitepress|vuepress|mkdocs|sphinx-\w+|jekyll|hugo|eleventy|hexo|mdbook|docsify|honkit|gitbook|mintlify)$/,
  ],
  [/^(next|nuxt|nuxi|astro|vinxi|remix|react-router|svelte-kit|redwood|rw)$/, /^(dev|develop|watch)$/],
  [/^(tsx|swc-node|bun|deno)$/, /^watch$/],
  [/./, /^--(watch|reload|hot)\b/],
];

/** Returns true for a program that is never the service of a project. */
export function isBesideService(words: readonly string[]): boolean {
  return isOneOf(BESIDE, words);
}

/** Returns true if the program of a command, or its `manage.py`, has one of these names, and the words after it an option that counts. */
function isOneOf(known: readonly [RegExp, RegExp?][], words: readonly string[]): boolean {
  const rest = words.slice(programAt(words) + 1);
  const names = [
    programOf(words),
    ...rest.filter((word) => word.endsWith('manage.py')).map((word) => basename(word)),
  ];
  return known.some(
    ([name, option]) =>
      names.some((one) => name.test(one)) && (option === undefined || rest.some((word) => option.test(word))),
  );
}

/** Returns the line of a script without the options and the programs that start it again at each change. */
export function withoutWatcher(line: string): string {
  return line
    .replaceAll(/\s--(?:watch|watch-path|hot|reload)(?:=\S+)?(?=\s|$)/g, '')
    .replace(/\btsx\s+watch\b(\s+--clear-screen=false)?/, 'tsx')
    .replace(/\bnodemon\s+(?:--exec\s+)?(?=[\w./-]+\.[cm]?js\b)/, 'node ');
}
