import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { needs, uv } from '../../../bench-lab/testing/needs.ts';
import { Place, flags, hasProc } from './cli.ts';

const FEW = { get: '/', connections: 2, rounds: 1, warmup: 0, amount: 40 };

/** A service: one file and one module. */
const SERVERS = {
  python: {
    'app.py': `
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import work
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    def log_message(self, *words): pass
    def do_GET(self):
        work.work()
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"[]")
        self.wfile.flush()
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
`,
    module: 'work.py',
    empty: 'def work(): pass\n',
    changed: 'def work(): return 1\n',
    command: 'python -m app {port}',
  },
  node: {
    'app.mjs': `
import { createServer } from 'node:http';
import { work } from './work.mjs';
createServer((request, response) => {
  work();
  response.end('[]');
}).listen(Number(process.argv[2]), '127.0.0.1');
process.on('SIGTERM', () => process.exit());
`,
    module: 'work.mjs',
    empty: 'export function work() {}\n',
    changed: 'export function work() { return 1; }\n',
    command: 'node app.mjs {port}',
  },
} as const;

/** Writes the service into two folders, with another module in the second one. */
function writeCopies(place: Place, runtime: keyof typeof SERVERS): [string, string] {
  const { module, empty, changed, command: _, ...files } = SERVERS[runtime];
  const [a, b] = ['a', 'b'].map((name) => join(place.folder, name)) as [string, string];
  for (const [folder, text] of [
    [a, empty],
    [b, changed],
  ] as const) {
    mkdirSync(folder);
    for (const [name, own] of Object.entries({ ...files, [module]: text }))
      writeFileSync(join(folder, name), own);
  }
  return [a, b];
}

function compare(place: Place, runtime: keyof typeof SERVERS, folders: string[]): ReturnType<Place['run']> {
  const { command } = SERVERS[runtime];
  return place.run('compare', [...folders, ...flags({ run: command, ...FEW }), '--no-interleave']);
}

describe.runIf(hasProc).each(['python', 'node'] as const)('two folders of a %s service', (runtime) => {
  if (runtime === 'python') needs(uv);
  it('each run their own code, which is recorded', async () => {
    await using place = new Place();
    const folders = writeCopies(place, runtime);
    const { status, stderr } = await compare(place, runtime, folders);
    expect(stderr).not.toContain('failed');
    expect(status).toBe(0);
    const codes = place.trials().map(({ code }) => code);
    expect(new Set(codes.map((code) => code?.from))).toEqual(new Set(folders));
    expect(codes.map((code) => code?.files)).toEqual([2, 2]);
    expect(new Set(codes.map((code) => code?.sha256)).size).toBe(2);
  });
});

it('a folder of a Node service that imports from the other one fails', async () => {
  await using place = new Place();
  const [a, b] = writeCopies(place, 'node');
  const app = join(b, 'app.mjs');
  writeFileSync(app, readFileSync(app, 'utf8').replace('./work.mjs', join(a, 'work.mjs')));
  const { status, stderr } = await compare(place, 'node', [a, b]);
  expect(status).toBe(1);
  expect(stderr).toMatch(/failed — \S+: .*work\.mjs.* not in the copy/);
});
