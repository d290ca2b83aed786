import { existsSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'vitest';
import { Place, PLANTED, hasProc } from './cli.ts';

/** A command that cannot be meant, and what its message must say: what was wrong, and what to type instead. */
interface Refusal {
  what: string;
  script?: string;
  args: string[];
  says: RegExp[];
}

const REFUSALS: Refusal[] = [
  {
    what: 'an unknown target',
    args: ['fastfy'],
    says: [/^error: there is no stack "fastfy"$/m, /did you mean fastify, .*pnpm stacks/],
  },
  {
    what: 'an unknown variant',
    args: ['vanilla/noed'],
    says: [/vanilla has no variant "noed"/, /did you mean vanilla\/node,/],
  },
  {
    what: 'a workload that is not there',
    args: ['vanilla', '--workload', 'devises'],
    says: [/there is no workload "devises"/, /devices/],
  },
  {
    what: 'threads of a server that has none to choose',
    args: ['fastapi/def', 'vanilla', '--workers', '1', '--threads', '2'],
    says: [/vanilla takes no --threads/, /those that do, on devices: .*fastapi\/def, fastapi\/granian/],
  },
  {
    what: 'a parameter that the workload has not',
    args: ['fastapi/def', '--workload', 'fib', '--param', 'm=1'],
    says: [/fib has no parameter "m"/, /it has: n/],
  },
  {
    what: 'an unknown option',
    args: ['vanilla', '--conections', '10'],
    says: [/there is no option --conections/, /did you mean --connections[,?]/],
  },
  { what: 'no connections', args: ['vanilla', '--connections', '0'], says: [/--connections 0: /, /e\.g\./] },
  {
    what: 'fewer than no connections',
    args: ['vanilla', '--connections=-1'],
    says: [/--connections -1: not a whole number from 1 on/],
  },
  {
    what: 'fewer than no connections, in two words',
    args: ['vanilla', '--connections', '-1'],
    says: [/--connections/, /--connections=-1/],
  },
  {
    what: 'connections in letters',
    args: ['vanilla', '--connections', '10,abc'],
    says: [/--connections abc: not a whole number/],
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
    what: 'a window of no time',
    args: ['vanilla', '--duration', '0'],
    says: [/--duration 0: not a number of seconds/],
  },
  {
    what: 'a run that is not there',
    args: ['--resume', '20200101-000000-devices'],
    says: [/there is no run "20200101-000000-devices"/],
  },
  {
    what: 'targets beside --resume',
    args: ['vanilla', '--resume', '20200101-000000-devices'],
    says: [/it takes no /],
  },
  {
    what: 'an address without a server',
    args: ['--url', 'http://127.0.0.1:9/orders'],
    says: [/nothing listens on 127\.0\.0\.1:9/, /start your server/],
  },
  {
    what: 'an address that is none',
    args: ['--url', '127.0.0.1:3000'],
    says: [/--url 127\.0\.0\.1:3000: not an http:\/\/ address/, /e\.g\. --url/],
  },
  {
    what: 'a body from a file that is not there',
    args: ['--url', 'http://127.0.0.1:9/orders', '--body', '@nowhere.json'],
    says: [/--body @nowhere\.json: the file cannot be read/],
  },
  {
    what: 'an option of --url without it',
    args: ['vanilla', '--pid', '1'],
    says: [/--pid belongs to --url/],
  },
  {
    what: 'a version in the spelling of the other language',
    args: ['fastify', '--with', 'fastify==5.1.0'],
    says: [
      /^error: --with fastify==5\.1\.0 is for Python, and no target runs on it$/m,
      /npm is written fastify@5\.1\.0$/m,
    ],
  },
  {
    what: 'a manifest that is not there',
    args: ['--stack', 'nowhere/stack.json'],
    says: [/nowhere\/stack\.json: cannot be read/],
  },
  {
    what: 'nothing to serve',
    script: 'serve',
    args: [],
    says: [/name the one target to serve/, /pnpm serve fastify/],
  },
  {
    what: 'an unknown target to serve',
    script: 'serve',
    args: ['vanila'],
    says: [/there is no stack "vanila"/, /vanilla/],
  },
  { what: 'nothing to report', script: 'report', args: [], says: [/name the one run to report/] },
  {
    what: 'something unknown to clean',
    script: 'clean',
    args: ['everything'],
    says: [/nothing called "everything"/, /pnpm clean environments/],
  },
];

describe('bad input ends with exit code 2, says what to type, and leaves nothing behind', () => {
  it.concurrent.for(REFUSALS)('$what', async ({ script = 'bench', args, says }, { expect }) => {
    await using place = new Place();
    const { status, stdout, stderr } = await place.run(script, args);
    for (const words of says) expect(stderr).toMatch(words);
    expect(stderr).not.toMatch(/\n\s+at |defect/);
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

/** `at` stands on the line that has to be named. */
const MANIFESTS: { what: string; text: string; at: string; says: RegExp }[] = [
  { what: 'no JSON', text: '{\n  "name": "mine",\n  oops\n}', at: 'oops', says: /no JSON/ },
  {
    what: 'an unknown class',
    text: JSON.stringify({ ...MANIFEST, class: 'fast' }, null, 2),
    at: '"class"',
    says: /"class" must be .*raw, framework, tuned/,
  },
  {
    what: 'a field too many',
    text: JSON.stringify({ ...MANIFEST, sped: 1 }, null, 2),
    at: '"sped"',
    says: /"sped"/,
  },
  {
    what: 'a default that is no variant',
    text: JSON.stringify({ ...MANIFEST, default: 'nod' }, null, 2),
    at: '"default"',
    says: /"nod" is not among the variants \(node, other\)/,
  },
  {
    what: 'an unknown placeholder',
    text: JSON.stringify(MANIFEST, null, 2).replace('"{port}"', '"{prot}"'),
    at: '{prot}',
    says: /unknown placeholder \{prot\}: there are .*\{port\}/,
  },
];

describe('a stack.json that does not keep the contract is refused by file and line', () => {
  it.concurrent.for(MANIFESTS)('$what', async ({ text, at, says }, { expect }) => {
    await using place = new Place();
    const file = join(place.folder, 'stack.json');
    writeFileSync(file, text);
    const { status, stderr } = await place.run('bench', ['--stack', file]);
    expect(stderr).toMatch(says);
    const line = text.split('\n').findIndex((one) => one.includes(at)) + 1;
    expect(stderr).toContain(`error: ${file}:${line}: `);
    expect(status).toBe(2);
  });

  it.concurrent('and so is a name that is taken', async ({ expect }) => {
    await using place = new Place();
    const file = join(place.folder, 'stack.json');
    writeFileSync(file, JSON.stringify({ ...MANIFEST, name: 'vanilla' }));
    const { status, stderr } = await place.run('bench', ['--stack', file]);
    expect(stderr).toContain(`${file}: there is a stack "vanilla" already (packages/vanilla/stack.json)`);
    expect(status).toBe(2);
  });

  it.concurrent('and so is a workload that a target does not offer', async ({ expect }) => {
    await using place = new Place();
    const file = join(place.folder, 'stack.json');
    writeFileSync(file, JSON.stringify(MANIFEST));
    const { status, stderr } = await place.run('bench', ['--stack', file, 'mine/other']);
    expect(stderr).toMatch(/mine\/other does not offer the workload "devices"/);
    expect(stderr).toMatch(/mine\/other offers gather/);
    expect(status).toBe(2);
  });
});

describe('a toolchain asked for by name that is missing', () => {
  it.concurrent.for([
    ['vanilla@18', /^error: vanilla@18: node 18 cannot run these servers$/m, /name 22\.18 or newer/],
    [
      'vanilla@/nowhere/bin/node',
      /^error: vanilla@\/nowhere\/bin\/node: \/nowhere\/bin\/node does not run/m,
      /check the path/,
    ],
  ] as const)('%s: exit code 3, its name and how to get it', async ([target, says, advises], { expect }) => {
    await using place = new Place();
    const { status, stderr } = await place.run('bench', [target, '--connections', '1']);
    expect(stderr).toMatch(says);
    expect(stderr).toMatch(advises);
    expect(status).toBe(3);
    expect(existsSync(place.results)).toBe(false);
    expect(existsSync(place.lock)).toBe(false);
  });
});

describe('what is in the way', () => {
  it.concurrent('a results folder that cannot be made', async ({ expect }) => {
    await using place = new Place();
    const file = join(place.folder, 'file');
    writeFileSync(file, '');
    const { status, stderr } = await place.run('bench', ['vanilla', '--connections', '1'], {
      BENCH_RESULTS: join(file, 'results'),
    });
    expect(stderr).toMatch(/^error: .*file\/results\/\S+-devices cannot be written: ENOTDIR/m);
    expect(stderr).toMatch(/make .*file\/results a folder that you may write to/);
    expect(status).toBe(2);
    expect(existsSync(place.lock)).toBe(false);
  });

  it.concurrent('a lock that cannot be made', async ({ expect }) => {
    await using place = new Place();
    const { status, stderr } = await place.run('bench', ['vanilla'], { BENCH_LOCK: '/dev/null/lock' });
    expect(stderr).toMatch(/\/dev\/null\/lock cannot be written/);
    expect(status).toBe(2);
  });

  it.skipIf(!hasProc).concurrent('a taken port, and who has it', async ({ expect }) => {
    await using place = new Place();
    await using server = createServer();
    await new Promise((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve(undefined));
    });
    const { port } = server.address() as AddressInfo;
    const { status, stderr } = await place.run('serve', ['vanilla', '--port', String(port)]);
    expect(stderr).toContain(`port ${port} is taken by process ${process.pid} (`);
    expect(stderr).toContain(`pnpm serve vanilla --port ${port + 1}`);
    expect(status).toBe(2);
  });

  it.concurrent('a false attestation: the trial fails, and says why', async ({ expect }) => {
    await using place = new Place();
    const args = ['--stack', PLANTED, 'planted/false-attestation', '--connections', '1', '--rounds', '1'];
    const { status, stdout, stderr } = await place.run('bench', args);
    expect(stderr).toMatch(
      /\[1\/1\] .*: failed — false attestation: mypyc is false, the manifest states true/,
    );
    expect(stdout).toMatch(/planted\/false-attestation .*— .* failed/);
    expect(stdout).not.toMatch(/│\s+0\s+│/);
    expect(status).toBe(1);
  });
});
