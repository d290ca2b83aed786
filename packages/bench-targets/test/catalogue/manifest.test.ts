import { showPath } from 'bench-machine/files';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { WORKLOAD_NAMES } from '../../src/catalogue/workloads/index.ts';
import { readManifest } from '../../src/catalogue/manifest.ts';
import { ROOT } from '../../src/catalogue/stacks.ts';
import { NOT_KEPT, redact } from 'bench-machine/redact';
import { errorOf } from '../../../bench-lab/testing/samples.ts';

const folder = mkdtempSync(join(tmpdir(), 'bench-manifest-'));
const file = join(folder, 'stack.json');

afterAll(() => rmSync(folder, { recursive: true }));

const GOOD = `{
  "name": "my-api",
  "language": "typescript",
  "framework": "fastify",
  "class": "framework",
  "runtime": "node",
  "build": [["{runtime}", "build.ts"]],
  "default": "node",
  "variants": {
    "node": {
      "command": ["{runtime}", "server.ts", "--port", "{port}"],
      "workloads": ["devices"]
    },
    "tuned": {
      "class": "tuned",
      "command": ["{runtime}", "{root}/fast.ts", "{host}:{port}", "{workers}"],
      "build": [["{runtime}", "warm.ts"]],
      "env": { "FAST": "1" },
      "workloads": ["devices", "gather"],
      "attest": { "fast": true },
      "note": "with the switch on"
    }
  }
}`;

/** Returns the path of a file next to the manifest, as a user would type it. */
const near = (name: string) => showPath(join(folder, name));

function read(text: string): ReturnType<typeof readManifest> {
  writeFileSync(file, text);
  return readManifest(file);
}

/** Returns the error message for GOOD with one piece of its text replaced. */
function refuse(piece: string, by: string): string {
  expect(GOOD.split(piece).length).toBeGreaterThan(1);
  const error = errorOf(() => read(GOOD.replace(piece, by)));
  expect([error.code, error.hint]).toEqual([
    'usage',
    expect.stringContaining('docs/reference/stack-json.md'),
  ]);
  expect(error.message.slice(0, file.length + 1)).toBe(`${file}:`);
  return error.message.slice(file.length + 1);
}

const schemes = (text: string) => Object.values(read(text).variants).map(({ scheme }) => scheme);

describe('readManifest', () => {
  it('reads a stack and fills in the defaults', () => {
    expect(read(GOOD)).toMatchObject({
      name: 'my-api',
      runtime: 'node',
      build: [['{runtime}', 'build.ts']],
      runtimes: [],
      default: 'node',
      root: folder,
      manifest: file,
      variants: {
        node: { class: 'framework', env: {}, attest: {}, build: [], workloads: ['devices'] },
        tuned: { class: 'tuned', env: { FAST: '1' }, attest: { fast: true }, note: 'with the switch on' },
      },
    });
  });

  it('names the secrets that it holds in plain text, and hides them', () => {
    const own = GOOD.replace('"default"', '"requests": ["GET /"], "default"')
      .replace('"build": [["{runtime}", "build.ts"]],', '')
      .replace('"build": [["{runtime}", "warm.ts"]],', '');
    expect(read(own).literals).toEqual([]);
    const stack = read(
      own
        .replace('"env": { "FAST": "1" }', '"env": {\n "API_TOKEN": "token-in-manifest" }')
        .replace('"--port",', '"--api-key", "key-in-manifest", "--port",')
        .replace(
          '"default"',
          '"services": { "db": { "command": ["db"], "url": "db://me:pass-in-manifest@{host}" } }, "default"',
        ),
    );
    expect(stack.literals?.map((one) => one.slice(file.length + 1))).toEqual([
      '11: --api-key',
      '19: API_TOKEN',
      '8: url',
    ]);
    expect(redact('token-in-manifest key-in-manifest pass-in-manifest')).toBe(
      Array(3).fill(NOT_KEPT).join(' '),
    );
  });

  it('reads the scheme of all variants, or of one', () => {
    expect(schemes(GOOD)).toEqual(['http', 'http']);
    const secure = GOOD.replace('"default"', '"scheme": "https", "default"');
    expect(schemes(secure)).toEqual(['https', 'https']);
    expect(schemes(secure.replace('"note":', '"scheme": "http", "note":'))).toEqual(['https', 'http']);
  });

  it('reads how long the server may take to start', () => {
    expect(read(GOOD).startSeconds).toBeUndefined();
    expect(read(GOOD.replace('"default"', '"startTimeoutSeconds": 90, "default"')).startSeconds).toBe(90);
    expect(read(GOOD.replace('"default"', '"warmupTimeoutSeconds": 90, "default"')).warmupSeconds).toBe(90);
    expect(refuse('"default"', '"startTimeoutSeconds": 0, "default"')).toBe(
      '8: "startTimeoutSeconds" must be > 0',
    );
  });

  it('reads the dependency groups of a Python stack, and rejects them in other stacks', () => {
    const grouped = GOOD.replace('"env": {', '"groups": ["uvloop"], "env": {');
    expect(
      read(grouped.replace('"runtime": "node"', '"runtime": "python"')).variants['tuned']?.groups,
    ).toEqual(['uvloop']);
    expect(refuse('"env": {', '"groups": ["uvloop"], "env": {')).toBe(
      '18: only Python stacks have dependency groups',
    );
  });

  it('reads the defaults from which a variant deviates, and requires a note that explains why', () => {
    const deviating = GOOD.replace('"note":', '"deviates": ["backlog"], "note":');
    expect(read(deviating).variants['tuned']?.deviates).toEqual(['backlog']);
    expect(refuse('"note": "with the switch on"', '"deviates": ["backlog"]')).toBe(
      '21: the "note" of "tuned" must say why it deviates',
    );
  });

  it('reads the runtime versions that a stack supports', () => {
    const runtimes = '"runtime": "node", "runtimes": ["24", "26.1"],';
    expect(read(GOOD.replace('"runtime": "node",', runtimes)).runtimes).toEqual(['24', '26.1']);
    expect(refuse('"runtime": "node",', runtimes.replace('24', '>=24'))).toContain('"runtimes.0" must match');
  });

  it('shows its path relative to the current directory', () => {
    const own = join(ROOT, 'packages/vanilla/stack.json');
    expect(readManifest(own).manifest).toBe(relative(process.cwd(), own));
  });

  it('reads the requests of a manifest, with files relative to it', () => {
    const asking = GOOD.replace(
      '"default": "node",',
      `"default": "node",
  "rows": "ids.csv",
  "headers": { "Accept": "text/plain" },
  "login": { "request": "POST /in", "token": { "cookie": "sid" } },
  "requests": ["GET /a", { "request": "POST /b", "weight": 3, "body": "@b.json", "expect": { "status": 201 } }],`,
    )
      .replace(',\n      "workloads": ["devices"]', '')
      // Bench does not build a user's program.
      .replaceAll(/ *"build": .*/g, '');
    const { requests, variants } = read(asking);
    expect(variants['node']?.workloads).toEqual([]);
    expect(requests?.draft).toEqual({
      from: showPath(file),
      rows: near('ids.csv'),
      login: {
        method: 'POST',
        path: '/in',
        headers: {},
        token: { cookie: 'sid' },
        send: { cookie: 'sid={token}' },
      },
      requests: [
        { method: 'GET', path: '/a', weight: 1, headers: { accept: 'text/plain' } },
        {
          method: 'POST',
          path: '/b',
          weight: 3,
          headers: { accept: 'text/plain' },
          body: `@${near('b.json')}`,
          expect: { statuses: [201] },
        },
      ],
    });
    expect(requests?.locate(1, 'body')).toMatch(/stack\.json:12$/);
  });

  it.each([
    ['"GET /a"', '"FETCH /a"', /^10: "requests\.0" must match pattern/],
    ['"GET /a"', '{ "request": "GET /a", "weigth": 2 }', /^10: "requests\.0" has no field "weigth"$/],
    [
      '"GET /a"',
      '{ "request": "GET /a", "expect": { "status": 99 } }',
      /^10: "requests\.0\.expect\.status" must be >= 200/,
    ],
    ['"GET /a"', '7', /^10: "requests\.0" must be string,object/],
    ['"requests": ["GET /a"],', '', /"node" lists no "workloads", and the manifest has no "requests"/],
  ])('names the line of an invalid request: %s', (piece, by, message) => {
    const asking = GOOD.replace(
      '"default": "node",',
      '"default": "node",\n\n  "requests": ["GET /a"],',
    ).replace(',\n      "workloads": ["devices"]', '');
    expect(errorOf(() => read(asking.replace(piece, by))).message.replace(/^.*stack\.json:/, '')).toMatch(
      message,
    );
  });

  it('says that a missing file cannot be read', () => {
    const missing = join(folder, 'no', 'stack.json');
    expect(errorOf(() => readManifest(missing))).toMatchObject({
      code: 'usage',
      message: `${missing}: cannot be read`,
    });
  });

  it.each([
    ['"name": "my-api",', '"name": "my-api"', '3: not JSON: comma expected'],
    [
      '"language": "typescript"',
      '// a comment\n"language": "typescript"',
      '3: not JSON: invalid comment token',
    ],
    ['"runtime": "node"', '"runtime": node', '6: not JSON: invalid symbol'],
    ['"FAST": "1"', '"FAST": "1', '18: not JSON: unexpected end of string'],
  ])('names the line of a JSON syntax error: %s', (piece, by, message) => {
    expect(refuse(piece, by)).toBe(message);
  });

  it('says that an empty file is not JSON', () => {
    expect(errorOf(() => read('')).message).toMatch(/:1: not JSON: /);
  });

  it.each([
    [
      '"framework": "fastify"',
      '"framework": "fastify", "colour": "red"',
      '4: a stack has no field "colour", expected one of $schema, name, language, framework, class, scheme, runtime, build, default, variants, services, port, movesPort, envFile, version, packages, packagesUntil, setup, startTimeoutSeconds, warmupTimeoutSeconds, lock, runtimes, requests, headers, rows, login',
    ],
    ['"note": "with', '"notes": "with', '21: "variants.tuned" has no field "notes"'],
    [
      '"class": "framework"',
      '"class": "quick"',
      '5: "class" must be equal to one of the allowed values (raw, framework, tuned, unknown)',
    ],
    [
      '"runtime": "node"',
      '"runtime": "java"',
      '6: "runtime" must be equal to one of the allowed values (node, python, none)',
    ],
    ['"name": "my-api"', '"name": "My Api"', '2: "name" must match pattern "^[a-z0-9][a-z0-9-]*$"'],
    ['"FAST": "1"', '"FAST": 1', '18: "variants.tuned.env.FAST" must be string'],
    ['["devices", "gather"]', '[]', '19: "variants.tuned.workloads" must NOT have fewer than 1 items'],
    ['"default": "node",', '', '1: without "requests", a stack needs the field "default"'],
    [
      '["{runtime}", "server.ts", "--port", "{port}"]',
      '"node server.ts {port}"',
      '11: "variants.node.command" must be array',
    ],
  ])('names the line that breaks the contract: %s', (piece, by, message) => {
    expect(refuse(piece, by)).toBe(message);
  });

  it.each([
    [
      '["devices", "gather"]',
      '["devices", "gathr"]',
      `19: unknown workload "gathr", expected one of ${WORKLOAD_NAMES.join(', ')}`,
    ],
    [
      '"default": "node"',
      '"default": "bun"',
      '8: the default variant "bun" is not among the variants (node, tuned)',
    ],
    [
      '"default": "node"',
      '"default": "constructor"',
      '8: the default variant "constructor" is not among the variants (node, tuned)',
    ],
    [
      '"--port", "{port}"',
      '"--port", "3000"',
      '11: the command of "node" has no {port}, but Bench chooses the port of each trial',
    ],
    [
      '"{workers}"',
      '"{workers}", "--threads", "{threads}"',
      '16: {threads} must share a word with its option, e.g. "--threads={threads}": without --threads the whole word is omitted',
    ],
    [
      '"{root}/fast.ts"',
      '"{folder}/fast.ts"',
      '16: unknown placeholder {folder}, expected one of {runtime} {root} {host} {port} {workers} {threads}',
    ],
    [
      '"{host}:{port}"',
      '"{host}:{port}{}"',
      '16: unknown placeholder {}, expected one of {runtime} {root} {host} {port} {workers} {threads}',
    ],
    [
      '"warm.ts"',
      '"{out}"',
      '17: unknown placeholder {out}, expected one of {runtime} {root} {host} {port} {workers} {threads}',
    ],
    [
      '"build.ts"',
      '"{out}"',
      '7: unknown placeholder {out}, expected one of {runtime} {root} {host} {port} {workers} {threads}',
    ],
  ])('names the line of a contradiction: %s replaced by %s', (piece, by, message) => {
    expect(refuse(piece, by)).toBe(message);
  });
});

describe('a manifest with requests', () => {
  const OWN = {
    name: 'my-api',
    language: 'python',
    framework: 'unknown',
    class: 'unknown',
    runtime: 'python',
    requests: [{ request: 'GET /orders' }],
    default: 'app',
    variants: { app: { command: ['uvicorn', 'app:app'], attest: {} } },
  };

  afterEach(() => rmSync(join(folder, 'deploy.txt'), { force: true }));

  it("describes a user's program: its own lock, its address in the environment, nothing attested", () => {
    writeFileSync(join(folder, 'deploy.txt'), '');
    const stack = read(JSON.stringify({ ...OWN, lock: 'deploy.txt' }));
    expect(stack.project).toEqual({
      kind: 'python',
      lock: { kind: 'requirements', file: join(folder, 'deploy.txt') },
    });
    expect(stack.variants['app']).toMatchObject({
      class: 'unknown',
      env: { HOST: '{host}', PORT: '{port}' },
      attest: {},
      workloads: [],
    });
  });

  it('needs neither language, framework, runtime nor default', () => {
    const { name, requests, variants } = OWN;
    const stack = read(JSON.stringify({ name, requests, variants }));
    const derived = { language: 'python', framework: 'unknown', runtime: 'python', default: 'app' };
    expect(stack).toMatchObject({ ...derived, project: { kind: 'python' } });
  });

  it('says how a path alone becomes a request', () => {
    const error = errorOf(() => read(JSON.stringify({ ...OWN, requests: ['/orders'] })));
    expect([error.message, error.hint]).toEqual([
      expect.stringMatching(/:1: "requests.0" has no method$/),
      'write "GET /orders"',
    ]);
  });

  it('uses the runtime that it names, regardless of its command', () => {
    const { project } = read(JSON.stringify({ ...OWN, runtime: 'none' }));
    expect(project).toEqual({ kind: 'none' });
  });

  it.each([
    ['a lock that does not exist', { ...OWN, lock: 'gone.txt' }, '"lock": gone.txt'],
    [
      'a build step for Python',
      { ...OWN, build: [['make']] },
      'made from its lock, so "build" has no effect',
    ],
    [
      'the folder of a binary for a script',
      { ...OWN, variants: { app: { command: ['python', '{build}/app.py'] } } },
      'unknown placeholder {build}',
    ],
    [
      'a program that nothing builds',
      { ...OWN, runtime: 'none', variants: { app: { command: ['{build}/server'] } } },
      'the command of "app" starts a program in {build}, but no "build" makes it',
    ],
  ])('is rejected with %s', (_, manifest, problem) => {
    const error = errorOf(() => read(JSON.stringify(manifest)));
    expect(error.code).toBe('usage');
    expect(error.message).toMatch(/^\S+:1: /);
    expect(error.message).toContain(problem);
  });

  it('is the only kind of manifest that accepts a lock', () => {
    expect(refuse('"default"', '"lock": "uv.lock", "default"')).toContain(
      '"lock" has no effect without "requests"',
    );
  });
});

const APP = `{
  "name": "shop",
  "language": "python",
  "framework": "fastapi",
  "class": "unknown",
  "runtime": "python",
  "default": "app",
  "variants": {
    "app": {
      "command": ["uvicorn", "app:app", "--port", "{port}"],
      "env": { "DATABASE_URL": "{db.url}", "CACHE": "{cache.host}:{cache.port}" }
    }
  },
  "requests": [{ "request": "POST /orders", "body": "@order.json" }],
  "services": {
    "db": { "use": "postgres" },
    "cache": { "command": ["redis-server", "--port", "{port}"], "env": { "DB": "{db.url}" } }
  },
  "setup": { "command": ["alembic", "upgrade", "head"], "env": { "SEED": "1" } }
}`;

describe('the manifest of an app', () => {
  it('has no workloads, uses its own lock, and sets host and port in the environment', () => {
    const stack = read(APP);
    expect(stack).toMatchObject({ project: { kind: 'python' }, surroundings: { services: { cache: {} } } });
    expect(stack.variants['app']).toMatchObject({
      class: 'unknown',
      workloads: [],
      env: { PORT: '{port}', HOST: '{host}', DATABASE_URL: '{db.url}' },
    });
  });

  it.each([
    [
      '{db.url}", "CACHE',
      '{db.user}@{cache.user}", "CACHE',
      '11: nothing gives {cache.user} a value: services before it give {db.host} {db.port} {db.url} {db.user} {db.password} {db.name} {cache.host} {cache.port} {cache.url}',
    ],
    [
      '"DB": "{db.url}"',
      '"DB": "{cache.url}"',
      '17: nothing gives {cache.url} a value: services before it give {db.host} {db.port} {db.url} {db.user} {db.password} {db.name}',
    ],
    ['app:app', '{db.url}', '10: {db.url}: the address of a service goes into "env", not into a command'],
    [
      '"use": "postgres"',
      '"use": "oracle"',
      '16: "services.db.use" must be equal to one of the allowed values (postgres, mysql)',
    ],
    [
      '"--port", "{port}"], "env": { "DB"',
      '"--port", "{prot}"], "env": { "DB"',
      '17: unknown placeholder {prot}, expected one of {root} {host} {port}',
    ],
    ['"env": { "SEED": "1" }', '"timeout": 5', '19: "setup" has no field "timeout"'],
  ])('is rejected with %s replaced by %s', (piece, by, says) => {
    expect(APP.split(piece).length).toBeGreaterThan(1);
    const error = errorOf(() => read(APP.replace(piece, by)));
    expect([error.code, error.message]).toEqual(['usage', `${file}:${says}`]);
  });

  it('is the only kind of manifest that accepts a setup', () => {
    const setup = '"setup": { "command": ["true"] },';
    expect(refuse('"default"', `${setup} "default"`)).toMatch(
      /^\d+: "setup" has no effect without "requests"/,
    );
  });
});
