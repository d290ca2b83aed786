import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { describe, it } from 'vitest';
import BENCH from '../../src/commands/bench.ts';
import { inheritedByUser, runToEnd } from '../../../bench-lab/testing/user.ts';
import { Place, PLANTED, ROOT } from './cli.ts';

describe('--help', () => {
  it.concurrent('is printed even with an invalid option, and starts nothing', async ({ expect }) => {
    await using place = new Place();
    const { status, stdout, stderr } = await place.run('bench', ['--rounds', '0', '--help']);
    expect(stdout).toBe(BENCH.help());
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});

describe('pnpm bench:list', () => {
  it.concurrent('lists each target and each runtime with its state, and the day of the releases that it knows', async ({
    expect,
  }) => {
    await using place = new Place();
    const { status, stdout } = await place.run('list');
    expect(stdout).toMatch(/^target .*state/m);
    expect(stdout).toMatch(/^vanilla +raw +typescript +devices, gather, .* ready +node \d/m);
    expect(stdout).toMatch(/^uvicorn\/interpreted +raw +python +devices +(ready|on first use|missing) /m);
    expect(stdout).toMatch(/^runtime +kind +state/m);
    expect(stdout).toMatch(/^@bun +node +(ready +node \d|missing +bun is not installed)/m);
    expect(stdout).toMatch(
      /^@3\.14 +python +(ready +python 3\.14\.|missing +CPython 3\.14 is not installed)/m,
    );
    expect(stdout).toMatch(/^@3\.14t +python +(ready|missing) +\S/m);
    expect(stdout).toMatch(/^Releases as of \d{4}-\d{2}-\d{2}\.$/m);
    expect(status).toBe(0);
  });
});

describe('pnpm compare', () => {
  it.concurrent('refuses a run with nothing to compare', async ({ expect }) => {
    await using place = new Place();
    const run = join(ROOT, 'results/published/20261123-200528-users');
    const { status, stdout, stderr } = await place.run('compare', [run]);
    expect(stderr).toContain('has nothing to compare: it needs two targets with figures');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  });
});

describe('--cores', () => {
  it.concurrent.for<[string, ...string[]]>([
    ['bench', 'vanilla'],
    ['bench', 'vanilla', '--dry-run'],
    ['doctor'],
  ])(
    'that this machine does not have are refused at once: %s %s %s',
    async ([command, ...words], { expect }) => {
      await using place = new Place();
      const { status, stdout, stderr } = await place.run(command, [...words, '--cores', '9999']);
      expect(stderr).toMatch(/^error: this machine has \d+ cores?; --cores 9999 is not possible\n {7}\S/);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(existsSync(place.results)).toBe(false);
    },
  );
});

describe('pnpm bench:doctor', () => {
  it.concurrent('lists findings and advice', async ({ expect }) => {
    await using place = new Place();
    const env = { BENCH_TIME: join(place.folder, 'time') };
    const { status, stdout } = await place.start('doctor', ['--connections', '10'], env).ended;
    expect(stdout).toMatch(/^ok +(open files|ephemeral ports): /m);
    expect(stdout).toMatch(/^warn +\S+time is missing/m);
    expect(status).toBe(0);
  });

  it.concurrent('exits with 1 if the plan cannot be measured', async ({ expect }) => {
    await using place = new Place();
    const { status, stdout } = await place.run('doctor', ['--connections', '1000000']);
    expect(stdout).toMatch(/^stop +(open files|ephemeral ports): .*\n +\S/m);
    expect(status).toBe(1);
  });
});

describe('pnpm serve', () => {
  it.concurrent('starts a server, and stops it on Ctrl-C', async ({ expect }) => {
    await using place = new Place();
    const port = await freePort();
    const serving = place.startInTerminal(`node packages/bench/bench-http.mjs serve vanilla --port ${port}`);
    const url = `http://127.0.0.1:${port}/api/devices`;
    await serving.until(
      () => serving.output.includes(`GET ${url} — Ctrl-C stops it`),
      'the URL of the server',
    );
    expect(await (await fetch(url)).json()).toHaveLength(3);
    const tokens = globSync('*.json', { cwd: place.state }).map((name) => basename(name, '.json'));
    const data = tokens.map((token) => join(place.temporary, `bench-serve-${token}`));
    expect(data.map((folder) => existsSync(folder))).toEqual([true]);
    serving.type('\u0003');
    const { status, stdout } = await serving.ended;
    expect(stdout).toContain('stopping vanilla');
    expect(status).toBe(130);
    for (const file of data) expect(existsSync(file)).toBe(false);
    await place.untilGone();
  });

  it.concurrent('starts the server of the folder by its stack.json', async ({ expect }) => {
    await using place = new Place();
    const port = await freePort();
    const stack = {
      name: 'shop',
      language: 'javascript',
      framework: 'none',
      class: 'raw',
      runtime: 'node',
      default: 'app',
      requests: ['GET /orders'],
      variants: { app: { command: ['{runtime}', 'server.js'], env: { PORT: '{port}' } } },
    };
    const server = `require('node:http').createServer((_, to) => to.end('[]')).listen(process.env.PORT, '127.0.0.1');`;
    const shop = join(place.folder, 'shop');
    mkdirSync(shop);
    writeFileSync(join(shop, 'stack.json'), JSON.stringify(stack));
    writeFileSync(join(shop, 'server.js'), server);
    const program = join(ROOT, 'packages/bench/bench-http.mjs');
    const serving = place.startInTerminal(`cd ${shop} && node ${program} serve --port ${port}`);
    const url = `http://127.0.0.1:${port}`;
    await serving.until(() => serving.output.includes(`shop: ${url} — Ctrl-C stops it`), 'its address');
    expect(await (await fetch(url)).json()).toEqual([]);
    serving.type('\u0003');
    expect((await serving.ended).status).toBe(130);
    await place.untilGone();
  });

  it.concurrent('starts the upstream of the server, and leaves neither running', async ({ expect }) => {
    await using place = new Place();
    const port = await freePort();
    const args = ['vanilla', '--workload', 'gather', '--param', 'fixtures=3', '--port', String(port)];
    const serving = place.start('serve', args);
    const url = `http://127.0.0.1:${port}/data`;
    const answer = await serving.until(() => fetch(url).catch(() => undefined), 'its first response');
    expect(await answer.json()).toHaveLength(60);
    expect(serving.output).toMatch(/^upstream: (nginx|embedded) [\d.]+ on http:\/\/127\.0\.0\.1:\d+$/m);
    serving.signal('SIGTERM');
    expect((await serving.ended).status).toBe(130);
    await place.untilGone();
  });
});

describe('pnpm bench:install', () => {
  it.concurrent('links the program of this clone, and replaces nothing else', async ({ expect }) => {
    await using place = new Place();
    const folder = join(place.folder, 'bin');
    const link = join(folder, 'bench-http');
    for (const _ of ['new', 'again']) {
      const { status, stdout } = await place.run('install', ['--folder', folder]);
      expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^linked .*\n.*PATH=/) });
    }
    expect(runToEnd([link, '--version'], place.folder, inheritedByUser())).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string,
    });
    // Beside Python and Git, a container has a Node that is too old: this one does not even start.
    const path = join(place.folder, 'few');
    mkdirSync(path);
    writeFileSync(join(path, 'node'), '#!/bin/sh\nexit 9\n', { mode: 0o755 });
    const help = runToEnd([link, 'compare', '--help'], place.folder, { ...inheritedByUser(), PATH: path });
    expect(help).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^Usage: bench-http compare \[options\] \[thing/) as string,
    });
    rmSync(link);
    writeFileSync(link, 'mine');
    const { status, stderr } = await place.run('install', ['--folder', folder]);
    expect(stderr).toContain('is not a link to a clone of Bench');
    expect(status).toBe(2);
    expect(readFileSync(link, 'utf8')).toBe('mine');
  });

  it.concurrent('makes the folder of the user if PATH names it', async ({ expect }) => {
    await using place = new Place();
    const own = join(place.folder, '.local', 'bin');
    const env = { HOME: place.folder, PATH: `${own}:${process.env['PATH'] ?? ''}` };
    const { status, stdout } = await place.start('install', [], env).ended;
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining(`linked  ${own}/`) });
  });
});

describe('pnpm bench:prune', () => {
  it.concurrent('without names only lists', async ({ expect }) => {
    await using place = new Place();
    const run = keepRun(place, 'one');
    const { status, stdout } = await place.run('prune', [], place.ownCache);
    expect(stdout).toMatch(/^environments: /m);
    expect(stdout).toMatch(/^runs: [\d.]+ [KM]iB$/m);
    expect(stdout).toMatch(/^ +[\d.]+ KiB {2}\S+one$/m);
    expect(status).toBe(0);
    expect(existsSync(run)).toBe(true);
  });

  it.concurrent('lists while an environment is being installed', async ({ expect }) => {
    await using place = new Place();
    writeFileSync(`${keepEnvironment(place)}.lock`, '');
    const { status, stdout, stderr } = await place.run('prune', [], place.ownCache);
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^environments: .*\n.* \S+vanilla-1$/m);
    expect(stdout).not.toContain('.lock');
    expect(status).toBe(0);
  });

  it.concurrent('refuses to remove anything without --yes and without a terminal', async ({ expect }) => {
    await using place = new Place();
    const run = keepRun(place, 'one');
    const { status, stderr } = await place.run('prune', ['runs'], place.ownCache);
    expect(stderr).toMatch(
      /cannot ask whether to remove runs: there is no terminal\n +pnpm bench:prune runs --yes/,
    );
    expect(status).toBe(2);
    expect(existsSync(run)).toBe(true);
  });

  it.concurrent('removes what --yes names, and keeps published runs', async ({ expect }) => {
    await using place = new Place();
    const run = keepRun(place, 'one');
    const published = keepRun(place, 'published/two');
    const environment = keepEnvironment(place);
    const { status, stdout } = await place.run('prune', ['runs', '--yes'], place.ownCache);
    expect(stdout).toMatch(/^runs: removed$/m);
    expect(status).toBe(0);
    expect(existsSync(run)).toBe(false);
    expect(existsSync(published)).toBe(true);
    expect(existsSync(environment)).toBe(true);
  });

  it.concurrent('removes the files of revisions that a killed run has left', async ({ expect }) => {
    await using place = new Place();
    const left = join(place.ownCache.BENCH_CACHE, 'revisions', 'shop-1a2b');
    mkdirSync(left, { recursive: true });
    writeFileSync(join(left, 'server.js'), 'listen()');
    const { status, stdout } = await place.run('prune', ['revisions', '--yes'], place.ownCache);
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(/^revisions: .*\n +\d.*shop-1a2b\nrevisions: removed$/m),
    ]);
    expect(existsSync(left)).toBe(false);
  });

  it.concurrent('asks in a terminal, and removes nothing without a yes', async ({ expect }) => {
    await using place = new Place();
    const run = keepRun(place, 'one');
    for (const [answer, stays] of [
      ['n', true],
      ['', true],
      ['y', false],
    ] as const) {
      const cleaning = place.startInTerminal(
        `BENCH_CACHE='${place.ownCache.BENCH_CACHE}' node packages/bench/bench-http.mjs prune runs`,
      );
      await cleaning.until(() => cleaning.output.includes('[y/N]'), 'its question');
      cleaning.type(`${answer}\r`);
      expect((await cleaning.ended).status).toBe(0);
      expect(existsSync(run)).toBe(stays);
    }
  });
});

function keepRun(place: Place, name: string): string {
  const folder = join(place.results, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'run.json'), '{}');
  writeFileSync(join(folder, 'trials.jsonl'), 'x'.repeat(5000));
  return folder;
}

/** Makes an environment in the cache of a place. Returns its folder. */
function keepEnvironment(place: Place): string {
  const folder = join(place.ownCache.BENCH_CACHE, 'environments', 'vanilla-1');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'python'), 'x'.repeat(5000));
  return folder;
}

async function freePort(): Promise<number> {
  await using server = createServer();
  await new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(undefined));
  });
  return (server.address() as AddressInfo).port;
}

describe('pnpm bench-http ci', () => {
  it.concurrent('judges on Ctrl-C what it has measured, and keeps the summary', async ({ expect }) => {
    await using place = new Place();
    const config = join(place.folder, 'bench.config.json');
    const bench = { targets: ['planted/delays-5-ms'], stack: [join(ROOT, PLANTED)], connections: [2] };
    const short = { rounds: 50, duration: 0.3, warmup: 0 };
    const budgets = [{ metric: 'startup', atMost: '600s' }];
    writeFileSync(config, JSON.stringify({ bench: { ...bench, ...short }, budgets }));
    const job = place.startInTerminal(`node packages/bench/bench-http.mjs ci --config ${config}`);
    await job.until(() => place.trials().length >= 3, 'three rounds');
    job.type('\u0003');
    const { status, stdout } = await job.ended;
    expect(stdout).toMatch(/start-up at most 600 s .* kept/);
    expect(stdout).toContain('Bench, interrupted: so far all 1 budget checks kept');
    expect(status).toBe(130);
    expect(readFileSync(join(place.results, 'summary.md'), 'utf8')).toMatch(/^## Bench, interrupted: /);
    await place.untilGone();
  });
});
