import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { samplePlan } from '../../../bench-lab/testing/samples.ts';
import { attachLauncher, describeProcess } from '../../src/measure/attach.ts';
import type { Launcher } from '../../src/measure/launcher.ts';
import { findListener, parseLsof, rootsOf } from 'bench-machine/listener';
import { start, type Child } from 'bench-machine/subprocess';

const isLinux = process.platform === 'linux';

/** Starts a server in this many processes. */
async function startServer(script: string): Promise<{ child: Child; port: number } & AsyncDisposable> {
  const argv = [process.execPath, '-e', script, '--', '--api-key', 'hunter2hunter2'];
  const child = start({ stdio: ['ignore', 'pipe', 'inherit'] })`exec ${argv}`;
  const [line] = (await once(child.stdout!, 'data')) as [Buffer];
  return {
    child,
    port: Number(String(line)),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

const SERVE = (host: string) =>
  `const s = require('node:http').createServer((q, r) => r.end('ok'));
   s.listen(0, '${host}', () => console.log(s.address().port));`;

/** One server as a plan keeps it. */
const serversAt = (url: string, pid?: number) => [
  { target: `GET ${url}`, url: new URL(url).origin, ...(pid === undefined ? {} : { pid }) },
];

async function serverOf(launcher: Launcher, url: string, { signal } = new AbortController()) {
  const plan = samplePlan(`${url} --rounds 1`, []);
  const { ready } = await launcher.prepare(plan, () => {}, []);
  const placed = await launcher.place({ serverCores: 1, generators: 1 });
  const give = launcher.open({ plan, placed, token: '', folder: '', time: undefined, stopped: signal });
  const server = await give(undefined as never, plan.trials[0]!, undefined as never);
  return { server, placed, ready };
}

describe.runIf(isLinux)('the attached launcher', () => {
  it.each(['127.0.0.1', '::1', '0.0.0.0', '::'])('finds the process that listens on %s', async (address) => {
    await using other = await startServer(SERVE(address));
    const host = address.includes('1') ? address : '127.0.0.1';
    const url = `http://${host.includes(':') ? `[${host}]` : host}:${other.port}/`;
    const { server, ready } = await serverOf(await attachLauncher(serversAt(url)), url);
    expect([server.host, server.port, server.pid()]).toEqual([host, other.port, other.child.pid]);
    expect(server.process).toMatchObject({ version: `node ${process.version}` });
    expect(server.process?.command?.slice(-2)).toEqual(['--api-key', '(not kept)']);
    expect(ready).toMatchObject([
      { attached: true, version: expect.stringContaining(process.version) as string },
    ]);
  });

  it('neither changes nor stops the server', async () => {
    const listener = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const url = `http://localhost:${(listener.address() as AddressInfo).port}/`;
    const request = serversAt(url);
    const interruption = new AbortController();
    const { server } = await serverOf(await attachLauncher(request), url, interruption);
    expect([server.host, server.pid(), server.startedAtMs]).toEqual(['127.0.0.1', process.pid, undefined]);
    expect(await server.stop()).toEqual({ files: [], trouble: [] });
    expect(listener.listening).toBe(true);
    expect(server.ended()).toBeUndefined();
    interruption.abort();
    expect(server.ended()).toBe('interrupted');
    listener.close();
    await once(listener, 'close');
    await expect(attachLauncher(request)).rejects.toMatchObject({
      code: 'usage',
      message: `nothing listens on localhost:${new URL(url).port}`,
    });
    const message = 'nosuch.invalid has no address';
    await expect(attachLauncher(serversAt('http://nosuch.invalid/'))).rejects.toMatchObject({ message });
  });

  it('uses the process that started the others', async () => {
    await using cluster = await startServer(`${SERVE('127.0.0.1')}
      s.on('listening', () => require('node:child_process').spawn(
        process.execPath,
        ['-e', 'process.stdin.resume().on("end", () => process.exit())'],
        { stdio: ['pipe', 'ignore', 'ignore', s._handle.fd] },
      ));`);
    await expect(findListener('127.0.0.1', cluster.port)).resolves.toEqual({ pid: cluster.child.pid });
  });

  it('records the cores that the server may use', async () => {
    await using other = await startServer(SERVE('127.0.0.1'));
    const url = `http://127.0.0.1:${other.port}/`;
    const { placed, server } = await serverOf(await attachLauncher(serversAt(url)), url);
    expect(placed.placement.server).toEqual(server.process?.cores);
    expect(placed.server).toEqual([]);
  });
});

const holder = (pid: number, ppid: number, name = 'node') => ({ pid, ppid, name });

describe('rootsOf', () => {
  it('omits workers, and init if it only holds the socket', () => {
    expect(rootsOf([holder(10, 2), holder(11, 10), holder(12, 11)])).toEqual([holder(10, 2)]);
    expect(rootsOf([holder(1, 0, 'systemd'), holder(10, 1)])).toEqual([holder(10, 1)]);
    expect(rootsOf([holder(1, 0)])).toEqual([holder(1, 0)]);
    expect(rootsOf([holder(10, 2), holder(20, 3)])).toHaveLength(2);
  });
});

describe('parseLsof', () => {
  it('reads one process per block', () => {
    expect(parseLsof('p4711\nR1\ncnode\nf22\np4712\nR4711\ncPython\nf22\n')).toEqual([
      { pid: 4711, ppid: 1, name: 'node' },
      { pid: 4712, ppid: 4711, name: 'Python' },
    ]);
    expect(parseLsof('')).toEqual([]);
  });
});

describe('describeProcess', () => {
  it('says so if nothing is known', () => {
    expect(describeProcess(undefined)).toBe('unknown process');
    expect(describeProcess({ executable: '/usr/bin/x' })).toBe('/usr/bin/x');
  });
});
