/** Ray nodes that `pnpm cluster up` starts on this machine, and `down` stops. */
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import pWaitFor from 'p-wait-for';
import { ToolchainError } from 'bench-model/errors';
import { HOME } from 'bench-machine/home';
import { readText } from 'bench-machine/procfs';
import { start } from 'bench-machine/subprocess';
import type { Program } from './program.ts';

const FOLDER = join(HOME.cache, 'cluster');
/** Hosts can share a file system. */
const STATE = join(FOLDER, `nodes-${hostname()}.json`);
const UP_MS = 180_000;
const DOWN_MS = 30_000;

/** Nodes that one process keeps. */
interface StartedNodes {
  pid: number;
  /** The words after the name of the program. */
  words: string[];
}

/** Returns what `up` has started and still runs. */
export function listNodes(): StartedNodes[] {
  if (!existsSync(STATE)) return [];
  const all = JSON.parse(readFileSync(STATE, 'utf8')) as StartedNodes[];
  // A number of a process can belong to another one by now.
  return all.filter(({ pid }) => (readText(`/proc/${pid}/cmdline`) ?? '').includes('bench_cluster'));
}

function keep(nodes: readonly StartedNodes[]): void {
  mkdirSync(dirname(STATE), { recursive: true });
  if (nodes.length === 0) rmSync(STATE, { force: true });
  else writeFileSync(STATE, JSON.stringify(nodes));
}

/**
 * Starts nodes that outlive this command. Returns the address of the head if it is here. Throws a toolchain error with the
 * end of their log if they do not start.
 */
export async function startNodes({ argv, env }: Program, words: string[]): Promise<string | undefined> {
  mkdirSync(FOLDER, { recursive: true });
  const logFile = join(FOLDER, `${hostname()}-${process.pid}.log`);
  const log = openSync(logFile, 'w');
  const child = start({
    stdio: ['ignore', log, log],
    env: { ...process.env, ...env },
  })`exec ${[...argv, ...words]}`;
  const { pid } = child;
  if (pid === undefined) throw new ToolchainError('the nodes could not be started');
  keep([...listNodes(), { pid, words }]);
  const told = (): string => readText(logFile) ?? '';
  const isUp = (): boolean => /"event": "up"|Ray runtime started/.test(told());
  await pWaitFor(() => isUp() || child.exitCode !== null, {
    interval: 200,
    timeout: { milliseconds: UP_MS, fallback: () => {} },
  });
  if (!isUp()) {
    await stopNodes();
    throw new ToolchainError(
      `the nodes did not start: ${told().trim().split('\n').at(-1) ?? ''}`,
      `see ${logFile}`,
    );
  }
  child.unref();
  return /"address": "([^"]+)"/.exec(told())?.[1];
}

/** Stops everything that `up` has started, and returns the number of its processes. */
export async function stopNodes(): Promise<number> {
  const nodes = listNodes();
  for (const { pid } of nodes) process.kill(pid, 'SIGTERM');
  const isOver = (): boolean => listNodes().length === 0;
  await pWaitFor(isOver, { interval: 200, timeout: { milliseconds: DOWN_MS, fallback: () => {} } });
  // Each is the leader of its process group.
  for (const { pid } of listNodes()) process.kill(-pid, 'SIGKILL');
  keep([]);
  return nodes.length;
}
