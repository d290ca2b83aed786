import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { Variant } from 'bench-model/stack';
import { completeParams, findWorkload } from 'bench-targets/catalogue/workloads/index';
import type { Draw, Params, Table, Workload } from 'bench-targets/catalogue/workloads/workload';
import { openTable, type OpenTable } from '../../src/services/database/companion.ts';
import { findDatabase } from '../../src/services/database/database.ts';
import type { DatabaseServer } from '../../src/services/database/server.ts';
import { launch, type LaunchSpec, type Server } from 'bench-machine/launch';
import type { Prepared } from 'bench-targets/prepare/prepare';
import { familyOf, readText, socketsOf } from 'bench-machine/procfs';
import { timeCommand } from 'bench-machine/time';
import { createRandom } from 'bench-statistics/random';
import { openToken } from '../../../bench-lab/test/known/leftovers.ts';
import { openUpstream, type Upstream } from './upstream.ts';

/** The longest time to the first correct response of a server on a busy machine. */
export const START_SECONDS = 60;

/** A running server, and the data drawn for it by workload. */
export interface Running {
  server: Server;
  /** The number of workers that it was asked for. */
  workers: number;
  draws: Record<string, Draw>;
  /** Its upstream, if a workload needs one. */
  upstream?: Upstream;
}

/** A command line to start. */
export interface Command {
  command: string[];
  cwd: string;
  env: Record<string, string>;
}

/** The data of one workload. */
interface Drawn {
  name: string;
  draw: Draw;
  fixtures: string[] | undefined;
}

/** The random data of a server. */
interface Drawing {
  seed: number;
  /** Returns the parameters of a workload; by default the usual ones. */
  paramsOf?: (workload: Workload) => Params;
}

/** The options for starting a target. */
export interface ServerSpec extends Drawing {
  workers: number;
  threads?: number;
}

/** Starts servers as a trial does. Stops them after the last test of the file. */
export interface Host {
  /** Starts a target with data drawn from the seed, for all workloads that it offers. */
  serve(prepared: Prepared, spec: ServerSpec): Promise<Running>;
  /** Starts a command line with `{port}`, with no data but these files, by their variables. */
  start(command: Command, files?: Record<string, string>): Promise<Server>;
}

/** Opens the host of one test file. */
export function openHost(): Host {
  const token = openToken();
  const folder = mkdtempSync(join(tmpdir(), 'bench-contract-'));
  const servers: Server[] = [];
  const disposables = new AsyncDisposableStack();
  let database: Promise<DatabaseServer> | undefined;
  let count = 0;
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await disposables.disposeAsync();
    rmSync(folder, { recursive: true, force: true });
  });
  const open = async (
    command: Command,
    given: Pick<LaunchSpec, 'files' | 'workers' | 'threads'>,
  ): Promise<Server> => {
    const id = String(count++).padStart(3, '0');
    const time = await timeCommand();
    // Of the tests: the stacks on Node take half as long to start.
    const env = { ...command.env, NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '' };
    const server = await launch({ ...command, env, ...given, id, token, prefix: [], time, folder });
    servers.push(server);
    return server;
  };
  const start = async (): Promise<DatabaseServer> =>
    disposables.use(await (await findDatabase('')).start({ token, folder, placed: {} }));
  // One for all servers of the file, each with a separate table.
  const openOne = async (table: Table): Promise<OpenTable> => {
    database ??= start();
    return openTable(await database, table);
  };
  return {
    async serve({ command, stack, variant }, { workers, threads, ...drawing }) {
      const drawn = drawAll(variant, drawing);
      const fixtures = drawn.flatMap((one) => one.fixtures ?? []);
      const upstream = fixtures.length > 0 ? disposables.use(await openUpstream(fixtures)) : undefined;
      const tables = drawn.flatMap(({ draw }) => draw.table ?? []);
      const rows = tables.flatMap((table) => table.rows);
      const opened = tables.length > 0 ? await openOne({ rows }) : undefined;
      const told = drawn.map(({ draw }) => draw.env);
      const fetched = upstream && { BENCH_UPSTREAM: upstream.url };
      const env = Object.assign({}, variant.env, ...told, fetched, opened?.env);
      const files = Object.assign({}, ...drawn.map(({ draw }) => draw.files));
      const server = await open({ command, cwd: stack.root, env }, { files, workers, threads });
      const draws = Object.fromEntries(drawn.map(({ name, draw }) => [name, draw]));
      return { server, workers, draws, ...(upstream && { upstream }) };
    },
    start: (command, files = {}) => open(command, { files, workers: 1 }),
  };
}

/** Draws the data of all workloads that a variant offers. */
export function drawAll(
  { workloads }: Pick<Variant, 'workloads'>,
  { seed, paramsOf = () => ({}) }: Drawing,
): Drawn[] {
  const random = createRandom(seed);
  return workloads.map((name) => {
    const workload = findWorkload(name);
    const params = completeParams(workload, paramsOf(workload));
    return {
      name,
      draw: workload.draw(() => random.float(), params),
      fixtures: workload.fixtures?.(params),
    };
  });
}

/**
 * The addresses that a server and all that it started listen on, each once, as `/proc/net/tcp` writes it: the address, then the port,
 * both hexadecimal. Undefined where the platform does not report them.
 */
export function listenersOf(server: Server): string[] | undefined {
  const pid = server.pid();
  if (process.platform !== 'linux' || pid === undefined) return undefined;
  const own = new Set([...familyOf([pid])].flatMap(socketsOf));
  const LISTEN = '0A';
  const rows = ['tcp', 'tcp6'].flatMap((table) =>
    (readText(`/proc/net/${table}`) ?? '').split('\n').slice(1),
  );
  const found = rows
    .map((row) => row.trim().split(/\s+/))
    .filter((fields) => fields[3] === LISTEN && own.has(fields[9] ?? ''))
    .map((fields) => String(fields[1]));
  return [...new Set(found)];
}

/** 127.0.0.1 and that port, as `listenersOf` gives it. */
export function loopback(port: number): string {
  return `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
}
