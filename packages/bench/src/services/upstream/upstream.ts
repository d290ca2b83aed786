/** The external service of a workload: nginx if it is on PATH, otherwise the embedded server. */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pathOf, writeFixtures } from '@bench/upstream/fixtures';
import pWaitFor from 'p-wait-for';
import type { Answer } from '../../catalogue/workloads/workload.ts';
import { BenchError } from '../../errors.ts';
import type { UpstreamKind } from '../../model.ts';
import type { UpstreamUse } from './record.ts';
import { describeEnd, launch, type Server } from '../../machine/launch.ts';
import type { PinnedCommands } from '../../machine/placement.ts';
import { findFreePort } from '../../machine/ports.ts';
import { run, SubprocessError } from '../../machine/subprocess.ts';
import { CompanionError, type CompanionProcess } from '../companion.ts';
import { sendRequest } from '../../machine/request.ts';

const CONFIGURATION = fileURLToPath(import.meta.resolve('@bench/upstream/nginx.conf'));
const EMBEDDED = fileURLToPath(import.meta.resolve('@bench/upstream/server'));

const START_MS = 10_000;
/** The pause between a failure and the next try. Within it, a process that failed because it was ending has ended. */
const SETTLE_MS = 100;
/** How often a fixture is fetched to time it; the fastest counts. */
const PROBES = 3;

/** A program that can serve the fixtures. It must count every request, including those for the count. */
export interface UpstreamProgram {
  kind: string;
  version: string;
  /** Placeholders: `{host}` and `{port}`. Runs in the folder that holds the fixtures. */
  command: string[];
  /** The text of `nginx.conf` there, with the placeholder `{port}`. */
  configuration?: string;
  /** Parses the number of requests so far from the answer to `GET /count`. */
  parseCount(text: string): number;
}

/** A failure of the upstream, which says nothing about the server. */
export class UpstreamError extends CompanionError {
  constructor({ kind, version }: Pick<UpstreamProgram, 'kind' | 'version'>, what: string) {
    super(`the upstream (${kind} ${version}) ${what}`, 'upstream');
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
  kind: string;
  version: string;
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
export async function findUpstream(asked: UpstreamKind | undefined): Promise<UpstreamProgram> {
  if (asked === 'embedded') return embedded();
  const found = await findNginx();
  if (typeof found !== 'string') return found;
  if (asked === undefined) return embedded();
  throw new BenchError('toolchain', `nginx as the upstream: ${found}`, 'install it, or --upstream embedded');
}

function embedded(): UpstreamProgram {
  return {
    kind: 'embedded',
    version: process.versions.node,
    command: [process.execPath, EMBEDDED, '--host', '{host}', '--port', '{port}'],
    parseCount: Number,
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
    parseCount: (text) => Number(/^ \d+ \d+ (\d+)/m.exec(text)?.[1]),
  };
}

/** The resources of an upstream. */
export interface UpstreamSpec {
  /** Marks its process, so that a later start can recognise leftovers. */
  token: string;
  /** The folder of the run: its log is kept there; everything else is removed with it. */
  folder: string;
  placed: Pick<PinnedCommands, 'beside'>;
  fixtures: string[];
  /** Distinguishes the upstreams of one run, from 0. */
  index?: number;
}

/**
 * Writes the fixtures and starts a program that serves them. Throws an upstream error if it does not answer in
 * time.
 */
export async function startUpstream(
  program: UpstreamProgram,
  { token, folder, placed, fixtures, index = 0 }: UpstreamSpec,
): Promise<Upstream> {
  const id = index === 0 ? 'upstream' : `upstream${index + 1}`;
  const root = join(folder, id);
  mkdirSync(root, { recursive: true });
  writeFixtures(root, fixtures);
  const port = await findFreePort();
  if (program.configuration !== undefined)
    writeFileSync(join(root, 'nginx.conf'), program.configuration.replaceAll('{port}', String(port)));
  const server = await launch({
    id,
    token,
    command: program.command,
    cwd: root,
    env: {},
    files: {},
    workers: 1,
    port,
    prefix: placed.beside ?? [],
    time: undefined,
    folder,
  });
  const upstream = new LaunchedUpstream(program, server, root, fixtures[0] ?? '');
  try {
    await upstream.awaitReady();
    return upstream;
  } catch (error) {
    await upstream[Symbol.asyncDispose]();
    throw error;
  }
}

class LaunchedUpstream implements Upstream {
  readonly kind: string;
  readonly version: string;
  readonly url: string;
  readonly env: Record<string, string>;
  readonly #program: UpstreamProgram;
  readonly #server: Server;
  readonly #root: string;
  readonly #fixture: string;
  /** The number of answered requests of the harness so far. */
  #own = 0;

  constructor(program: UpstreamProgram, server: Server, root: string, fixture: string) {
    this.kind = program.kind;
    this.version = program.version;
    this.url = `http://${server.host}:${server.port}`;
    this.env = { BENCH_UPSTREAM: this.url };
    this.#program = program;
    this.#server = server;
    this.#root = root;
    this.#fixture = fixture;
  }

  /** Waits until it answers. */
  async awaitReady(): Promise<void> {
    const deadline = performance.now() + START_MS;
    const answers = async (): Promise<boolean> => {
      try {
        await this.#count();
        return true;
      } catch (error) {
        if (this.#server.ended() !== undefined || performance.now() > deadline) throw error;
        return false;
      }
    };
    // A failed request has paused already.
    await pWaitFor(answers, { interval: 0 });
  }

  process(): CompanionProcess {
    const pid = this.#server.ended() === undefined ? this.#server.pid() : undefined;
    if (pid === undefined) throw this.#wrong('has gone');
    return { pid, cgroup: this.#server.cgroup };
  }

  async look(): Promise<UpstreamLook> {
    const times: number[] = [];
    while (times.length < PROBES) {
      const started = performance.now();
      const { status, body } = await this.#sendRequest(pathOf(0));
      times.push((performance.now() - started) * 1000);
      if (status !== 200) throw this.#wrong(`answered ${pathOf(0)} with status ${status}`);
      if (body.toString() !== this.#fixture) throw this.#wrong(`answered ${pathOf(0)} with another body`);
    }
    return { requests: await this.#count(), fetchUs: Math.min(...times) };
  }

  async #count(): Promise<number> {
    const { status, body } = await this.#sendRequest('/count');
    const count = this.#program.parseCount(body.toString());
    if (status !== 200 || !Number.isInteger(count))
      throw this.#wrong(`does not report its count (status ${status})`);
    return count - this.#own;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop();
    rmSync(this.#root, { recursive: true, force: true });
  }

  async #sendRequest(path: string): Promise<Answer> {
    try {
      const answer = await sendRequest(this.#server, { method: 'GET', path, headers: {} });
      this.#own++;
      return answer;
    } catch (error) {
      await sleep(SETTLE_MS);
      const end = describeEnd(this.#server);
      throw this.#wrong(
        end === undefined ? `does not answer: ${(error as Error).message}` : `has ended (${end})`,
      );
    }
  }

  #wrong(what: string): UpstreamError {
    return new UpstreamError(this.#program, what);
  }
}
