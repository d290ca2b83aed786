/** Asks the processes of a live server, by a signal that nothing else uses. Each answers in a file. */
import { existsSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pWaitFor from 'p-wait-for';
import { familyOf, readLink, readText } from 'bench-machine/procfs';

/** The folder of the modules that are loaded into servers. */
export const HOOK = fileURLToPath(new URL('./hook', import.meta.url));

/**
 * Returns the environment in which a server loads the hook of its language before its own code, and the variables that the hook
 * reads: each names what it does by the path prefix of the responses.
 */
export function hooked(
  language: 'python' | 'node',
  env: Readonly<Record<string, string>>,
  read: Record<string, string>,
): Record<string, string> {
  if (language === 'python')
    return { PYTHONPATH: [HOOK, env['PYTHONPATH']].filter(Boolean).join(':'), ...read };
  const hook = join(HOOK, 'node.cjs').replaceAll(/["\\]/g, String.raw`\$&`);
  return { NODE_OPTIONS: [env['NODE_OPTIONS'], `--require "${hook}"`].filter(Boolean).join(' '), ...read };
}

/** Asks about garbage. Ignored by default, so that it harms no process without the hook. */
export const COLLECT = constants.signals.SIGURG;

const POLL_MS = 20;

/** Returns the processes of a server that run this runtime; outside Linux, its first process. */
export function runtimesOf(pid: number, language: 'python' | 'node'): number[] {
  if (process.platform !== 'linux') return [pid];
  const name = language === 'python' ? /^(python|pypy)/ : /^node/;
  return [...familyOf([pid])].filter((one) => name.test(basename(readLink(`/proc/${one}/exe`))));
}

/** A question to processes. */
export interface Question {
  signal: number;
  /** The path prefix of the responses. */
  file: string;
  /** The time to wait for a response. */
  milliseconds: number;
  /** Called after the signal, for processes that handle it only with their next request. */
  wake?: () => Promise<unknown>;
}

/** Returns the responses of these processes. One that does not handle the signal, or does not answer, is omitted. */
export async function askBySignal(
  pids: readonly number[],
  { signal, file, milliseconds, wake }: Question,
): Promise<string[]> {
  const able = pids.filter((pid) => catchesSignal(pid, signal));
  for (const pid of able) process.kill(pid, signal);
  await wake?.().catch(() => {});
  const texts = await Promise.all(able.map((pid) => awaitText(`${file}-${pid}`, milliseconds)));
  return texts.filter((text) => text !== undefined);
}

/** Returns true if a process handles the signal; without a handler the signal could end it. */
function catchesSignal(pid: number, signal: number): boolean {
  if (process.platform !== 'linux') return true;
  const caught = /^SigCgt:\s*([0-9a-f]+)/m.exec(readText(`/proc/${pid}/status`) ?? '')?.[1] ?? '0';
  return ((BigInt(`0x${caught}`) >> BigInt(signal - 1)) & 1n) === 1n;
}

async function awaitText(file: string, milliseconds: number): Promise<string | undefined> {
  const timeout = { milliseconds: Math.ceil(milliseconds), fallback: () => {} };
  await pWaitFor(() => existsSync(file), { interval: POLL_MS, timeout });
  const text = readText(file);
  rmSync(file, { force: true });
  return text;
}
