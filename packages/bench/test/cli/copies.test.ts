import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { needs, uv } from '../../../bench-lab/testing/needs.ts';
import { Place, flags, hasProc } from './cli.ts';

const FEW = { connections: 2, rounds: 1, warmup: 0, amount: 40 };

/** A server outside the repository: one file and one module. */
const SERVERS = {
  python: {
    'app.py': `
import json, os, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import work
devices = json.dumps(json.load(open(os.environ["BENCH_DEVICES"]))).encode()
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    def log_message(self, *words): pass
    def do_GET(self):
        work.work()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(devices)))
        self.end_headers()
        self.wfile.write(devices)
        self.wfile.flush()
print('bench-attest {"jit": false}', flush=True)
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
`,
    module: 'work.py',
    empty: 'def work(): pass\n',
    changed: 'def work(): return 1\n',
    command: ['{runtime}', '-m', 'app', '{port}'],
  },
  node: {
    'app.mjs': `
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { work } from './work.mjs';
const devices = JSON.stringify(JSON.parse(readFileSync(process.env.BENCH_DEVICES, 'utf8')));
createServer((request, response) => {
  work();
  response.setHeader('content-type', 'application/json').end(devices);
}).listen(Number(process.argv[2]), '127.0.0.1');
process.on('SIGTERM', () => process.exit());
`,
    module: 'work.mjs',
    empty: 'export function work() {}\n',
    changed: 'export function work() { return 1; }\n',
    command: ['{runtime}', 'app.mjs', '{port}'],
  },
} as const;

/** Writes the server and two copies. Returns their folders. */
function writeShop(place: Place, runtime: keyof typeof SERVERS): { shop: string; copies: string[] } {
  const { module, empty, command, ...files } = SERVERS[runtime];
  const shop = join(place.folder, 'shop');
  mkdirSync(shop);
  for (const [name, text] of Object.entries({ ...files, [module]: empty })) {
    if (name.includes('.')) writeFileSync(join(shop, name), text);
  }
  const variants = { only: { command, workloads: ['devices'] } };
  const about = {
    name: 'shop',
    language: runtime,
    framework: 'none',
    class: 'raw',
    runtime,
    default: 'only',
  };
  writeFileSync(join(shop, 'stack.json'), JSON.stringify({ ...about, variants }));
  const copies = ['a', 'b'].map((name) => join(place.folder, name));
  for (const copy of copies) cpSync(shop, copy, { recursive: true });
  return { shop, copies };
}

function measure(place: Place, shop: string, copies: string[]): ReturnType<Place['run']> {
  return place.run('bench', [
    ...flags({ stack: join(shop, 'stack.json'), ...FEW }),
    ...copies.flatMap((copy) => ['--with', copy]),
    '--no-interleave',
  ]);
}

describe.runIf(hasProc).each(['python', 'node'] as const)('--with two copies of a %s server', (runtime) => {
  if (runtime === 'python') needs(uv);
  const { module, changed } = SERVERS[runtime];
  it('runs each copy, and records its code', async () => {
    await using place = new Place();
    const { shop, copies } = writeShop(place, runtime);
    writeFileSync(join(copies[1] ?? '', module), changed);
    const { status, stderr } = await measure(place, shop, copies);
    expect(stderr).not.toContain('failed');
    expect(status).toBe(0);
    const codes = place.trials().map(({ code }) => code);
    expect(new Set(codes.map((code) => code?.from))).toEqual(new Set(copies));
    expect(codes.map((code) => code?.files)).toEqual([2, 2]);
    expect(new Set(codes.map((code) => code?.sha256)).size).toBe(2);
  });
});

it.runIf(hasProc)('a run of two copies stops if they run the same code', async () => {
  await using place = new Place();
  const { shop, copies } = writeShop(place, 'node');
  writeFileSync(join(copies[1] ?? '', 'README'), 'not code');
  const { status, stderr } = await measure(place, shop, copies);
  expect(status).toBe(1);
  expect(stderr).toContain('error: shop[');
  expect(stderr).toContain('the server ran the same code as');
  expect(place.trials().map(({ status: outcome }) => outcome === 'failed')).toEqual([false, true]);
});

it('copies with the same files are refused', async () => {
  await using place = new Place();
  const { shop, copies } = writeShop(place, 'node');
  const { status, stderr } = await measure(place, shop, copies);
  expect(status).toBe(2);
  expect(stderr).toContain(`--with ${copies[0]} and --with ${copies[1]} hold the same files`);
});

it('a copy of a Node server that imports from the original fails', async () => {
  await using place = new Place();
  const { shop, copies } = writeShop(place, 'node');
  const app = join(copies[0] ?? '', 'app.mjs');
  writeFileSync(app, readFileSync(app, 'utf8').replace('./work.mjs', join(shop, 'work.mjs')));
  const { status, stderr } = await measure(place, shop, copies.slice(0, 1));
  expect(status).toBe(1);
  expect(stderr).toMatch(/failed — \S+: .*work\.mjs.* not in the copy/);
});
