import cluster from 'node:cluster';
import { existsSync, readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loaded } from './clients.ts';

/** One row of the golden list. */
export interface Device {
  id: number;
  uuid: string;
  mac: string;
  firmware: string;
  created_at: string;
  updated_at: string;
}

/** The address to listen on, and the number of processes. */
export interface Settings {
  host: string;
  port: number;
  workers: number;
  /** The variant to serve, of a program that has several. */
  variant?: string;
}

/** Longer than any connection ladder, so that the accept queue never limits a measurement. */
export const BACKLOG = 16_384;

/** The server may close a connection that is idle for this long. No load pauses longer. */
export const KEEP_ALIVE_MS = 75_000;

const BY_HAND: Device[] = [1, 2, 3].map((id) => ({
  id,
  uuid: `00000000-0000-4000-8000-00000000000${id}`,
  mac: `5E:00:00:00:00:0${id}`,
  firmware: `1.0.${id}`,
  created_at: '2025-01-01T00:00:00.000Z',
  updated_at: '2025-01-01T00:00:00.000Z',
}));

/**
 * Returns the golden devices of the file that `BENCH_DEVICES` names, or a short list if a server is started by
 * hand.
 */
export function loadDevices(): Device[] {
  const file = process.env['BENCH_DEVICES'];
  return file === undefined ? BY_HAND : (JSON.parse(readFileSync(file, 'utf8')) as Device[]);
}

/** Parses `--host`, `--port`, `--workers` and `--variant`. Throws for anything else. */
export function readSettings(args: string[] = process.argv.slice(2)): Settings {
  const { values } = parseArgs({
    args,
    options: {
      host: { type: 'string', default: '127.0.0.1' },
      port: { type: 'string', default: '8080' },
      workers: { type: 'string', default: '1' },
      variant: { type: 'string' },
    },
  });
  return { ...values, port: Number(values.port), workers: Number(values.workers) };
}

/**
 * Calls `start` in the requested number of processes, prints the attestation of each once it listens, and stops on
 * SIGTERM. The attestation contains the version of the npm package `framework`, and names the `server` that answers.
 */
export async function serve(
  framework: string | undefined,
  start: (settings: Settings) => Promise<() => Promise<unknown>>,
  server = 'node:http',
): Promise<void> {
  const settings = readSettings();
  if (settings.workers > 1 && cluster.isPrimary) {
    for (let worker = 0; worker < settings.workers; worker++) cluster.fork();
    stopOn('SIGTERM', async () => {
      for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGTERM');
    });
    return;
  }
  const close = await start(settings);
  stopOn('SIGTERM', close);
  stopOn('SIGINT', close);
  attest(framework, server);
}

/**
 * Makes a server of node:http listen with the defaults that every stack shares: a long accept queue, idle
 * connections that stay open, and answers without Nagle's delay. Returns a function that closes it. Throws if it
 * cannot listen.
 */
export async function listen(
  server: Server,
  { host, port }: Pick<Settings, 'host' | 'port'>,
): Promise<() => Promise<void>> {
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.on('connection', (socket) => socket.setNoDelay(true));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen({ host, port, backlog: BACKLOG }, resolve);
  await promise;
  return async () => {
    server.close();
    server.closeAllConnections();
  };
}

function stopOn(signal: 'SIGTERM' | 'SIGINT', close: () => Promise<unknown>): void {
  process.once(signal, () => {
    void close().finally(() => process.exit(0));
  });
}

function attest(framework: string | undefined, server: string): void {
  const { versions } = process as { versions: Record<string, string | undefined> };
  const clients = [...loaded].map(nameVersion);
  const name = versions['bun'] ? 'bun' : versions['deno'] ? 'deno' : 'node';
  const line = {
    pid: process.pid,
    implementation: name,
    version: versions[name],
    v8: versions['v8'],
    server,
    ...(clients.length === 0 ? {} : { client: clients.join(' + ') }),
    ...(framework === undefined ? {} : { framework: nameVersion(framework) }),
  };
  process.stdout.write(`bench-attest ${JSON.stringify(line)}\n`);
}

/**
 * Returns a package with its version, read from its folder: many packages do not export their package.json. It is a
 * dependency of the server or of this package, maybe under another name.
 */
function nameVersion(wanted: string): string {
  const folders = [`${process.argv[1]}`, import.meta.url].flatMap(
    (from) => createRequire(from).resolve.paths(wanted) ?? [],
  );
  const file = folders.map((folder) => join(folder, wanted, 'package.json')).find((one) => existsSync(one));
  if (file === undefined) throw new Error(`${wanted} is not among the packages of ${process.argv[1]}`);
  const { name, version } = JSON.parse(readFileSync(file, 'utf8')) as { name: string; version: string };
  return `${name} ${version}`;
}
