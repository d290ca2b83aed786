/**
 * What a server tells of itself under load. The garbage that it collects: by the hooks of Node and Python, and in Go by the trace
 * that `GODEBUG=gctrace=1` adds to its log, one line for each collection (package runtime of Go). That of Python also tells the
 * statements of SQLite, and where the user's own code waits.
 */
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { isListening } from 'bench-machine/ports';
import type { Server } from 'bench-machine/launch';
import { familyOf, readLink } from 'bench-machine/procfs';
import { sendSignal } from 'bench-machine/subprocess';
import type { Waited } from 'bench-model/why';
import { sum, sumByKey } from 'bench-statistics/numbers';
import { isNode } from '../prepare/collect.ts';
import type { Prepared } from '../prepare/prepare.ts';
import { isOwnGo, parseDump } from './go.ts';
import { askBySignal, COLLECT, hooked, runtimesOf, type Question } from '../prepare/signals.ts';

/** A server that does not handle signals is not waited for. */
const ANSWER_MS = 1000;

/**
 * What a server tells: its collections, and their time in ms, which is CPU in Go, else that of one thread. The statements by their
 * text, with their values, and the waits are those since the first question.
 */
export interface Told {
  count: number;
  ms: number;
  statements?: Record<string, number>;
  waits?: Waited[];
}

/** Returns the runtime of a target whose hook tells; undefined for others. A Node one must have the hook of `collect.ts`. */
function tellerOf(prepared: Prepared): 'node' | 'python' | undefined {
  if (isNode(prepared)) return 'node';
  return prepared.stack.runtime === 'python' ? 'python' : undefined;
}

/** Returns what all processes of a server tell so far; undefined if none answers. `file` is the prefix of the responses. */
export async function askServer(
  pid: number,
  { teller, ...question }: Pick<Question, 'file' | 'wake'> & { teller: 'node' | 'python' },
): Promise<Told | undefined> {
  const pids = runtimesOf(pid, teller);
  const texts = await askBySignal(pids, { signal: COLLECT, milliseconds: ANSWER_MS, ...question });
  const told = texts.map((text) => JSON.parse(text) as Told);
  if (told.length === 0) return undefined;
  return {
    count: sum(told.map(({ count }) => count)),
    ms: sum(told.map(({ ms }) => ms)),
    statements: sumByKey(told.map(({ statements = {} }) => statements)),
    waits: told.flatMap(({ waits = [] }) => waits),
  };
}

/** Returns the target as its server must be launched to tell; `file` is the path prefix of its responses. */
export function withTelling(prepared: Prepared, file: string): Prepared {
  const { env, stack } = prepared;
  const teller = tellerOf(prepared);
  if (teller === undefined)
    return { ...prepared, env: { ...env, GODEBUG: [env['GODEBUG'], 'gctrace=1'].filter(Boolean).join() } };
  const own = { BENCH_COLLECTIONS: file, BENCH_WAITS: `${file}-waits`, BENCH_OWN: stack.root };
  return { ...prepared, env: { ...env, ...(teller === 'python' ? hooked(teller, env, own) : own) } };
}

/** Begins to watch. The function that it returns tells what happened since; undefined if the server does not tell. */
export async function watchTelling(
  server: Pick<Server, 'pid' | 'host' | 'port' | 'log'>,
  prepared: Prepared,
  file: string,
): Promise<() => Promise<Told | undefined>> {
  const teller = tellerOf(prepared);
  if (teller === undefined) {
    const last = parseTrace(server.log()).at(-1)?.number ?? 0;
    return async () => since(last, parseTrace(server.log()));
  }
  const pid = server.pid();
  const wake = (): Promise<unknown> => isListening(server.host, server.port);
  const ask = async (): Promise<Told | undefined> =>
    pid === undefined ? undefined : askServer(pid, { teller, file, wake });
  const before = await ask();
  return async () => {
    const after = before && (await ask());
    return after && { ...after, count: after.count - before.count, ms: after.ms - before.ms };
  };
}

/** The time of a load before the dump of Go. */
const DUMP_MS = 500;

/**
 * Returns how long so many responses waited together; undefined if a server of Node or Go does not tell. In Node each promise is
 * followed meanwhile, and the dump of its goroutines ends a program of Go. `load` takes 1 s and returns its correct responses.
 */
export async function watchWaits(
  { pid, log }: { pid: number; log: () => string },
  prepared: Prepared,
  { load, perSecond }: { load: () => Promise<number>; perSecond: number },
): Promise<{ waits: Waited[]; answers: number } | undefined> {
  const { env, stack } = prepared;
  if (isNode(prepared)) {
    const { SIGVTALRM: signal } = constants.signals;
    const asked = { signal, file: env['BENCH_WAITS'] ?? '', milliseconds: 5 * ANSWER_MS };
    const ask = async (): Promise<string[]> => askBySignal(runtimesOf(pid, 'node'), asked);
    if ((await ask()).length === 0) return undefined;
    const answers = await load();
    const waits = (await ask()).flatMap((text) => JSON.parse(text) as Waited[]);
    // Following slows the server down, and lets requests wait for longer, except for timers.
    const pace = Math.min(1, answers / perSecond);
    return {
      answers,
      waits: waits.map((one) => (one.for === 'a timer' ? one : { ...one, ms: pace * one.ms })),
    };
  }
  const pids = [...familyOf([pid])].filter((one) => isOwnGo(readLink(`/proc/${one}/exe`), stack.root));
  if (pids.length === 0) return undefined;
  const loaded = load().catch(() => {});
  await sleep(DUMP_MS);
  for (const one of pids) sendSignal(one, 'SIGQUIT');
  await loaded;
  // What waits at one moment waits all the time.
  return { answers: perSecond, waits: parseDump(log(), stack.root) };
}

type Traced = Record<'number' | 'ms', number>;

/** Reads lines like `gc 7 @1.2s 3%: 0.02+1.3+0.05 ms clock, 0.04+0.3/1.1/0.8+0.1 ms cpu, …`. */
export function parseTrace(log: string): Traced[] {
  return [...log.matchAll(/^gc (\d+) @.+ ms clock, ([\d.+/]+) ms cpu/gm)].map(([, number, cpu = '']) => ({
    number: Number(number),
    ms: sum(cpu.split(/[+/]/).map(Number)),
  }));
}

/** The log is cut if it grows, so its lines give the mean, and their numbers the count. */
function since(last: number, traced: readonly Traced[]): Told | undefined {
  const number = traced.at(-1)?.number;
  if (number === undefined) return undefined;
  const news = traced.filter((one) => one.number > last);
  const count = number - last;
  return { count, ms: news.length === 0 ? 0 : (count * sum(news.map(({ ms }) => ms))) / news.length };
}
