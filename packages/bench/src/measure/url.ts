import { readFileSync } from 'node:fs';
import { canonicalise, excerpt, type Draw } from '../catalogue/workloads/workload.ts';
import { BenchError } from '../errors.ts';
import type { PlannedUrl } from '../plan.ts';
import type { Server } from './launch.ts';
import { isListening } from './ports.ts';

/** The request to a server that is already running, and what is checked of its answers. */
export function drawUrl({ url, method, headers, body, expect }: PlannedUrl): Draw {
  const { pathname, search } = new URL(url);
  const sent = readArgument('body', body);
  const expected = readArgument('expect', expect);
  return {
    requests: [
      {
        method,
        path: pathname + search,
        headers: { ...(sent === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(sent === undefined ? {} : { body: sent }),
      },
    ],
    files: {},
    fixedBody: expected !== undefined,
    check(answer) {
      if (answer.status < 200 || answer.status > 299)
        return `status ${answer.status}: ${excerpt(answer.body)}`;
      if (expected === undefined || sameAnswer(answer.body.toString(), expected)) return undefined;
      return `the body is not what --expect says: ${excerpt(answer.body)}`;
    },
  };
}

function sameAnswer(body: string, expected: string): boolean {
  if (body === expected) return true;
  try {
    return canonicalise(body) === canonicalise(expected);
  } catch {
    return false;
  }
}

/** An argument's text, or the contents of the file in `@file`. Throws a usage error when that cannot be read. */
function readArgument(flag: string, text: string | undefined): string | undefined {
  if (!text?.startsWith('@')) return text;
  try {
    return readFileSync(text.slice(1), 'utf8');
  } catch {
    throw new BenchError(
      'usage',
      `--${flag} ${text}: the file cannot be read`,
      `e.g. --${flag} @order.json, relative to where you are`,
    );
  }
}

/** A server that somebody else started and keeps: nothing of it is stopped. Throws a usage error when nothing listens. */
export async function attachServer({ url, pid }: PlannedUrl, isStopped: () => boolean): Promise<Server> {
  const { hostname, port } = new URL(url);
  const host = hostname === 'localhost' ? '127.0.0.1' : hostname.replace(/^\[(.*)\]$/, '$1');
  const number = Number(port || 80);
  if (!(await isListening(host, number))) {
    throw new BenchError(
      'usage',
      `nothing listens on ${host}:${number}`,
      'start your server first, or check --url',
    );
  }
  return {
    host,
    port: number,
    pid: () => pid,
    cgroup: undefined,
    startedAtMs: undefined,
    ended: () => (isStopped() ? 'interrupted' : undefined),
    log: () => '',
    logTail: () => [],
    attestations: () => [],
    stop: async () => ({ files: [], trouble: [] }),
    async [Symbol.asyncDispose]() {},
  };
}
