/** The ways that the sources and the manifests of a Python project tell. */
import { existsSync, globSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { lineAt } from '../../json-file.ts';
import { hasManifest, ownFilesIn, readText } from '../files.ts';
import { readPyproject } from '../manifests.ts';
import { isJob } from './address.ts';
import type { Told } from './way.ts';

/** The servers of each interface, best first, with their words for an app, and for what a factory makes. */
const SERVERS = {
  asgi: {
    uvicorn: ['uvicorn APP', 'uvicorn --factory APP'],
    hypercorn: ['hypercorn APP', 'hypercorn APP()'],
    granian: ['granian --interface asgi APP', 'granian --interface asgi --factory APP'],
    daphne: ['daphne APP'],
  },
  wsgi: {
    gunicorn: ['gunicorn APP', 'gunicorn APP()'],
    waitress: ['waitress-serve APP', 'waitress-serve --call APP'],
    flask: ['flask --app APP run', 'flask --app APP run'],
  },
};
const FRAMEWORKS = {
  asgi: ['FastAPI', 'Starlette', 'Litestar', 'Quart', 'BlackSheep', 'Sanic'],
  wsgi: ['Flask', 'Bottle', 'Falcon'],
};
const NAMES = [...FRAMEWORKS.asgi, ...FRAMEWORKS.wsgi];

/** An app as its sources make it, and a function that makes one. */
const MADE = new RegExp(`^(\\w+)\\s*(?::[^=\\n]+)?=\\s*(?:\\w+\\.)*(?:${NAMES.join('|')})\\(`, 'gm');
const FACTORY =
  /^(?:async )?def ((?:create|make|get|build)_(?:\w+_)?(?:app|application|api)|app_factory)\((?:\)|\w+\s*[:=])/gm;
/** A call that serves an app until the program is stopped. */
const RUN = /\b(?:\w+\.)?(?:run|run_app|serve|listen|serve_forever)\(/;
/** The modules of which one serves. */
const SERVES =
  /^\s*(?:from|import)\s+(?:aiohttp(?:\.web| import web)|bottle|cherrypy|falcon|fastapi|flask|http\.server|litestar|quart|sanic|starlette|tornado|uvicorn|waitress|werkzeug|wsgiref)\b/m;

/** Returns what the manifests and the sources of a Python project tell, best first. */
export function toldByPython(root: string, folder: string): Told[] {
  const place = join(root, folder);
  const listed = textOfPython(place);
  // Without any manifest, it may be a program that needs no package.
  if (listed === '' && hasManifest(place)) return [];
  const django = toldByDjango(place, folder, listed);
  if (django.length > 0) return django;
  // A list of requirements makes no package: its modules may belong to the folder above.
  const own = ownFilesIn(place, '**/*.py', ['pyproject.toml', 'setup.py']);
  const files = own.map((file) => ({ file, text: readText(place, file) }));
  const tell = (file: string, text: string, at: number, line: string[]): Told => ({
    folder,
    why: `${join(folder, file)}:${lineAt(text, at)}: ${text.slice(at).split('\n', 1)[0]?.trim()}`,
    line,
    env: file.startsWith('src/') ? { PYTHONPATH: '{root}/src' } : {},
  });
  const apps = [MADE, FACTORY].map((pattern) =>
    files.flatMap(({ file, text }) =>
      [...text.matchAll(pattern)].map(({ 1: name = '', index }) =>
        tell(file, text, index, serve(`${moduleOf(file)}:${name}`, text, listed, pattern === FACTORY)),
      ),
    ),
  );
  const run = files.flatMap(({ file, text }) => {
    const line = runs(file, text, place);
    return line === undefined ? [] : [tell(file, text, text.search(RUN), line)];
  });
  return [...(apps.find((found) => found.length > 0) ?? []), ...run.slice(0, 1)];
}

/** Returns the words that serve an app, or what a factory makes, by a server among the dependencies, or by the usual one. */
function serve(app: string, text: string, listed: string, isFactory = false): string[] {
  const name = NAMES.find((one) => new RegExp(`\\b${one}\\b`).test(text));
  const kind = FRAMEWORKS.wsgi.includes(name ?? '') ? 'wsgi' : 'asgi';
  const servers = Object.entries(SERVERS[kind]);
  const [, words = []] =
    servers.find(([one]) => new RegExp(`\\b${one}\\b`, 'i').test(listed)) ?? servers[0] ?? [];
  const line = (isFactory ? words[1] : words[0]) ?? '';
  return line.replace('APP', () => app).split(' ');
}

/** Returns the words that run a module which serves its app itself; undefined if none does. */
function runs(file: string, text: string, place: string): string[] | undefined {
  if (!RUN.test(text) || !SERVES.test(text)) return undefined;
  if (existsSync(join(place, dirname(file), '__main__.py'))) return ['python', '-m', moduleOf(dirname(file))];
  return /^if __name__ == ["']__main__["']/m.test(text) ? ['python', file] : undefined;
}

/** Returns the programs that a Python package installs: a server may be one of them. */
export function toldByPrograms(root: string, folder: string): Told[] {
  return Object.keys(readPyproject(join(root, folder)).scripts)
    .filter((name) => !isJob(name))
    .map((name) => ({ folder, why: `${join(folder, 'pyproject.toml')}: the program ${name}`, line: [name] }));
}

function moduleOf(file: string): string {
  return file
    .replace(/(\/__init__)?\.py$/, '')
    .replace(/^src\//, '')
    .replaceAll('/', '.');
}

/** Returns the ways of a Django project: by a server of production among the dependencies, and by its own. */
function toldByDjango(place: string, folder: string, listed: string): Told[] {
  if (!isDjango(place)) return [];
  const told = { folder, why: join(folder, 'manage.py') };
  const own = { ...told, line: ['python', 'manage.py', 'runserver'] };
  const [file] = globSync('*/{wsgi,asgi}.py', { cwd: place }).toSorted().toReversed();
  const server = /\b(gunicorn|uvicorn|daphne|hypercorn)\b/i.exec(listed)?.[1]?.toLowerCase();
  if (file === undefined || server === undefined) return [own];
  return [
    { ...told, why: `${told.why}, and ${server}`, line: [server, `${moduleOf(file)}:application`] },
    own,
  ];
}

/** Returns true for a project of Django. */
export function isDjango(place: string): boolean {
  return /DJANGO_SETTINGS_MODULE["'],/.test(readText(place, 'manage.py'));
}

/** Everything that lists the dependencies of a Python project; empty if the folder holds none. */
function textOfPython(root: string): string {
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
