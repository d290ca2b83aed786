import { createHash } from 'node:crypto';
import { basename, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pWaitFor from 'p-wait-for';
import { haveIds, ID, type Draw, type WorkloadRequest } from '../catalogue/workloads/workload.ts';
import { BenchError } from '../errors.ts';
import { describeEnd } from '../machine/launch.ts';
import { sendRequest, EndlessError, UnansweredError, type Endpoint } from '../machine/request.ts';
import type { ExpectedBody } from '../load/protocol.ts';
import { toAuthority } from '../machine/ports.ts';

const POLL_MS = 5;
/** The time for which a server may refuse its first request: it may mount its routes after it listens. */
const SETTLE_MS = 1000;
const REFUSED_POLL_MS = 50;
/** The status codes of a server that is still starting. */
const MAY_BE_STARTING = new Set([408, 425, 429, 500, 502, 503, 504]);

/**
 * Asks until the first right answer. Throws a trial error if the server ends, answers wrongly with a
 * status of success, keeps refusing the request with a status that no starting server gives (404, any other 4xx, 3xx,
 * 501), or has not answered rightly by the deadline (in seconds). Throws at once for an answer
 * that does not end within `answerSeconds`.
 */
export async function awaitRightAnswer(
  asked: Endpoint,
  draw: Draw,
  deadlineSeconds: number,
  answerSeconds?: number,
): Promise<void> {
  const [first] = draw.requests;
  if (first === undefined) throw new Error('a workload without requests');
  let last = 'no answer';
  let refusal: { status: number; sinceMs: number } | undefined;
  const isRight = async (): Promise<boolean> => {
    const end = describeEnd(asked);
    if (end !== undefined) throw new BenchError('trial', `the server ended before it answered (${end})`);
    const answer = await sendRequest(asked, first, answerSeconds).catch((error: Error) => {
      if (error instanceof EndlessError) throw nameRequest(describeAddress(asked, first), error);
      last = error.message;
    });
    if (answer !== undefined) {
      const wrong = draw.check(answer, 0);
      if (wrong === undefined) return true;
      if (answer.status < 300)
        throw new BenchError('trial', `${describeAddress(asked, first)}: ${wrong}${describeLog(asked)}`);
      last = wrong;
      const { status } = answer;
      if (MAY_BE_STARTING.has(status)) refusal = undefined;
      else if (refusal?.status !== status) refusal = { status, sinceMs: performance.now() };
      else if (performance.now() - refusal.sinceMs >= SETTLE_MS)
        throw new BenchError('trial', `${describeAddress(asked, first)}: ${wrong}${describeLog(asked)}`);
    }
    if (refusal !== undefined) await sleep(REFUSED_POLL_MS);
    return false;
  };
  const fallback = (): never => {
    throw new BenchError(
      'trial',
      `${describeAddress(asked, first)}: no right answer within ${deadlineSeconds} s: ${last}${describeLog(asked)}`,
    );
  };
  const timeout = { milliseconds: Math.ceil(deadlineSeconds * 1000), fallback };
  await pWaitFor(isRight, { interval: POLL_MS, timeout });
}

function describeAddress(asked: Endpoint, { method, path }: WorkloadRequest): string {
  return `${method} http://${toAuthority(asked)}${path}`;
}

function describeLog({ logFile }: Endpoint): string {
  if (logFile === undefined) return '';
  const near = relative(process.cwd(), logFile);
  return `; its log is ${near.startsWith('..') ? basename(logFile) : near}`;
}

/**
 * Sends every request of the draw in turn, then the first once more, then those that the server must refuse, and checks
 * each answer. Returns the right answer to each request if its bytes are the same each time. Throws a trial error for
 * the first wrong answer.
 */
export async function verify(
  asked: Endpoint,
  draw: Draw,
  when: string,
  answerSeconds?: number,
): Promise<ExpectedBody[] | undefined> {
  const fail = ({ method, path }: WorkloadRequest, problem: string, isUnanswered = false): never => {
    const Kind = isUnanswered ? UnansweredError : BenchError;
    throw new Kind('trial', `${method} ${path} ${when}: ${problem}`);
  };
  const askFor = (spec: WorkloadRequest) =>
    sendRequest(asked, spec, answerSeconds).catch((error: Error) =>
      fail(spec, error.message, error instanceof UnansweredError),
    );
  const expected: ExpectedBody[] = [];
  const cycle = [...draw.requests.entries()];
  for (const [index, spec] of [...cycle, ...cycle.slice(0, 1)]) {
    const answer = await askFor(spec);
    const wrong = draw.check(answer, index);
    if (wrong !== undefined) fail(spec, wrong);
    const seen = describeBody(answer.body, haveIds([spec]));
    const before = expected[index];
    if (draw.fixedBody && before !== undefined && seen.sha256 !== before.sha256)
      fail(spec, 'two right answers differ in their bytes');
    expected[index] = seen;
  }
  for (const spec of draw.refused ?? []) {
    const { status } = await askFor(spec);
    if (status < 400 || status > 499) fail(spec, `a bad body was not refused: status ${status}`);
  }
  return draw.fixedBody ? expected : undefined;
}

function nameRequest(address: string, { code, message, hint }: BenchError): EndlessError {
  return new EndlessError(code, `${address}: ${message}`, hint);
}

function describeBody(body: Buffer, hasId: boolean): ExpectedBody {
  return {
    bytes: body.length,
    sha256: createHash('sha256').update(body).digest('hex'),
    ...(hasId ? { around: body.toString('latin1').split(ID) } : {}),
  };
}
