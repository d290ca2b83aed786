/** The starts that the sources and the manifests of a Python project tell. */
import { existsSync, globSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { lineAt } from '../../json-file.ts';
import { readPyproject } from '../manifests.ts';
import { filesIn, ownFilesIn, readText } from './files.ts';
import { NO_SERVER } from './listen.ts';
import type { Told } from './start.ts';

/** A server for Python apps, and the words that start an app, or what a factory makes. */
interface Server {
  name: string;
  command: (app: string) => string[];
  factory?: (app: string) => string[];
}

const ASGI: Server[] = [
  { name: 'uvicorn', command: (app) => ['uvicorn', app], factory: (app) => ['uvicorn', '--factory', app] },
  {
    name: 'granian',
    command: (app) => ['granian', '--interface', 'asgi', app],
    factory: (app) => ['granian', '--interface', 'asgi', '--factory', app],
  },
  { name: 'hypercorn', command: (app) => ['hypercorn', app], factory: (app) => ['hypercorn', `${app}()`] },
  { name: 'daphne', command: (app) => ['daphne', app] },
];
const WSGI: Server[] = [
  { name: 'gunicorn', command: (app) => ['gunicorn', app], factory: (app) => ['gunicorn', `${app}()`] },
  {
    name: 'waitress',
    command: (app) => ['waitress-serve', app],
    factory: (app) => ['waitress-serve', '--call', app],
  },
  { name: 'granian', command: (app) => ['granian', '--interface', 'wsgi', app] },
];

/** A framework: its servers, and its own command if none of them is among the dependencies. */
interface Framework {
  servers: Server[];
  own?: { package: RegExp; command: (app: string) => string[] };
}

const asUvicorn = {
  package: /\bfastapi\s*\[(standard|all)|\blitestar\s*\[standard/i,
  command: (app: string) => ['uvicorn', app],
};
const FRAMEWORKS: Record<string, Framework> = {
  FastAPI: { servers: ASGI, own: asUvicorn },
  Starlette: { servers: ASGI },
  Litestar: { servers: ASGI, own: asUvicorn },
  // Quart depends on Hypercorn.
  Quart: { servers: ASGI, own: { package: /\bquart\b/i, command: (app) => ['hypercorn', app] } },
  BlackSheep: { servers: ASGI },
  Flask: { servers: WSGI, own: { package: /\bflask\b/i, command: (app) => ['flask', '--app', app, 'run'] } },
  Bottle: { servers: WSGI },
  Sanic: { servers: [], own: { package: /\bsanic\b/i, command: (app) => ['sanic', app.replace(':', '.')] } },
};

/** An app as its sources make it. */
const MADE = new RegExp(
  `^(\\w+)\\s*(?::[^=\\n]+)?=\\s*(?:\\w+\\.)?(${Object.keys(FRAMEWORKS).join('|')})\\(`,
  'gm',
);
/** An app as a function of the project makes it: `app = create_app()`. */
const CALLED =
  /^(app|application|api|asgi|wsgi|server)\s*(?::[^=\n]+)?=\s*(?:\w+\.)*(\w*(?:app|application|api|server)\w*)\(/gim;
/** A factory, and what it makes if it says so. */
const FACTORY =
  /^(?:async )?def ((?:create|make|get|build)_(?:\w+_)?(?:app|application|api)|app_factory)\((?:\)|\w+\s*[:=])[^\n]*$/gm;

/** Returns what the manifests and the sources of a Python project tell, best first. */
export function toldByPython(root: string, folder: string): Told[] {
  const place = join(root, folder);
  const listed = textOfPython(place);
  if (listed === '') return [];
  const django = toldByDjango(place, folder, listed);
  if (django.length > 0) return django;
  // A list of requirements makes no package: its modules may belong to the folder above.
  const own = ownFilesIn(place, '**/*.py', ['pyproject.toml', 'setup.py']);
  const files = own.map((file) => ({ file, text: readText(place, file) }));
  const made = files.flatMap((one) => madeIn(one, folder, listed));
  if (made.length > 0) return made;
  const called = files.flatMap((one) => calledIn(one, folder, listed)).slice(0, 1);
  return called.length > 0 ? called : files.flatMap((one) => runIn(one, place, folder)).slice(0, 1);
}

/** Returns the programs that a Python package installs: a server may be one of them. */
export function toldByPrograms(root: string, folder: string): Told[] {
  const { project, tool } = readPyproject(join(root, folder));
  const names = Object.keys({ ...tool?.poetry?.scripts, ...project?.scripts });
  const servers = names.filter((name) => !NO_SERVER.test(name));
  return servers.map((name) => ({
    place: 'programs',
    folder,
    why: `${join(folder, 'pyproject.toml')}: the program ${name}`,
    line: [name],
  }));
}

/** A call that serves an app until the program is stopped. */
const RUN = /\b(?:web\.run_app|uvicorn\.run|waitress\.serve|(?:app|application|server)\.(?:run|listen))\(/;

/** Finds a program that serves its app itself: the module that its package runs, or the file. */
function runIn({ file, text }: Source, place: string, folder: string): Told[] {
  const at = RUN.exec(text);
  const isMain = /^if __name__ == ["']__main__["']/m.test(text) || basename(file) === '__main__.py';
  if (at === null) return [];
  const inner = join(dirname(file), '__main__.py');
  const hasMain = existsSync(join(place, inner));
  if (!isMain && !hasMain) return [];
  const isPackage = existsSync(join(place, dirname(file), '__init__.py')) || hasMain;
  const module = moduleOf(hasMain ? inner : file).replace(/\.?__main__$/, '');
  return [
    {
      place: 'sources',
      folder,
      why: `${join(folder, file)}:${lineAt(text, at.index)}: ${at[0]}…)`,
      line: isPackage && module !== '' ? ['python', '-m', module] : ['python', file],
      env: file.startsWith('src/') ? { PYTHONPATH: '{root}/src' } : {},
    },
  ];
}

interface Source {
  file: string;
  text: string;
}

function madeIn({ file, text }: Source, folder: string, listed: string): Told[] {
  return [...text.matchAll(MADE)].flatMap(({ 1: name = '', 2: framework = '', index }): Told[] =>
    startOf(
      { file, folder, listed, framework, name, isFactory: false },
      `${lineAt(text, index)}: ${name} = ${framework}(…)`,
    ),
  );
}

/** Finds an app that a function makes, or the function. */
function calledIn({ file, text }: Source, folder: string, listed: string): Told[] {
  const framework =
    Object.keys(FRAMEWORKS).find((one) => new RegExp(`\\b${one}\\b`, 'i').test(text)) ??
    Object.keys(FRAMEWORKS).find((one) => new RegExp(`^\\s*["']?${one}\\b`, 'im').test(listed));
  if (framework === undefined) return [];
  const [called] = text.matchAll(CALLED);
  const [factory] = called === undefined ? text.matchAll(FACTORY) : [];
  const found = called ?? factory;
  if (found === undefined) return [];
  const { 1: name = '', 2: maker = '', index } = found;
  const why = called === undefined ? `${name}() makes the app` : `${name} = ${maker}(…)`;
  return startOf(
    { file, folder, listed, framework, name, isFactory: called === undefined },
    `${lineAt(text, index)}: ${why}`,
  );
}

interface App {
  file: string;
  folder: string;
  listed: string;
  framework: string;
  name: string;
  isFactory: boolean;
}

function startOf({ file, folder, listed, framework, name, isFactory }: App, why: string): Told[] {
  const { servers, own } = FRAMEWORKS[framework] ?? { servers: [] };
  const module = moduleOf(file);
  const app = `${module}:${name}`;
  const server = servers.find((one) => isListed(one.name, listed));
  const isOwn = server === undefined && own?.package.test(listed);
  if (server === undefined && isOwn !== true) return [];
  const command = isFactory ? server?.factory?.(app) : server?.command(app);
  const line =
    command ?? (isFactory && framework !== 'Flask' ? ['uvicorn', '--factory', app] : own?.command(app));
  if (line === undefined) return [];
  const by = server === undefined ? '' : `, and ${server.name} among the dependencies`;
  return [
    {
      place: 'sources',
      folder,
      why: `${join(folder, file)}:${why}${by}`,
      line,
      env: file.startsWith('src/') ? { PYTHONPATH: '{root}/src' } : {},
      framework: framework.toLowerCase(),
    },
  ];
}

function isListed(name: string, listed: string): boolean {
  return new RegExp(`\\b${name}\\b`, 'i').test(listed);
}

function moduleOf(file: string): string {
  return file
    .replace(/(\/__init__)?\.py$/, '')
    .replace(/^src\//, '')
    .replaceAll('/', '.');
}

/** Returns the start of a Django project: its server of production if one is among the dependencies. */
function toldByDjango(place: string, folder: string, listed: string): Told[] {
  const settings = settingsOf(place);
  if (settings === undefined) return [];
  const modules = globSync('*/{asgi,wsgi}.py', { cwd: place });
  const find = (kind: string): string | undefined => {
    const file = modules.find((one) => basename(one) === `${kind}.py`);
    return file === undefined ? undefined : `${dirname(file).replaceAll('/', '.')}.${kind}:application`;
  };
  const ways: [Server[], string | undefined][] = [
    [WSGI, find('wsgi')],
    [ASGI, find('asgi')],
  ];
  const [found] = ways.flatMap(([servers, app]) => {
    const server = app === undefined ? undefined : servers.find((one) => isListed(one.name, listed));
    return server === undefined || app === undefined ? [] : [{ words: server.command(app), by: server.name }];
  });
  const told = { place: 'sources', folder, framework: 'django' } as const;
  const why = `${join(folder, 'manage.py')}: the settings ${settings}`;
  return found === undefined
    ? [{ ...told, why, line: ['python', 'manage.py', 'runserver'] }]
    : [{ ...told, why: `${why}, and ${found.by} among the dependencies`, line: found.words }];
}

function settingsOf(place: string): string | undefined {
  return /DJANGO_SETTINGS_MODULE["'],\s*["']([\w.]+)["']/.exec(readText(place, 'manage.py'))?.[1];
}

/**
 * Returns the commands without which a Django server answers with 500: those of its database and, if its pages name their
 * files by a manifest, of its static files. Hosts run them before they start a server.
 */
export function stepsOfDjango(place: string): string[][] {
  if (settingsOf(place) === undefined) return [];
  const texts = filesIn(place, '**/*.py').map((file) => readText(place, file));
  const collects = texts.some((text) => /ManifestStaticFilesStorage/.test(text) && /STATIC_ROOT/.test(text));
  const steps = collects ? ['migrate', 'collectstatic'] : ['migrate'];
  return steps.map((step) => ['python', 'manage.py', step, '--noinput']);
}

/** Everything that lists the dependencies of a Python project. */
export function textOfPython(root: string): string {
  if (!existsSync(root)) return '';
  const names = readdirSync(root).filter((name) =>
    /^(pyproject\.toml|uv\.lock|poetry\.lock|Pipfile|setup\.(py|cfg)|requirements.*\.(txt|in))$/.test(name),
  );
  const inner = globSync('requirements/*.{txt,in}', { cwd: root });
  return [...names, ...inner]
    .map((name) => readText(root, name))
    .join('\n')
    .trim();
}
