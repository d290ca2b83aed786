/** The external service of a workload: nginx if it is on PATH, otherwise the embedded server. */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pathOf, writeFixtures } from '@bench/upstream/fixtures';
import type { Answer } from 'bench-targets/catalogue/workloads/workload';
import type { UpstreamUse } from 'bench-model/companions';
import { describeEnd, launch } from 'bench-machine/launch';
import { findFreePort, toAuthority } from 'bench-machine/ports';
import { run } from 'bench-machine/subprocess';
import {
  CompanionError,
  processOf,
  untilReady,
  type CompanionContext,
  type CompanionProcess,
} from '../companion.ts';
import { sendRequest } from 'bench-targets/catalogue/workloads/send';

const CONFIGURATION = fileURLToPath(import.meta.resolve('@bench/upstream/nginx.conf'));

const HOST = '127.0.0.1';
const START_SECONDS = 10;
/** The pause after a failure. Within it, a process that failed because it was ending has ended. */
const SETTLE_MS = 100;
/** The number of times that a fixture is fetched to time it; the fastest counts. */
const PROBES = 3;

/** A program that can serve the fixtures. It must count every request, including those for the count. */
export interface UpstreamProgram {
  kind: string;
  version: string;
  /** Placeholders: `{host}` and `{port}`. Runs in the folder that holds the fixtures. */
  command: string[];
  /** The text of `nginx.conf` there, with the placeholder `{address}`. */
  configuration?: string;
}

/** A failure of the upstream, which says nothing about the server. */
export class UpstreamError extends CompanionError {
  constructor({ kind, version }: Pick<UpstreamProgram, 'kind' | 'version'>, what: string) {
    super(`the upstream (${kind} ${version}) ${what}`);
  }
}

/** The state of an upstream at one moment. */
export interface UpstreamLook {
  /** The requests of others so far. */
  requests: number;
  /** The time to fetch one fixture. */
  fetchUs: number;
}

/** The changes between two looks. */
export function useBetween(before: UpstreamLook, after: UpstreamLook): UpstreamUse {
  return {
    requests: after.requests - before.requests,
    fetchUs: Math.max(before.fetchUs, after.fetchUs),
  };
}

/** A running upstream. Disposing stops it and removes its folder. */
export interface Upstream extends AsyncDisposable {
  url: string;
  /** The environment of its servers. */
  env: Record<string, string>;
  /** Returns the process to sample. Throws an upstream error if it has ended. */
  process(): CompanionProcess;
  /** Returns its state. Throws an upstream error if it does not report it, or answers wrongly. */
  look(): Promise<UpstreamLook>;
}

/** The server that Bench brings. */
export const EMBEDDED_UPSTREAM: UpstreamProgram = {
  kind: 'embedded',
  version: process.versions.node,
  command: [
    process.execPath,
    fileURLToPath(import.meta.resolve('@bench/upstream/server')),
    '--host',
    '{host}',
    '--port',
    '{port}',
  ],
};

/** Finds nginx, else returns the embedded server. */
export async function findUpstream(): Promise<UpstreamProgram> {
  return (await findNginx()) ?? EMBEDDED_UPSTREAM;
}

/** Finds nginx with a page that counts its requests; undefined if there is none. */
export async function findNginx(): Promise<UpstreamProgram | undefined> {
  const { stderr } = await run(['nginx', '-V']).catch(() => ({ stderr: '' }));
  const [, version] = /^nginx version: \S+\/([\d.]+)/m.exec(stderr) ?? [];
  if (version === undefined || !stderr.includes('http_stub_status_module')) return undefined;
  return {
    kind: 'nginx',
    version,
    command: ['nginx', '-p', '.', '-c', 'nginx.conf'],
    configuration: readFileSync(CONFIGURATION, 'utf8'),
  };
}

/** Parses the number of requests so far from the answer to `GET /count`: a number, or the page of stub_status. */
export function parseCount(text: string): number {
  return Number(/^ \d+ \d+ (\d+)/m.exec(text)?.[1] ?? text);
}

/**
 * Starts an upstream that serves these fixtures; `index` is its number in the run. Throws an upstream error if it does not
 * answer in time.
 */
export async function startUpstream(
  program: UpstreamProgram,
  fixtures: readonly string[],
  { token, folder, placed }: CompanionContext,
  index = 0,
): Promise<Upstream> {
  const id = index === 0 ? 'upstream' : `upstream${index + 1}`;
  const root = join(folder, id);
  mkdirSync(root, { recursive: true });
  writeFixtures(root, fixtures);
  const port = await findFreePort(HOST);
  const authority = toAuthority({ host: HOST, port });
  const { command, configuration } = program;
  if (configuration !== undefined)
    writeFileSync(join(root, 'nginx.conf'), configuration.replaceAll('{address}', authority));
  const server = await launch({
    id,
    token,
    command,
    cwd: root,
    env: {},
    host: HOST,
    port,
    prefix: placed.beside,
    folder,
  });
  const url = `http://${authority}`;
  const stop = async (): Promise<void> => {
    await server.stop();
    rmSync(root, { recursive: true, force: true });
  };
  const wrong = (what: string): UpstreamError => new UpstreamError(program, what);
  /** The number of answered requests of the harness so far. */
  let own = 0;
  const ask = async (path: string): Promise<Answer> => {
    const answer = await sendRequest(server, { method: 'GET', path, headers: {} });
    own++;
    return answer;
  };
  const get = (path: string): Promise<Answer> =>
    ask(path).catch(async (error: Error) => {
      await sleep(SETTLE_MS);
      const end = describeEnd(server);
      throw wrong(end === undefined ? `does not respond: ${error.message}` : `has ended (${end})`);
    });
  const look = (): Promise<string | undefined> =>
    ask('/count').then(
      () => undefined,
      ({ message }: Error) => message,
    );
  await untilReady(server, look, START_SECONDS, (why) => {
    rmSync(root, { recursive: true, force: true });
    return wrong(why);
  });
  return {
    url,
    env: { BENCH_UPSTREAM: url },
    process() {
      const process = processOf(server);
      if (process === undefined) throw wrong('has gone');
      return process;
    },
    async look() {
      const times: number[] = [];
      while (times.length < PROBES) {
        const started = performance.now();
        const { status, body } = await get(pathOf(0));
        times.push((performance.now() - started) * 1000);
        if (status !== 200) throw wrong(`responded to ${pathOf(0)} with status ${status}`);
        if (body.toString() !== fixtures[0]) throw wrong(`responded to ${pathOf(0)} with another body`);
      }
      const { status, body } = await get('/count');
      const count = parseCount(body.toString());
      if (status !== 200 || !Number.isInteger(count))
        throw wrong(`does not report its count (status ${status})`);
      return { requests: count - own, fetchUs: Math.min(...times) };
    },
    [Symbol.asyncDispose]: stop,
  };
}
