/** One HTTP request to a server, and its complete response. */
import type { Agent, IncomingMessage } from 'node:http';
import { createStamps, nextSender } from './stamps.ts';
import { haveIds, ID, type Answer, type WorkloadRequest } from './workload.ts';
import { BenchError } from 'bench-model/errors';
import type { Listening } from 'bench-machine/procfs';
import { toAuthority } from 'bench-machine/ports';
import { tlsOptions, type Tls } from 'bench-machine/tls';

/** The longest time from a request to the end of its response by default, in seconds. */
export const ANSWER_SECONDS = 10;
/** Larger than any response worth measuring: the checks hold it in memory. */
const MOST_BYTES = 2 ** 28;

const stamps = createStamps(nextSender());

/** A server that accepts requests but did not answer in time. */
export class UnansweredError extends BenchError {}

/** A response that no load can repeat. Asking again does not help. */
export class UnmeasurableError extends BenchError {}

/** A response that started but did not end in time. */
export class EndlessError extends UnmeasurableError {}

/** The address of a server, and its state: a server that has ended needs no further requests. */
export interface Endpoint {
  host: string;
  port: number;
  /** Absent for plain HTTP. */
  tls?: Tls;
  ended(): string | undefined;
  logTail(): string[];
  /** Returns the addresses that it listens on; absent if unknown. */
  listensOn?(): Listening[];
  /** Returns the paths of the Unix sockets that it listens on. */
  socketPaths?(): string[];
  /** True if its command does not name its port, so it may choose another one. */
  mayIgnorePort?: boolean;
  /** Aborted when the user interrupts; absent if that ends the server. */
  stopped?: AbortSignal | undefined;
}

/**
 * Sends one request on its own connection, or on one of `agent`, and returns the complete response. An id in the request is
 * a placeholder again in the response. Takes no longer than `seconds`. Throws what node:http throws, an `UnansweredError` if
 * nothing arrives in this time, an `EndlessError` if the response does not end in it, and an `UnmeasurableError` if the
 * server leaves HTTP.
 */
export async function sendRequest(
  endpoint: Endpoint,
  unstamped: WorkloadRequest,
  seconds = ANSWER_SECONDS,
  agent?: Agent,
): Promise<Answer> {
  const values = new Map(stamps.map(({ mark, next }) => [mark, next()]));
  const stamp = (text: string): string =>
    [...values].reduce((stamped, [mark, value]) => stamped.replaceAll(mark, value), text);
  const headers = Object.entries(unstamped.headers).map(([name, text]) => [name, stamp(text)]);
  const stamped = {
    ...unstamped,
    path: stamp(unstamped.path),
    headers: Object.fromEntries(headers) as Record<string, string>,
    ...(unstamped.body !== undefined && { body: stamp(unstamped.body) }),
  };
  const answer = await send(endpoint, stamped, seconds, agent);
  if (!haveIds([unstamped])) return answer;
  const body = answer.body.toString('latin1').replaceAll(values.get(ID) ?? ID, ID);
  return { ...answer, body: Buffer.from(body, 'latin1') };
}

/** Returns the client for a server. An import would take as long as most commands: it also loads `fetch`, and TLS where nothing needs it. */
function clientOf(tls: Tls | undefined): typeof import('node:http') | typeof import('node:https') {
  return process.getBuiltinModule(tls === undefined ? 'node:http' : 'node:https');
}

/** Returns an agent that keeps one connection to a server open. */
export function keepAlive({ tls }: Pick<Endpoint, 'tls'>): Agent {
  return new (clientOf(tls).Agent)({ keepAlive: true, maxSockets: 1 });
}

function send(
  { host, port, tls, stopped }: Endpoint,
  { method, path, headers, body }: WorkloadRequest,
  seconds: number,
  agent: Agent | false = false,
): Promise<Answer> {
  const sentAtMs = performance.now();
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  let contentType: string | undefined;
  const options = {
    host,
    port,
    method,
    path,
    headers: agent === false ? asLoad({ host, port }, headers) : headers,
    agent,
    signal: stopped,
    ...(tls && tlsOptions(tls)),
  };
  const sent = clientOf(tls).request(options, (response) => {
    const headAtMs = performance.now();
    contentType = typeOf(response);
    const pieces: Buffer[] = [];
    let bytes = 0;
    response.on('data', (piece: Buffer) => {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes > MOST_BYTES) fail(createEndless(`after ${MOST_BYTES / 2 ** 20} MiB`, contentType));
    });
    response.on('error', reject);
    response.on('end', () => {
      const { statusCode = 0, headers: told } = response;
      resolve({
        status: statusCode,
        contentType: typeOf(response),
        body: Buffer.concat(pieces),
        headers: told,
        headMs: headAtMs - sentAtMs,
        bodyMs: performance.now() - headAtMs,
      });
    });
    response.on('close', () => reject(new Error('the response was cut off')));
  });
  // Destroying the request also fails the response, so the reason is reported first.
  const fail = (error: Error): void => {
    reject(error);
    sent.destroy();
  };
  const leave = (response: IncomingMessage): void => fail(createLeft(response));
  const giveUp = (): void => {
    const hasBegun = contentType !== undefined || (sent.socket?.bytesRead ?? 0) > 0;
    fail(
      hasBegun
        ? createEndless(`within ${figure(seconds)} s`, contentType)
        : new UnansweredError('trial', `no response in ${figure(seconds)} s`),
    );
  };
  const deadline = setTimeout(giveUp, seconds * 1000);
  sent.on('error', reject);
  // Without these, node:http destroys the connection and reports nothing.
  sent.on('upgrade', leave);
  sent.on('connect', leave);
  sent.on('close', () => {
    if (contentType === undefined) reject(new Error('the connection closed without a response'));
  });
  sent.end(body);
  return promise.finally(() => clearTimeout(deadline));
}

/**
 * Returns the headers of a request on its own connection as the load sends them: a response may repeat them. The connection closes
 * after it all the same.
 */
function asLoad(
  endpoint: Pick<Endpoint, 'host' | 'port'>,
  headers: Readonly<Record<string, string>>,
): Record<string, string> {
  const given = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  return {
    ...(!given.has('host') && { Host: toAuthority(endpoint) }),
    ...(!given.has('connection') && { Connection: 'keep-alive' }),
    ...headers,
  };
}

function typeOf({ headers }: IncomingMessage): string {
  return headers['content-type'] ?? '';
}

/** A limit may be the rest of a longer one. */
function figure(seconds: number): number {
  return Math.round(seconds * 10) / 10;
}

function createEndless(limit: string, contentType = ''): EndlessError {
  const kind = contentType === '' ? '' : ` (${contentType})`;
  return new EndlessError(
    'trial',
    `the response did not end ${limit}${kind}. Endless responses, such as server-sent events, cannot be measured`,
    'measure an address whose responses end, or give slow responses longer: --timeout 60',
  );
}

function createLeft({ statusCode, headers: { upgrade } }: IncomingMessage): UnmeasurableError {
  const to = upgrade === undefined ? '' : ` to ${upgrade}`;
  return new UnmeasurableError(
    'trial',
    `the server switched the protocol${to} (status ${statusCode}). Only HTTP can be measured`,
    'measure an address that speaks HTTP, or omit the headers that ask for an upgrade',
  );
}
