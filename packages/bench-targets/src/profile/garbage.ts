/**
 * How much garbage a server collects under load: told by the hooks of Node and Python, and in Go by the trace that
 * `GODEBUG=gctrace=1` adds to its log, one line for each collection (package runtime of Go).
 */
import { isListening } from 'bench-machine/ports';
import type { Server } from 'bench-machine/launch';
import { sum } from 'bench-statistics/numbers';
import { collectorOf, countCollections, countingEnvironment } from '../prepare/collections.ts';
import type { Prepared } from '../prepare/prepare.ts';

/** The collections of a server, and their time in ms: of CPU in Go, else of one thread. */
export interface Garbage {
  count: number;
  ms: number;
}

/** Returns the target as its server must be launched to tell of garbage; `file` is the path prefix of its answers. */
export function withGarbage(prepared: Prepared, file: string): Prepared {
  const collector = collectorOf(prepared);
  const { env } = prepared;
  const own =
    collector === undefined
      ? { GODEBUG: [env['GODEBUG'], 'gctrace=1'].filter(Boolean).join() }
      : countingEnvironment(collector, env, file);
  return { ...prepared, env: { ...env, ...own } };
}

/** Begins to watch. The function that it returns tells what was collected since; undefined if the server does not tell. */
export async function watchGarbage(
  server: Pick<Server, 'pid' | 'host' | 'port' | 'log'>,
  prepared: Prepared,
  file: string,
): Promise<() => Promise<Garbage | undefined>> {
  const collector = collectorOf(prepared);
  if (collector === undefined) {
    const last = parseTrace(server.log()).at(-1)?.number ?? 0;
    return async () => since(last, parseTrace(server.log()));
  }
  const pid = server.pid();
  const wake = (): Promise<unknown> => isListening(server.host, server.port);
  const ask = async (): Promise<Garbage | undefined> =>
    pid === undefined ? undefined : countCollections(pid, { collector, file, wake });
  const before = await ask();
  return async () => {
    const after = before && (await ask());
    return after && { count: after.count - before.count, ms: after.ms - before.ms };
  };
}

interface Traced {
  number: number;
  ms: number;
}

/** Reads lines like `gc 7 @1.2s 3%: 0.02+1.3+0.05 ms clock, 0.04+0.3/1.1/0.8+0.1 ms cpu, …`. */
export function parseTrace(log: string): Traced[] {
  return [...log.matchAll(/^gc (\d+) @.+ ms clock, ([\d.+/]+) ms cpu/gm)].map(([, number, cpu = '']) => ({
    number: Number(number),
    ms: sum(cpu.split(/[+/]/).map(Number)),
  }));
}

/** The log is cut if it grows, so its lines give the mean, and their numbers the count. */
function since(last: number, traced: readonly Traced[]): Garbage | undefined {
  const number = traced.at(-1)?.number;
  if (number === undefined) return undefined;
  const news = traced.filter((one) => one.number > last);
  const count = number - last;
  return { count, ms: news.length === 0 ? 0 : (count * sum(news.map(({ ms }) => ms))) / news.length };
}
