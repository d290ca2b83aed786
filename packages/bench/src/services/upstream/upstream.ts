/** The external service of a workload: nginx if it is on PATH, otherwise the embedded server. */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pathOf, writeFixtures } from '@bench/upstream/fixtures';
import pWaitFor from 'p-wait-for';
import type { Answer } from 'bench-targets/catalogue/workloads/workload';
import { ToolchainError } from 'bench-model/errors';
import type { UpstreamKind } from 'bench-model/settings';
import type { UpstreamUse } from 'bench-model/companions';
import { describeEnd, launch } from 'bench-machine/launch';
import { findFreePort, toAuthority } from 'bench-machine/ports';
import { run, SubprocessError } from 'bench-machine/subprocess';
import {
  CompanionError,
  launchedProgram,
  type CompanionProcess,
  type LaunchedProgram,
  type LaunchContext,
} from '../companion.ts';
import { sendRequest } from 'bench-targets/catalogue/workloads/send';

const CONFIGURATION = fileURLToPath(import.meta.resolve('@bench/upstream/nginx.conf'));
const EMBEDDED = fileURLToPath(import.meta.resolve('@bench/upstream/server'));

const HOST = '127.0.0.1';
const START_MS = 10_000;
/** The pause between a failure and the next try. Within it, a process that failed because it was ending has ended. */
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

/**
 * Finds the requested kind, else nginx, else the embedded server. Throws a toolchain error if nginx is requested
 * and missing.
 */
export async function findUpstream(kind: UpstreamKind | undefined): Promise<UpstreamProgram> {
  if (kind === 'embedded') return embedded();
  const found = await findNginx();
  if (typeof found !== 'string') return found;
  if (kind === undefined) return embedded();
  throw new ToolchainError(`nginx as the upstream: ${found}`, 'install it');
}

function embedded(): UpstreamProgram {
  return {
    kind: 'embedded',
    version: process.versions.node,
    command: [process.execPath, EMBEDDED, '--host', '{host}', '--port', '{port}'],
  };
}

/** Returns nginx, or the reason why it cannot be used. */
async function findNginx(): Promise<UpstreamProgram | string> {
  const told = await run(['nginx', '-V']).catch((error: Error) => error);
  if (told instanceof SubprocessError && told.why === 'missing') return 'it is not on PATH';
  if (told instanceof Error) return told.message;
  const [, version] = /^nginx version: \S+\/([\d.]+)/m.exec(told.stderr) ?? [];
  if (version === undefined) return 'nginx -V does not print a version';
  if (!told.stderr.includes('http_stub_status_module')) return 'it was built without stub_status';
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

/** Writes the fixtures and launches a program that serves them. */
async function launchUpstream(
  { command, configuration }: UpstreamProgram,
  fixtures: readonly string[],
  { token, folder, placed, index = 0 }: LaunchContext,
): Promise<LaunchedProgram> {
  const id = index === 0 ? 'upstream' : `upstream${index + 1}`;
  const root = join(folder, id);
  mkdirSync(root, { recursive: true });
  writeFixtures(root, fixtures);
  const port = await findFreePort(HOST);
  const authority = toAuthority({ host: HOST, port });
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
  return launchedProgram(server, `http://${authority}`, () => rmSync(root, { recursive: true, force: true }));
}

/** Starts an upstream that serves these fixtures. Throws an upstream error if it does not answer in time. */
export async function startUpstream(
  program: UpstreamProgram,
  fixtures: readonly string[],
  context: LaunchContext,
): Promise<Upstream> {
  const launched = await launchUpstream(program, fixtures, context);
  const { url, ended, logTail } = launched;
  const { hostname: host, port } = new URL(url);
  /** The number of answered requests of the harness so far. */
  let own = 0;
  const wrong = (what: string): UpstreamError => new UpstreamError(program, what);
  const get = async (path: string): Promise<Answer> => {
    try {
      const spec = { method: 'GET', path, headers: {} };
      const answer = await sendRequest({ host, port: Number(port), ended, logTail }, spec);
      own++;
      return answer;
    } catch (error) {
      await sleep(SETTLE_MS);
      const end = describeEnd(launched);
      throw wrong(end === undefined ? `does not respond: ${(error as Error).message}` : `has ended (${end})`);
    }
  };
  const countRequests = async (): Promise<number> => {
    const { status, body } = await get('/count');
    const count = parseCount(body.toString());
    if (status !== 200 || !Number.isInteger(count))
      throw wrong(`does not report its count (status ${status})`);
    return count - own;
  };
  const deadline = performance.now() + START_MS;
  const answers = async (): Promise<boolean> => {
    try {
      await countRequests();
      return true;
    } catch (error) {
      if (ended() === undefined && performance.now() <= deadline) return false;
      await launched[Symbol.asyncDispose]();
      throw error;
    }
  };
  // A failed request has paused already.
  await pWaitFor(answers, { interval: 0 });
  return {
    url,
    env: { BENCH_UPSTREAM: url },
    process() {
      const process = launched.process();
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
      return { requests: await countRequests(), fetchUs: Math.min(...times) };
    },
    [Symbol.asyncDispose]: () => launched[Symbol.asyncDispose](),
  };
}
