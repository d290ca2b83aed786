/** Files that Bench reads, near to right ones. Each is read, or refused with words. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BenchError } from 'bench-model/errors';
import BENCH from 'bench-http/commands/bench';
import { makePlan } from 'bench-http/plan/plan';
import { readManifest } from 'bench-targets/catalogue/manifest';
import { readStacks } from 'bench-targets/catalogue/stacks';
import { readConfig } from '../../../bench/src/cli/config.ts';
import CI from '../../../bench/src/commands/ci.ts';
import COMPARE from '../../../bench/src/commands/compare.ts';
import REPORT from '../../../bench/src/commands/report.ts';
import { readCluster } from '../../../bench-targets/src/catalogue/cluster.ts';
import { findNeeds } from '../../../bench-targets/src/catalogue/apps/needs.ts';
import { admittedBy } from '../../../bench-targets/src/catalogue/projects/pinned.ts';
import { findProject } from '../../../bench-targets/src/catalogue/projects/project.ts';
import { pathsInFiles, pathsInLog } from '../../../bench-targets/src/catalogue/apps/routes.ts';
import { findSetup } from '../../../bench-targets/src/catalogue/apps/setup.ts';
import { variablesOf } from '../../../bench-targets/src/catalogue/apps/variables.ts';
import { findWays } from '../../../bench-targets/src/catalogue/apps/ways/index.ts';
import { splitCommand } from '../../../bench-targets/src/catalogue/projects/words.ts';
import { readOpenapi } from '../../../bench-targets/src/catalogue/workloads/requests/openapi.ts';
import { readRequests } from '../../../bench-targets/src/catalogue/workloads/requests/file.ts';
import { readRows } from '../../../bench-targets/src/catalogue/workloads/requests/rows.ts';
import { compileSchema } from '../../../bench-targets/src/catalogue/workloads/requests/schema.ts';
import { filesOfLock } from '../../../bench-targets/src/prepare/projects/locks.ts';
import { filesOfLocalPackages } from '../../../bench-targets/src/prepare/projects/sources.ts';
import { documentsLike, takeMany, textsLike } from './mutate.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-fuzz-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Calls, and lets an error for users pass. */
async function refuses(call: () => unknown): Promise<void> {
  try {
    await call();
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
  }
}

/** Writes a file, and returns its path. */
function write(name: string, content: unknown): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : (JSON.stringify(content) ?? ''));
  return file;
}

const MANIFEST = {
  name: 'app',
  language: 'python',
  framework: 'none',
  class: 'raw',
  runtime: 'none',
  default: 'app',
  startTimeoutSeconds: 5,
  port: 3000,
  build: [['make', 'it']],
  headers: { 'x-key': '{KEY}' },
  rows: 'rows.csv',
  login: { request: 'POST /login', body: { user: 'a' }, token: 'token', every: 10 },
  services: {
    cache: { command: ['redis-server', '--port', '{port}'], ready: 'tcp', url: 'redis://{host}:{port}' },
    db: { use: 'postgres' },
  },
  setup: { command: ['migrate'], env: { URL: '{db.url}' }, timeoutSeconds: 3 },
  variants: {
    app: { command: ['server', '--port', '{port}'], env: { URL: '{cache.url}' }, note: 'as it is' },
  },
  requests: [
    'GET /orders?limit=20',
    { request: 'POST /orders/{uuid}', body: { id: '{uuid}' }, weight: 2, expect: 201 },
  ],
};
const CONFIG = {
  bench: {
    run: 'server --port {port}',
    get: ['/'],
    targets: ['main', 'HEAD'],
    connections: [10],
    duration: 3,
  },
  budgets: [
    { metric: 'cpu', against: 'main', worseByAtMost: '3%' },
    { metric: 'p99', rate: 500, atMost: '20ms', connections: 10, request: 'GET /' },
  ],
};
const CLUSTER = { head: 'auto', generators: 2, processes: 2, connections: [100], upstream: true };
const OPENAPI = {
  openapi: '3.1.0',
  servers: [{ url: '/{stage}/v1', variables: { stage: { default: 'api' } } }],
  security: [],
  paths: {
    '/orders': { get: { parameters: [{ name: 'limit', in: 'query', schema: { default: 20 } }] }, post: {} },
    '/orders/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer', examples: [7] } }],
      get: {
        security: [{ bearer: [] }],
        responses: { 200: { content: { 'application/json': { schema: {} } } } },
      },
    },
    '/search': { get: { parameters: [{ $ref: '#/components/parameters/Tenant' }] } },
  },
  components: {
    parameters: { Tenant: { name: 'X-Tenant', in: 'header', required: true, schema: { enum: ['one'] } } },
  },
};
const YAML = `openapi: 3.0.0
paths:
  /a/{id}: &item
    get:
      parameters:
        - {name: id, in: path, required: true, example: 3}
  /b: *item
`;

/** Returns a function that reads the inputs that once failed, and many others. */
function readMany<T>(
  like: fc.Arbitrary<T>,
  read: (input: T) => unknown,
  ...found: readonly T[]
): () => Promise<void> {
  return () => takeMany(like, (input) => refuses(() => read(input)), { found });
}

const { requests, headers, rows, login } = MANIFEST;
const SCHEMA = {
  type: 'object',
  properties: { id: { type: 'integer' } },
  required: ['id'],
  $defs: { a: {} },
};
const JSON_LOG = '{"req":{"method":"GET","url":"/a"}}';
const COMMANDS = [BENCH, CI, COMPARE, REPORT];
const TARGETS = ['vanilla', 'fastify', 'f*', 'a@b{C=1}', '*', '@', '/'];
const VALUES = ['', '-', '--', '--=', '-x', '0', '-1', '1e999', 'NaN', '10,0', 'p99<50ms'];

/** Reads the built-in stacks once. */
let known: ReturnType<typeof readStacks> | undefined;

/** Command lines of options and values in any order. */
const lines = fc.oneof(
  ...COMMANDS.map((command) => {
    const words = [...TARGETS, ...VALUES, ...Object.keys(command.options).map((name) => `--${name}`)];
    const word = fc.oneof(fc.constantFrom(...words), fc.string({ unit: 'binary', maxLength: 12 }));
    return fc.tuple(fc.constant(command), fc.array(word, { maxLength: 8 }));
  }),
);

const INPUTS: Record<string, () => Promise<void>> = {
  manifests: readMany(documentsLike([MANIFEST]), (input) => readManifest(write('stack.json', input))),
  'manifests that are no JSON': readMany(textsLike([JSON.stringify(MANIFEST, null, 2)]), (input) =>
    readManifest(write('stack.json', input)),
  ),
  'files of requests': readMany(documentsLike([{ requests, headers, rows, login }, MANIFEST]), (input) =>
    readRequests(write('requests.json', input)),
  ),
  'rows of CSV': readMany(textsLike(['id,name\n1,"a ""b"""\n2,c\n']), (input) =>
    readRows(write('rows.csv', input)),
  ),
  'rows of JSON': readMany(textsLike(['{"id":1}\n{"id":2}\n']), (input) =>
    readRows(write('rows.jsonl', input)),
  ),
  'OpenAPI documents': readMany(
    documentsLike([OPENAPI]),
    (input) => readOpenapi(JSON.stringify(input) ?? '', 'api.json'),
    { openapi: '3.1.0', paths: { '/a': { get: { $ref: '#/%' } } } },
  ),
  'OpenAPI documents in YAML': readMany(
    textsLike([YAML]),
    (input) => readOpenapi(input, 'api.yaml'),
    YAML.replace('/b', '\u0000/b'),
  ),
  'expected schemas': readMany(documentsLike([SCHEMA]), (input) =>
    compileSchema(JSON.stringify(input) ?? '', '--expect-schema'),
  ),
  'the configuration of CI': readMany(documentsLike([CONFIG]), (input) => {
    for (const run of readConfig(write('bench.config.json', input), BENCH).runs) run.request();
  }),
  'descriptions of clusters': readMany(documentsLike([CLUSTER]), (input) =>
    readCluster(write('cluster.json', input)),
  ),
  'command lines': readMany(lines, ([command, words]) => {
    const parsed = command.parse(words);
    if (command === BENCH)
      makePlan(parsed as ReturnType<typeof BENCH.parse>, (known ??= readStacks()), 'fuzz', 1);
  }),
  'commands of --run': readMany(
    textsLike([`A=1 B='x y' uvicorn "app:app" --port {port} && echo \\$HOME`]),
    (input) => splitCommand(input, '--run'),
  ),
  'logs of servers': readMany(textsLike([`INFO GET /orders?limit=20 200 3 ms\n${JSON_LOG}\n`]), pathsInLog),
};

describe('never fail without words:', () => {
  it.each(Object.keys(INPUTS))('%s', async (name) => {
    await expect(INPUTS[name]!()).resolves.toBeUndefined();
  });
});

/** The files of a project, as they are written. */
const FILES: Record<string, unknown> = {
  'package.json': {
    name: 'app',
    version: '1.0.0',
    engines: { node: '>=20' },
    scripts: {
      start: 'node server.js',
      build: 'tsc',
      'start:prod': 'node dist/server.js',
      migrate: 'prisma migrate',
    },
    workspaces: ['packages/*'],
    dependencies: { express: '^5', pg: '8' },
    devDependencies: { typescript: '5' },
  },
  'deno.json': { tasks: { start: 'deno run server.ts' } },
  'pnpm-lock.yaml': `lockfileVersion: '9.0'\nimporters:\n  .:\n    dependencies:\n      express:\n        specifier: ^5\n        version: 5.0.0\n`,
  'pnpm-workspace.yaml': 'packages:\n  - packages/*\n',
  'yarn.lock': '# yarn lockfile v1\nexpress@^5:\n  version "5.0.0"\n',
  'package-lock.json': {
    lockfileVersion: 3,
    packages: { '': { name: 'app' }, 'node_modules/express': { version: '5.0.0' } },
  },
  'pyproject.toml': `[project]\nname = "app"\nrequires-python = ">=3.11"\ndependencies = ["fastapi", "psycopg"]\n[project.scripts]\nserve = "app:main"\n[tool.poetry]\nname = "app"\n[tool.uv]\npackage = false\n[tool.uv.sources]\nlib = { path = "../lib" }\n`,
  'uv.lock': `version = 1\n[[package]]\nname = "app"\nsource = { editable = "." }\n[[package]]\nname = "fastapi"\nversion = "0.115.0"\n`,
  'poetry.lock': `[[package]]\nname = "fastapi"\nversion = "0.115.0"\n[package.source]\ntype = "directory"\nurl = "../lib"\n`,
  'requirements.txt': 'fastapi==0.115.0\n-r more.txt\n-e ../lib\n',
  'Cargo.toml': `[package]\nname = "app"\n[[bin]]\nname = "app"\n[dependencies]\naxum = "0.8"\nlib = { path = "../lib" }\n`,
  'go.mod': 'module example.org/app\ngo 1.23\nreplace example.org/lib => ../lib\n',
  'pom.xml':
    '<project><artifactId>app</artifactId><properties><java.version>21</java.version></properties></project>',
  Procfile: 'web: gunicorn app:app --bind 0.0.0.0:$PORT\n',
  Dockerfile: 'FROM node:22\nENV A=1\nCMD ["node", "server.js"]\n',
  'docker-compose.yml': `services:\n  web:\n    build: .\n    command: npm start\n    ports: ["3000:3000"]\n    environment: { DATABASE_URL: "postgres://u:p@db/app" }\n  db:\n    image: postgres:17\n`,
  '.env': 'DATABASE_URL=postgres://u:p@localhost/app\nSECRET=x\n',
  '.env.example': 'PORT=3000\nREDIS_URL=\n',
  '.python-version': '3.12\n',
  '.nvmrc': 'lts/iron\n',
  'README.md': '# App\n\n```\nuvicorn app:app --port 8000\ncurl localhost:8000/orders\n```\n',
  'server.js': `const app = require('express')(); app.get('/orders/:id', (a, b) => b.json({})); app.listen(process.env.PORT);\n`,
  'app.py': `from fastapi import FastAPI\napp = FastAPI()\n@app.get("/orders")\ndef orders(): return []\n`,
};

/** Contents of these files that once failed. */
const FOUND: Record<string, unknown[]> = {
  'package.json': [{ scripts: { start: '\u0000' } }, { scripts: { start: 'constructor' } }],
  'pyproject.toml': ['#\u0000'],
  'Cargo.toml': ['#\u0000'],
  'go.mod': ['\u0000'],
  'requirements.txt': ['-r .\n'],
  'docker-compose.yml': ['services:\n  web:\n    build: .\n    command:\n'],
};

describe('never fail without words for a project whose file is spoilt:', () => {
  it.each(Object.keys(FILES))('%s', async (name) => {
    const root = join(folder, `project of ${name}`);
    for (const [other, content] of Object.entries(FILES)) write(join(`project of ${name}`, other), content);
    const sample = FILES[name];
    const inputs: fc.Arbitrary<unknown> =
      typeof sample === 'string' ? textsLike([sample]) : documentsLike([sample]);
    const file = join(root, name);
    const taken = takeMany(
      inputs,
      (input) => {
        writeFileSync(file, typeof input === 'string' ? input : (JSON.stringify(input) ?? ''));
        readProject(root);
      },
      { runs: process.env['BENCH_FUZZ'] === undefined ? 8 : undefined, found: FOUND[name] ?? [] },
    );
    await expect(taken).resolves.toBeUndefined();
  });
});

/** Reads all that Bench reads of a project before it starts anything. */
function readProject(root: string): void {
  const readers = [
    ...['node', 'uvicorn', 'npm', './app'].map((command) => () => {
      const { lock } = findProject(root, [command]);
      if (lock !== undefined) filesOfLock(root, lock);
    }),
    () => {
      for (const way of findWays(root)) findSetup(root, way, true);
    },
    () => findNeeds(root),
    () => variablesOf(root, ''),
    () => pathsInFiles(root),
    () => filesOfLocalPackages(root),
    () => admittedBy(root, 'python'),
    () => admittedBy(root, 'node'),
  ];
  for (const reader of readers) {
    try {
      reader();
    } catch (error) {
      if (!(error instanceof BenchError)) throw error;
    }
  }
}
