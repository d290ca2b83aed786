/** Projects that would execute something on the machine of a user who only looks at them, or that hold what cannot be read. */
import { chmodSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runSync } from 'bench-machine/subprocess';

export interface ProjectCase {
  /** What the project has, after "has". */
  fault: string;
  files: Record<string, string | object>;
  /** Words that are shown before anything is executed; undefined if nothing is found that could be. */
  shows?: string[];
  /**
   * True if its script runs once that is allowed, false if it never does. Undefined if that needs a database, packages or a compiler, and the
   * user says no.
   */
  runs?: boolean;
  /** The keys for a question, if they are others than usual. */
  answers?: Record<string, string>;
  /** The words of the end, if nothing is shown. */
  says?: RegExp;
  /** Makes what is no plain file. */
  make?: (folder: string) => void;
}

/** Stands for the file by which a script shows that it ran. */
const MARK = '@MARK@';
export const TOUCH = `require('node:fs').writeFileSync('${MARK}', '');`;
const TOUCH_PYTHON = `open('${MARK}', 'w').close()\n`;
const TOUCH_SHELL = `#!/bin/sh\ntouch '${MARK}'\n`;
const SERVER = `require('node:http').createServer((_, answer) => answer.end('ok')).listen(process.env.PORT, '127.0.0.1');`;
const START = { scripts: { start: 'node server.js' } };
const NODE = { 'package.json': START, 'server.js': SERVER, 'touch.js': TOUCH };
const scripts = (all: Record<string, string>, more: object = {}): object => ({ scripts: all, ...more });
const DATABASE = { '.env.example': 'DATABASE_URL=postgres://localhost/shop\n' };

/** A script in each file from which `init` takes a command. */
const COMMANDS: ProjectCase[] = [
  {
    fault: 'a server that touches a file',
    files: { ...NODE, 'server.js': TOUCH + SERVER },
    shows: ['node server.js'],
    runs: true,
  },
  {
    fault: 'a build in package.json, and steps around it',
    files: {
      ...NODE,
      'package.json': scripts({ prebuild: 'node touch.js', build: 'node build.js', start: 'node dist/a.js' }),
      'build.js': `require('node:fs').mkdirSync('dist'); require('node:fs').copyFileSync('server.js', 'dist/a.js');`,
    },
    shows: ['npm run build', 'package.json: prebuild: node touch.js', 'package.json: build: node build.js'],
    runs: true,
  },
  {
    fault: 'an install script in a package of its own',
    files: {
      ...NODE,
      'package.json': { ...START, dependencies: { inner: 'file:./inner' } },
      'inner/package.json': scripts({ postinstall: 'node ../touch.js' }, { name: 'inner', version: '1.0.0' }),
    },
    shows: ['inner/package.json: postinstall: node ../touch.js'],
    runs: true,
  },
  {
    fault: 'a shell script that only a shell can read',
    files: {
      ...NODE,
      'package.json': scripts({ start: 'sh run.sh' }),
      'run.sh': `${TOUCH_SHELL}while true; do node server.js; done | cat\n`,
    },
    shows: ['sh run.sh'],
    runs: true,
  },
  {
    fault: 'a release step in its Procfile',
    files: { ...NODE, Procfile: 'release: node touch.js\nweb: node server.js\n' },
    shows: ['node touch.js, before each start', 'node server.js'],
    runs: true,
  },
  {
    fault: 'the command of an image',
    files: { ...NODE, 'server.js': TOUCH + SERVER, Dockerfile: 'FROM node\nCMD ["node", "server.js"]\n' },
    shows: ['node server.js'],
    runs: true,
  },
  {
    fault: 'variables of an image that load code',
    files: {
      ...NODE,
      Dockerfile: 'FROM node\nENV NODE_OPTIONS="--require ./touch.js"\nCMD node server.js\n',
    },
    shows: ["NODE_OPTIONS='--require ./touch.js'", 'node server.js'],
    runs: true,
  },
  {
    fault: 'an ENTRYPOINT script, and a command that prepares the image',
    files: {
      ...NODE,
      Dockerfile: 'FROM node\nENTRYPOINT ["./docker/entrypoint.sh"]\nCMD node touch.js && node server.js\n',
      'docker/entrypoint.sh': `${TOUCH_SHELL}node touch.js\nexec "$@"\n`,
    },
    shows: ['node server.js'],
    runs: false,
  },
  {
    fault: 'an ENTRYPOINT script as its only start',
    files: {
      'composer.json': {},
      Dockerfile: 'FROM debian\nCMD cron && exec apache2 -D FOREGROUND\nENTRYPOINT ["./entrypoint.sh"]\n',
      'entrypoint.sh': `${TOUCH_SHELL}exec "$@"\n`,
    },
    says: /nothing in this PHP project says how its server starts/,
  },
  {
    fault: 'a compose file with a command that prepares the image',
    files: {
      ...NODE,
      'compose.yaml':
        'services:\n  web:\n    build: .\n    command: sh -c "node touch.js && node server.js"\n',
    },
    shows: ['node server.js'],
    runs: false,
  },
  {
    fault: 'the task of a deno.json',
    files: { 'deno.json': { tasks: { start: 'deno run -A touch.js' } }, 'touch.js': TOUCH },
    shows: ['deno run -A touch.js'],
  },
  {
    fault: 'a file of variables that load code',
    files: {
      ...NODE,
      'server.js': `if (!process.env.SHOP) process.exit(3); ${SERVER}`,
      '.env': 'SHOP=open\nNODE_OPTIONS="--require ./touch.js"\n',
    },
    shows: ['.env: NODE_OPTIONS="--require ./touch.js"'],
    answers: { 'What to change?': '\r' },
    runs: true,
  },
  {
    fault: 'a build backend in its pyproject.toml',
    files: {
      'pyproject.toml':
        '[build-system]\nrequires = []\nbuild-backend = "touch"\nbackend-path = ["."]\n[project]\nname = "shop"\nversion = "1"\n[project.scripts]\nshop = "shop:run"\n',
      'touch.py': TOUCH_PYTHON,
    },
    shows: ['steered by pyproject.toml', 'shop'],
  },
  {
    fault: 'a setup.py, and a manage.py',
    files: {
      'requirements.txt': 'django\ngunicorn\n',
      'setup.py': TOUCH_PYTHON,
      'manage.py': `${TOUCH_PYTHON}os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")\n`,
      'shop/wsgi.py': '',
    },
    shows: ['setup.py', 'python manage.py migrate --noinput, before each start', 'gunicorn shop.wsgi'],
  },
  {
    fault: 'a source that serves itself, and modules named like those of Python',
    files: {
      'requirements.txt': 'aiohttp\n',
      'shop.py': `from aiohttp import web\n${TOUCH_PYTHON}if __name__ == "__main__":\n  web.run_app(app)\n`,
      ...Object.fromEntries(
        ['json', 'pip', 'platform', 'site', 'sitecustomize'].map((name) => [`${name}.py`, TOUCH_PYTHON]),
      ),
    },
    shows: ['python shop.py'],
  },
  {
    fault: 'an interpreter of its own',
    files: {
      'requirements.txt': 'fastapi\nuvicorn\n',
      'shop.py': 'app = FastAPI()\n',
      '.python-version': './.venv/bin/python\n',
      '.venv/bin/python': TOUCH_SHELL,
      '.venv/pyvenv.cfg': 'home = .\n',
    },
    shows: ['uvicorn shop:app'],
  },
  {
    fault: 'a migration of Alembic',
    files: {
      ...DATABASE,
      'requirements.txt': 'fastapi\nuvicorn\nalembic\npsycopg\n',
      'shop.py': 'app = FastAPI()\n',
      'alembic.ini': '',
      'env.py': TOUCH_PYTHON,
    },
    shows: ['alembic upgrade head, before each start'],
  },
  {
    fault: 'a migration of Prisma, and one of package.json',
    files: {
      ...NODE,
      ...DATABASE,
      'package.json': scripts({ start: 'node server.js', 'db:migrate': 'node touch.js' }),
      'prisma/schema.prisma': '',
    },
    shows: ['npm run db:migrate, before each start', 'package.json: db:migrate: node touch.js'],
  },
  {
    fault: 'a Go program',
    files: { 'go.mod': 'module shop\n', 'main.go': 'package main\n\nfunc main() {}\n' },
    shows: ['go build -o {build}/server ./', '{build}/server'],
  },
  {
    fault: 'a build script of Cargo',
    files: {
      'Cargo.toml': '[package]\nname = "shop"\nbuild = "build.rs"\n',
      'src/main.rs': 'fn main() {}',
      'build.rs': `fn main() { std::fs::write("${MARK}", "").unwrap(); }`,
    },
    shows: ['cargo build --release --locked', '{build}/release/shop'],
  },
  ...(['mvnw', 'gradlew'] as const).map((wrapper): ProjectCase => {
    const main = 'src/main/java/Shop.java';
    const java = { [main]: 'class Shop {\n  public static void main(String[] args) {}\n}\n' };
    const manifest: Record<string, string> =
      wrapper === 'mvnw'
        ? { 'pom.xml': '<project><artifactId>shop</artifactId></project>' }
        : { 'build.gradle': "plugins { id 'application' }\nmainClass = 'Shop'\n" };
    return {
      fault: `a wrapper named ${wrapper}`,
      files: { ...java, ...manifest, [wrapper]: TOUCH_SHELL },
      make: (folder) => chmodSync(join(folder, wrapper), 0o755),
      shows: [`./${wrapper} --quiet`],
      runs: true,
    };
  }),
];

/** The server of a documentation, a watcher and a bundler, which are never the service. */
const BESIDE: ProjectCase[] = [
  {
    fault: 'a watcher, and the server of its documentation',
    files: {
      'package.json': scripts({ start: 'ts-node-dev touch.ts', dev: 'vite' }),
      'website/package.json': scripts({ start: 'node docs.js' }),
      'website/docs.js': `${TOUCH}${SERVER}`,
      'touch.ts': TOUCH,
    },
    says: /nothing in this Node project says how its server starts/,
  },
];

const SOURCES = [
  'Procfile',
  'Dockerfile',
  'compose.yaml',
  '.env',
  '.env.example',
  '.nvmrc',
  '.tool-versions',
  'pyproject.toml',
  'requirements.txt',
  'setup.py',
  'shop.py',
  'urls.py',
  'shop.js',
  'shop.ts',
  'go.mod',
  'main.go',
  'Cargo.toml',
  'pom.xml',
  'schema.prisma',
];

/** What is no text in place of one. */
const UNREADABLE: ProjectCase[] = [
  {
    fault: 'a pipe in place of each of its other sources',
    files: NODE,
    make: (folder) => runSync(['mkfifo', ...SOURCES.map((name) => join(folder, name))]),
    shows: ['node server.js'],
    runs: false,
  },
  {
    fault: 'a pipe in place of its only manifest',
    files: {},
    make: (folder) => runSync(['mkfifo', join(folder, 'package.json')]),
    says: /nothing in this Node project says how its server starts/,
  },
  {
    fault: 'a file of more than 2 GiB',
    files: { ...NODE, 'data.sqlite': '' },
    make: (folder) => truncateSync(join(folder, 'data.sqlite'), 2300 * 1024 ** 2),
    shows: ['node server.js'],
    runs: false,
  },
  {
    fault: 'a pipe beside the sources of a build',
    files: {
      ...NODE,
      'package.json': scripts({ build: 'node build.js', start: 'node dist/a.js' }),
      'build.js': `require('node:fs').mkdirSync('dist'); require('node:fs').copyFileSync('server.js', 'dist/a.js');`,
    },
    make: (folder) => runSync(['mkfifo', join(folder, 'data')]),
    shows: ['npm run build'],
    runs: false,
  },
  {
    fault: 'a manifest that is nested 200,000 deep',
    files: { 'package.json': `${'['.repeat(200_000)}${']'.repeat(200_000)}` },
    says: /package\.json:1: not JSON: it is nested too deeply/,
  },
];

export const PROJECT_CASES: ProjectCase[] = [...COMMANDS, ...BESIDE, ...UNREADABLE];

/** Writes the project of a case. Its scripts touch this file. */
export function writeProject(folder: string, { files, make }: ProjectCase, mark: string): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    const isProgram = text.startsWith('#!');
    writeFileSync(file, text.replaceAll(MARK, mark), { mode: isProgram ? 0o755 : 0o644 });
  }
  make?.(folder);
}
