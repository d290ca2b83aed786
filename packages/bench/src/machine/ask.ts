/** One request to a server, and its whole answer. */

import { request } from 'node:http';
import { createIds, nextSender } from '../catalogue/workloads/ids.ts';
import { haveIds, ID, type Answer, type WorkloadRequest } from '../catalogue/workloads/workload.ts';
import { BenchError } from '../errors.ts';

/** Of silence, and of the whole answer where requests under load have no longer. */
export const ANSWER_SECONDS = 10;
/** More than any answer that is worth measuring: the checks keep it in memory. */
const MOST_BYTES = 2 ** 28;

const nextId = createIds(nextSender());

/** A server that is there, and did not answer in time. */
export class UnansweredError extends BenchError {}

/** An answer that began and does not end. */
export class EndlessError extends BenchError {}

/** Where to ask, and how to know that asking further is of no use. */
export interface Asked {
  host: string;
  port: number;
  ended(): string | undefined;
  logTail(): string[];
  /** The path of its log; absent where somebody else started it. */
  logFile?: string;
}

/**
 * One request and its whole answer, on a connection of its own. An id that the request has for
 * itself is the placeholder again in the answer. Throws what node:http throws, an unanswered error for a
 * server that falls silent, and an endless error for an answer that goes on for longer than `answerSeconds`.
 */
export async function ask(
  asked: Asked,
  spec: WorkloadRequest,
  answerSeconds = ANSWER_SECONDS,
): Promise<Answer> {
  if (!haveIds([spec])) return send(asked, spec, answerSeconds);
  const id = nextId();
  const answer = await send(asked, { ...spec, body: spec.body?.replaceAll(ID, id) ?? '' }, answerSeconds);
  const body = Buffer.from(answer.body.toString('latin1').replaceAll(id, ID), 'latin1');
  return { ...answer, body };
}

function send(
  { host, port }: Asked,
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
          resolve({ status: response.statusCode ?? 0, contentType, body: Buffer.concat(pieces) });
        });
      },
    );
    // Destroying it makes the response an error too: the reason goes first.
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
