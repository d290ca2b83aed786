/** The ways that the sources and the manifests of a Python project tell. */
import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { lineAt } from '../../json-file.ts';
import { filesIn, hasManifest, readText } from '../files.ts';
import { readPyproject } from '../../projects/manifests.ts';
import { isJob } from './address.ts';
import type { Told } from './way.ts';

const FRAMEWORKS = {
  asgi: ['FastAPI', 'Starlette', 'Litestar', 'Quart', 'BlackSheep', 'Sanic'],
  wsgi: ['Flask', 'Bottle', 'Falcon'],
};
/** The servers of each interface, best first: their packages, and their words for an app and for what a factory makes. */
const SERVERS: Record<keyof typeof FRAMEWORKS, [name: string, app: string, factory: string][]> = {
  asgi: [
    ['uvicorn', 'uvicorn APP', 'uvicorn --factory APP'],
    ['hypercorn', 'hypercorn APP', 'hypercorn APP()'],
    ['granian', 'granian --interface asgi APP', 'granian --interface asgi --factory APP'],
    ['daphne', 'daphne APP', 'daphne APP'],
  ],
  wsgi: [
    ['gunicorn', 'gunicorn APP', 'gunicorn APP()'],
    ['waitress', 'waitress-serve APP', 'waitress-serve --call APP'],
    ['flask', 'flask --app APP run', 'flask --app APP run'],
  ],
};

const NAMES = [...FRAMEWORKS.asgi, ...FRAMEWORKS.wsgi];
/** An app as its sources make it, and a function that makes one. */
const MADE = new RegExp(`^(\\w+)\\s*(?::[^=\\n]+)?=\\s*(?:\\w+\\.)*(?:${NAMES.join('|')})\\(`, 'gm');
const FACTORY =
  /^(?:async )?def ((?:create|make|get|build)_(?:\w+_)?(?:app|application|api)|app_factory)\((?:\)|\w+\s*[:=])/gm;
/** A call that serves an app until the program is stopped, and the modules of which one serves. */
const RUN = /\b(?:\w+\.)?(?:run|run_app|serve|listen|serve_forever)\(/;
const SERVES =
  /^\s*(?:from|import)\s+(?:aiohttp(?:\.web| import web)|bottle|cherrypy|falcon|fastapi|flask|http\.server|litestar|quart|sanic|starlette|tornado|uvicorn|waitress|werkzeug|wsgiref)\b/m;

/** Everything that lists dependencies. */
const LISTS =
  '{pyproject.toml,uv.lock,poetry.lock,Pipfile,setup.py,setup.cfg,{requirements,requirements/}*.{txt,in}}';

/** Returns what the manifests and the sources of a Python project tell, best first. */
export function toldByPython(place: string): Told[] {
  const lists = globSync(LISTS, { cwd: place }).toSorted();
  const listed = lists.map((file) => readText(place, file)).join('\n');
  // Without any manifest, it may be a program that needs no package.
  if (listed.trim() === '' && hasManifest(place)) return [];
  if (isDjango(place)) return toldByDjango(place, listed);
  // A list of requirements makes no package: its modules may belong to the folder above.
  const own = filesIn(place, '**/*.py', ['pyproject.toml', 'setup.py']);
  const files = own.map((file) => ({ file, text: readText(place, file) }));
  const [made = [], factories = []] = [MADE, FACTORY].map((pattern) =>
    files.flatMap(({ file, text }) =>
      [...text.matchAll(pattern)].map(({ 1: name = '', index }) =>
        tell(file, text, index, serve(`${moduleOf(file)}:${name}`, text, listed, pattern === FACTORY)),
      ),
    ),
  );
  const running = files.flatMap(({ file, text }) => {
    const words = runs(file, text, place);
    return words === undefined ? [] : [tell(file, text, text.search(RUN), words)];
  });
  return [...(made.length > 0 ? made : factories), ...running.slice(0, 1)];
}

function tell(file: string, text: string, at: number, words: string[]): Told {
  const why = `${file}:${lineAt(text, at)}: ${text.slice(at).split('\n', 1)[0]?.trim()}`;
  return { why, words, env: file.startsWith('src/') ? { PYTHONPATH: '{root}/src' } : {} };
}

/** Returns the words that serve an app, or what a factory makes, by a server among the dependencies, or by the usual one. */
function serve(app: string, text: string, listed: string, isFactory: boolean): string[] {
  const framework = NAMES.find((one) => new RegExp(`\\b${one}\\b`).test(text)) ?? '';
  const servers = SERVERS[FRAMEWORKS.wsgi.includes(framework) ? 'wsgi' : 'asgi'];
  const [, usual = '', factory = ''] =
    servers.find(([name]) => new RegExp(`\\b${name}\\b`, 'i').test(listed)) ?? servers[0] ?? [];
  return (isFactory ? factory : usual).split(' ').map((word) => word.replace('APP', () => app));
}

/** Returns the words that run a module which serves its app itself; undefined if none does. */
function runs(file: string, text: string, place: string): string[] | undefined {
  if (!RUN.test(text) || !SERVES.test(text)) return undefined;
  if (existsSync(join(place, dirname(file), '__main__.py'))) return ['python', '-m', moduleOf(dirname(file))];
  return /^if __name__ == ["']__main__["']/m.test(text) ? ['python', file] : undefined;
}

/** Returns the programs that a Python package installs: a server may be one of them. */
export function toldByPrograms(place: string): Told[] {
  return Object.keys(readPyproject(place).scripts)
    .filter((name) => !isJob(name))
    .map((name) => ({ why: `pyproject.toml: the program ${name}`, words: [name] }));
}

function moduleOf(file: string): string {
  return file
    .replace(/(\/__init__)?\.py$/, '')
    .replace(/^src\//, '')
    .replaceAll('/', '.');
}

/** Returns the ways of a Django project: by a server of production among the dependencies, and by its own. */
function toldByDjango(place: string, listed: string): Told[] {
  const own = { why: 'manage.py', words: ['python', 'manage.py', 'runserver'] };
  const [file] = globSync('*/{wsgi,asgi}.py', { cwd: place }).toSorted().toReversed();
  const server = /\b(gunicorn|uvicorn|daphne|hypercorn)\b/i.exec(listed)?.[1]?.toLowerCase();
  if (file === undefined || server === undefined) return [own];
  return [{ why: `manage.py, and ${server}`, words: [server, `${moduleOf(file)}:application`] }, own];
}

/** Returns true for a project of Django. */
export function isDjango(place: string): boolean {
  return /DJANGO_SETTINGS_MODULE["'],/.test(readText(place, 'manage.py'));
}
