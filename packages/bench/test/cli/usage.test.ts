import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import bench from '../../src/commands/bench.ts';
import prune from '../../src/commands/prune.ts';
import report from '../../src/commands/report.ts';
import serve from '../../src/commands/serve.ts';
import { Place, PLANTED, hasProc, runHere } from './cli.ts';

/** The folder of all commands that run in this process. */
const folder = vi.hoisted(() => {
  const { mkdtempSync: make } = process.getBuiltinModule('node:fs');
  const place = make(`${process.getBuiltinModule('node:os').tmpdir()}/bench-usage-`);
  process.env['BENCH_RESULTS'] = `${place}/results`;
  process.env['BENCH_STATE'] = `${place}/state`;
  return place;
});
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.unstubAllEnvs());

const handlers = process.listenerCount('SIGTERM');
const COMMANDS = { bench, prune, report, serve };

/** Expects that no run, no lock, no entry and no signal handler of a command is left. */
function expectNothingLeft(): void {
  expect(process.listenerCount('SIGTERM')).toBe(handlers);
  expect(existsSync(join(folder, 'results'))).toBe(false);
  expect(existsSync(join(folder, 'state')) ? readdirSync(join(folder, 'state')) : []).toEqual([]);
}

/** An invalid command line; `says` are the key words of a message that is not in the golden file. */
interface Refusal {
  what: string;
  script?: keyof typeof COMMANDS;
  args: string[];
  says?: RegExp[];
}

/** One of each origin. `fixtures/golden/errors.txt` contains the words of all others. */
const REFUSALS: Refusal[] = [
  { what: 'an unknown option', args: ['vanilla', '--conections', '10'] },
  {
    what: 'a status to expect',
    args: ['--expect-status', '201'],
    says: [/a file of requests has it: .*requests\.md/],
  },
  { what: 'an unknown target', args: ['fastfy'] },
  {
    what: 'threads that a server does not support',
    args: ['fastapi/def', 'vanilla', '--workers', '1', '--threads', '2'],
    says: [/vanilla does not support --threads/, /of devices that do: .*fastapi\/def, fastapi\/granian/],
  },
  {
    what: 'more connections than the machine allows',
    args: ['vanilla', '--connections', '1000000'],
    says: [
      /^error: (open files|ephemeral ports): [\d,]+ .*1,000,000 connections$/m,
      /prlimit --nofile=1000200|sysctl|launchctl/,
    ],
  },
  {
    what: 'an unknown run',
    args: ['--resume', '20200101-000000-devices'],
    says: [/unknown run "20200101-000000-devices"/],
  },
  {
    what: 'an address without a server',
    args: ['http://127.0.0.1:9/orders'],
    says: [/nothing listens on 127\.0\.0\.1:9/],
  },
  {
    what: 'a body from a file that does not exist',
    args: ['http://127.0.0.1:9/orders', '--body', '@nowhere.json'],
    says: [/@nowhere\.json: the file cannot be read/],
  },
  {
    what: 'a version in another notation',
    args: ['fastify', '--with', 'fastify==5.1.0'],
    says: [/--with fastify==5\.1\.0 is for Python/, /fastify@5\.1\.0, or name /],
  },
  {
    what: 'a manifest that does not exist',
    args: ['--stack', 'nowhere/stack.json'],
    says: [/nowhere\/stack\.json: cannot be read/],
  },
  { what: 'nothing to serve', script: 'serve', args: [] },
  { what: 'nothing to report', script: 'report', args: [] },
  {
    what: 'an unknown kind for prune',
    script: 'prune',
    args: ['everything'],
    says: [/unknown kind "everything"/, /pnpm bench:prune environments/],
  },
];

describe('invalid input ends with exit code 2 and leaves nothing', () => {
  it.each(REFUSALS)('$what', async ({ script = 'bench', args, says = [] }) => {
    const { status, stdout, stderr } = await runHere(COMMANDS[script], args);
    expect(stderr).toMatch(/^error: \S/m);
    for (const words of says) expect(stderr).toMatch(words);
    expect(stderr).not.toMatch(/\n\s+at |defect/);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expectNothingLeft();
  });

  it('in a separate process', async () => {
    await using place = new Place();
    const { status, stdout, stderr } = await place.run('bench', ['http://127.0.0.1:9/orders']);
    expect(stderr).toMatch(/^error: \S/m);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(existsSync(place.results)).toBe(false);
    expect(existsSync(place.lock)).toBe(false);
    expect(place.pids()).toEqual([]);
  });
});

const MANIFEST = {
  name: 'mine',
  language: 'typescript',
  framework: 'none',
  class: 'raw',
  runtime: 'node',
  default: 'node',
  variants: {
    node: { command: ['{runtime}', 'server.ts', '--port', '{port}'], workloads: ['devices'] },
    other: { command: ['{runtime}', 'server.ts', '--port', '{port}'], workloads: ['gather'] },
  },
};

/** `at` is on the line that the error names. */
const MANIFESTS: { what: string; text: string; at: string; says: RegExp }[] = [
  { what: 'text that is not JSON', text: '{\n  "name": "mine",\n  oops\n}', at: 'oops', says: /not JSON/ },
  {
    what: 'an unknown class',
    text: JSON.stringify({ ...MANIFEST, class: 'fast' }, null, 2),
    at: '"class"',
    says: /"class"/,
  },
  {
    what: 'an unknown field',
    text: JSON.stringify({ ...MANIFEST, sped: 1 }, null, 2),
    at: '"sped"',
    says: /"sped"/,
  },
  {
    what: 'a default that is not a variant',
    text: JSON.stringify({ ...MANIFEST, default: 'nod' }, null, 2),
    at: '"default"',
    says: /"nod"/,
  },
  {
    what: 'an unknown placeholder',
    text: JSON.stringify(MANIFEST, null, 2).replace('"{port}"', '"{prot}"'),
    at: '{prot}',
    says: /\{prot\}/,
  },
];

describe('an invalid stack.json is refused by file and line', () => {
  const file = join(folder, 'stack.json');

  it.each(MANIFESTS)('$what', async ({ text, at, says }) => {
    writeFileSync(file, text);
    const { status, stderr } = await runHere(bench, ['--stack', file]);
    expect(stderr).toMatch(says);
    const line = text.split('\n').findIndex((one) => one.includes(at)) + 1;
    expect(stderr).toContain(`error: ${file}:${line}: `);
    expect(status).toBe(2);
  });

  it('a name that is taken', async () => {
    writeFileSync(file, JSON.stringify({ ...MANIFEST, name: 'vanilla' }));
    const { status, stderr } = await runHere(bench, ['--stack', file]);
    expect(stderr).toContain(`${file}: the name "vanilla" is taken by packages/vanilla/stack.json`);
    expect(status).toBe(2);
  });

  it('a workload that a target does not offer', async () => {
    writeFileSync(file, JSON.stringify(MANIFEST));
    const { status, stderr } = await runHere(bench, ['--stack', file, 'mine/other']);
    expect(stderr).toMatch(/mine\/other .* "devices"/);
    expect(status).toBe(2);
  });
});

describe('a missing toolchain that the user named', () => {
  it.each([
    ['vanilla@18', /^error: vanilla@18: node 18 cannot run these servers$/m, /name 22\.18 or newer/],
    [
      'vanilla@/nowhere/bin/node',
      /^error: vanilla@\/nowhere\/bin\/node: \/nowhere\/bin\/node /m,
      /check the path/,
    ],
  ])('%s: exit code 3, with advice', async (target, says, advises) => {
    // In a separate process: it is pinned to cores before the toolchain is missed.
    await using place = new Place();
    const { status, stderr } = await place.run('bench', [target, '--connections', '1']);
    expect(stderr).toMatch(says);
    expect(stderr).toMatch(advises);
    expect(status).toBe(3);
    expect(existsSync(place.results)).toBe(false);
    expect(existsSync(place.lock)).toBe(false);
  });
});

describe('an obstacle', () => {
  it.skipIf(!hasProc)('a taken port: the error names the process', async () => {
    await using server = createServer();
    await new Promise((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve(undefined));
    });
    const { port } = server.address() as AddressInfo;
    const { status, stderr } = await runHere(serve, ['vanilla', '--port', String(port)]);
    expect(stderr).toContain(`port ${port} is taken by process ${process.pid} (`);
    expect(stderr).toContain(`pnpm serve vanilla --port ${port + 1}`);
    expect(status).toBe(2);
  });

  it('a false attestation: the trial fails with the reason', async () => {
    await using place = new Place();
    const args = ['--stack', PLANTED, 'planted/false-attestation', '--connections', '1', '--rounds', '1'];
    const { status, stdout, stderr } = await place.run('bench', args);
    expect(stderr).toMatch(/\[1\/1\] .*: failed — .*mypyc is false/);
    expect(stdout).toMatch(/│ planted\/false-attestation +│ failed +│\n/);
    expect(stdout).not.toMatch(/│\s+0\s+│/);
    expect(status).toBe(1);
  });
});
