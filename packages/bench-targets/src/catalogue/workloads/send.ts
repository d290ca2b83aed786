/** One HTTP request to a server, and its complete answer. */
import { request } from 'node:http';
import { createIds, nextSender } from './ids.ts';
import { haveIds, ID, type Answer, type WorkloadRequest } from './workload.ts';
import { BenchError } from 'bench-model/errors';
import type { Listening } from 'bench-machine/procfs';

/** The longest silence, and by default the longest answer, in seconds. */
export const ANSWER_SECONDS = 10;
/** Larger than any answer worth measuring: the checks hold it in memory. */
const MOST_BYTES = 2 ** 28;

const nextId = createIds(nextSender());

/** A server that accepts requests but did not answer in time. */
export class UnansweredError extends BenchError {}

/** An answer that started but did not end in time. */
export class EndlessError extends BenchError {}

/** The address of a server, and its state: a server that has ended needs no further requests. */
export interface Endpoint {
  host: string;
  port: number;
  ended(): string | undefined;
  logTail(): string[];
  /** Returns the addresses that it listens on; absent if unknown. */
  listensOn?(): Listening[];
  /** True if its command does not name its port, so it may choose another one. */
  mayIgnorePort?: boolean;
}

/**
 * Sends one request on its own connection and returns the complete answer. An id in the request is a placeholder
 * again in the answer. Throws what node:http throws, an `UnansweredError` if the server falls silent, and an
 * `EndlessError` if the answer takes longer than `answerSeconds`.
 */
export async function sendRequest(
  endpoint: Endpoint,
  spec: WorkloadRequest,
  answerSeconds = ANSWER_SECONDS,
): Promise<Answer> {
  if (!haveIds([spec])) return send(endpoint, spec, answerSeconds);
  const id = nextId();
  const answer = await send(endpoint, { ...spec, body: spec.body?.replaceAll(ID, id) ?? '' }, answerSeconds);
  const body = Buffer.from(answer.body.toString('latin1').replaceAll(id, ID), 'latin1');
  return { ...answer, body };
}

function send(
  { host, port }: Endpoint,
  { method, path, headers, body }: WorkloadRequest,
  seconds: number,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let deadline: NodeJS.Timeout | undefined;
    const sent = request(
      { host, port, method, path, headers, agent: false, timeout: ANSWER_SECONDS * 1000 },
      (response) => {
        const contentType = response.headers['content-type'] ?? '';
        const pieces: Buffer[] = [];
        let bytes = 0;
        const giveUp = (limit: string): void => fail(createEndless(limit, contentType));
        deadline = setTimeout(() => giveUp(`within ${seconds} s`), seconds * 1000);
        response.on('data', (piece: Buffer) => {
          pieces.push(piece);
          bytes += piece.length;
          if (bytes > MOST_BYTES) giveUp(`after ${MOST_BYTES / 2 ** 20} MiB`);
        });
        response.on('error', reject);
        response.on('end', () => {
          const { statusCode = 0, headers: told } = response;
          resolve({ status: statusCode, contentType, body: Buffer.concat(pieces), headers: told });
        });
      },
    );
    // Destroying the request also fails the response, so the reason is reported first.
    const fail = (error: Error): void => {
      reject(error);
      sent.destroy();
    };
    sent.on('error', reject);
    sent.on('close', () => clearTimeout(deadline));
    sent.on('timeout', () => fail(new UnansweredError('trial', `no answer in ${ANSWER_SECONDS} s`)));
    sent.end(body);
  });
}

function createEndless(limit: string, contentType: string): EndlessError {
  const kind = contentType === '' ? '' : ` (${contentType})`;
  return new EndlessError(
    'trial',
    `the answer did not end ${limit}${kind}. Endless answers, such as server-sent events, cannot be measured`,
    'measure an address whose answers end, or give slow answers longer: --timeout 60',
  );
}
