import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Draw, WorkloadRequest } from '../catalogue/workloads/workload.ts';
import { BenchError } from '../errors.ts';
import type { ExpectedBody } from './load/protocol.ts';

const POLL_MS = 5;
const ANSWER_TIMEOUT_MS = 10_000;

/** Where to ask, and how to know that asking further is of no use. */
export interface Asked {
  host: string;
  port: number;
  ended(): string | undefined;
}

/** One request and its whole answer, on a connection of its own. Throws what node:http throws. */
export function ask(
  { host, port }: Asked,
  { method, path, headers, body }: WorkloadRequest,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host, port, method, path, headers, agent: false, timeout: ANSWER_TIMEOUT_MS },
      (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.on('error', reject);
        response.on('end', () => {
          resolve({
            status: response.statusCode ?? 0,
            contentType: response.headers['content-type'] ?? '',
            body: Buffer.concat(pieces),
          });
        });
      },
    );
    sent.on('error', reject);
    sent.on('timeout', () => sent.destroy(new Error(`no answer in ${ANSWER_TIMEOUT_MS / 1000} s`)));
    sent.end(body);
  });
}

/**
 * Asks until the first right answer. Throws a trial error when the server ends, answers wrongly with a
 * status of success, or has not answered rightly by the deadline (in seconds).
 */
export async function awaitRightAnswer(asked: Asked, draw: Draw, deadlineSeconds: number): Promise<void> {
  const deadline = performance.now() + deadlineSeconds * 1000;
  let last = 'no answer';
  while (performance.now() < deadline) {
    const end = asked.ended();
    if (end !== undefined) throw new BenchError('trial', `the server ended before it answered (${end})`);
    const [first] = draw.requests;
    if (first === undefined) throw new Error('a workload without requests');
    const answer = await ask(asked, first).catch((error: Error) => {
      last = error.message;
    });
    if (answer !== undefined) {
      const wrong = draw.check(answer, 0);
      if (wrong === undefined) return;
      if (answer.status < 300) throw new BenchError('trial', `${first.method} ${first.path}: ${wrong}`);
      last = wrong;
    }
    await sleep(POLL_MS);
  }
  throw new BenchError('trial', `no right answer within ${deadlineSeconds} s: ${last}`);
}

/**
 * Asks every request of the draw twice and checks each answer. Gives the bytes that a right answer
 * has, where they are the same each time. Throws a trial error for the first wrong one.
 */
export async function verify(asked: Asked, draw: Draw, when: string): Promise<ExpectedBody | undefined> {
  let expected: ExpectedBody | undefined;
  for (const [index, spec] of [...draw.requests.entries(), ...draw.requests.entries()]) {
    const answer = await ask(asked, spec).catch((error: Error) => {
      throw new BenchError('trial', `${spec.method} ${spec.path} ${when}: ${error.message}`);
    });
    const wrong = draw.check(answer, index);
    if (wrong !== undefined) throw new BenchError('trial', `${spec.method} ${spec.path} ${when}: ${wrong}`);
    const seen = {
      bytes: answer.body.length,
      sha256: createHash('sha256').update(answer.body).digest('hex'),
    };
    if (draw.fixedBody && expected !== undefined && seen.sha256 !== expected.sha256) {
      throw new BenchError(
        'trial',
        `${spec.method} ${spec.path} ${when}: two right answers differ in their bytes`,
      );
    }
    expected = seen;
  }
  return draw.fixedBody && draw.requests.length === 1 ? expected : undefined;
}
