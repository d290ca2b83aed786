import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pWaitFor from 'p-wait-for';
import {
  haveIds,
  ID,
  isSafe,
  takeRequest,
  type Answer,
  type Draw,
  type Route,
  type WorkloadRequest,
} from 'bench-targets/catalogue/workloads/workload';
import { BenchError, TrialError } from 'bench-model/errors';
import { describeEnd, listensElsewhere } from 'bench-machine/launch';
import {
  sendRequest,
  ANSWER_SECONDS,
  EndlessError,
  UnansweredError,
  UnmeasurableError,
  type Endpoint,
} from 'bench-targets/catalogue/workloads/send';
import type { ExpectedBody, LoadSpec } from 'bench-load/protocol';
import { seeProtocol, toOrigin } from 'bench-machine/tls';
import { FaultError, seeElsewhere, type Fault, type Seen } from './fault.ts';

const POLL_MS = 5;
/** The time for which a server may refuse its first request: it may mount its routes after it listens. */
const SETTLE_MS = 1000;
const REFUSED_POLL_MS = 50;
/** The least time for a response, also just before the deadline: a busy machine takes some ms. */
const LEAST_SECONDS = 1;
/** The time between the end of a connection and that of its process. */
const END_MS = 1000;
/** The pause after which a server that gives no HTTP/1.1 answer is asked for its protocol again. */
const PROTOCOL_MS = 500;
/** A server that gives the correct response on another port for this long, or for a tenth of the limit, stays there. */
const ELSEWHERE_MS = 3000;
/** The status codes of a server that is still starting. */
const MAY_BE_STARTING = new Set([408, 425, 429, 500, 502, 503, 504]);

/**
 * Asks until the first correct response. Throws a trial error if the server ends, answers wrongly with a
 * status of success, keeps refusing the request with a status that no starting server gives (404, any other 4xx, 3xx,
 * 501), gives the correct response on another port, or has not answered rightly by the deadline (in seconds). Throws at once for
 * a response that no load can repeat, such as one that does not end within `answerSeconds`.
 */
export async function awaitRightAnswer(
  endpoint: Endpoint,
  draw: Draw,
  deadlineSeconds: number,
  answerSeconds = ANSWER_SECONDS,
): Promise<void> {
  const { request: first, index } = takeRequest(draw);
  const beganMs = performance.now();
  let last: Seen = { fault: { kind: 'silent' }, text: 'no response' };
  let refusal: { status: number; sinceMs: number } | undefined;
  const isRightFor = (answer: Answer): boolean => draw.check(answer, index) === undefined;
  const patienceMs = Math.min(ELSEWHERE_MS, deadlineSeconds * 100);
  const refuseElsewhere = watchElsewhere(endpoint, { request: first, isRightFor }, patienceMs);
  const refuseProtocol = watchProtocol(endpoint, first);
  const isRight = async (): Promise<boolean> => {
    const end = describeEnd(endpoint);
    if (end !== undefined)
      throw new FaultError({ kind: 'ended', end }, `the server ended before it responded (${end})`);
    const waitedMs = performance.now() - beganMs;
    const seconds = Math.min(answerSeconds, Math.max(LEAST_SECONDS, deadlineSeconds - waitedMs / 1000));
    const answer = await sendRequest(endpoint, first, seconds).catch(async (error: Error) => {
      // A server that is being stopped is not asked again.
      if (endpoint.stopped?.aborted === true) throw new TrialError('interrupted');
      // With more time, its response may have ended.
      const isCut = error instanceof EndlessError && seconds < answerSeconds;
      if (error instanceof UnmeasurableError && !isCut)
        throw nameRequest(describeAddress(endpoint, first), error);
      last = seeNothing(endpoint, error);
      if (last.fault.kind !== 'not-listening') await refuseProtocol(last);
    });
    if (answer !== undefined) {
      const wrong = draw.check(answer, index);
      if (wrong === undefined) return true;
      last = { fault: { kind: 'wrong-answer', request: first, answer }, text: wrong };
      const { status } = answer;
      // Some servers refuse plain HTTP on a port of TLS in plain HTTP.
      if (status === 400) await refuseProtocol(last);
      if (MAY_BE_STARTING.has(status)) refusal = undefined;
      else {
        if (refusal?.status !== status) refusal = { status, sinceMs: waitedMs };
        if (waitedMs - refusal.sinceMs >= (status < 300 ? 0 : SETTLE_MS))
          throw new FaultError(last.fault, `${describeAddress(endpoint, first)}: ${wrong}`);
      }
    } else await refuseElsewhere();
    // A slow server is asked less often: each request takes CPU from its start.
    await sleep(refusal === undefined ? waitedMs / 100 : REFUSED_POLL_MS);
    return false;
  };
  const fallback = (): never => {
    const { fault, text } = seeElsewhere(endpoint) ?? last;
    throw new FaultError(
      fault,
      `${describeAddress(endpoint, first)}: no correct response within ${deadlineSeconds} s: ${text}`,
    );
  };
  const timeout = { milliseconds: Math.ceil(deadlineSeconds * 1000), fallback };
  await pWaitFor(isRight, { interval: POLL_MS, timeout });
}

/**
 * Returns a function that is called while nothing answers. After `patienceMs` it throws a trial error if the correct response
 * comes from another interface, or from another port although the command names none. A command that names its port is
 * waited for: the other port may be for metrics.
 */
function watchElsewhere(
  endpoint: Endpoint,
  { request, isRightFor }: { request: WorkloadRequest; isRightFor: (answer: Answer) => boolean },
  patienceMs: number,
): () => Promise<void> {
  let nextMs = performance.now() + patienceMs;
  return async () => {
    if (performance.now() < nextMs) return;
    nextMs = performance.now() + patienceMs;
    for (const { address, port } of listensElsewhere(endpoint)) {
      if (port !== endpoint.port && endpoint.mayIgnorePort !== true) continue;
      const host = ANY_ADDRESS.has(address) ? endpoint.host : address;
      const answer = await sendRequest({ ...endpoint, host, port }, request, 1).catch(() => undefined);
      if (answer === undefined || !isRightFor(answer)) continue;
      const seen = seeElsewhere(endpoint);
      if (seen !== undefined)
        throw new FaultError(seen.fault, `${describeAddress(endpoint, request)}: ${seen.text}`);
    }
  };
}

/** The faults of a protocol: no patience mends them. */
const PROTOCOL_FAULTS: ReadonlySet<Fault['kind']> = new Set(['tls', 'no-tls', 'http2', 'untrusted']);

/**
 * Returns a function that is called with what was seen instead of a correct response. It throws a trial error if the server
 * speaks another protocol, for which it asks the server now and then.
 */
function watchProtocol(endpoint: Endpoint, first: WorkloadRequest): (seen: Seen) => Promise<void> {
  let nextMs = -Infinity;
  const refuse = ({ fault, text }: Seen): never => {
    throw new FaultError(fault, `${describeAddress(endpoint, first)}: ${text}`);
  };
  return async (seen) => {
    if (PROTOCOL_FAULTS.has(seen.fault.kind)) refuse(seen);
    if (endpoint.tls === undefined && performance.now() >= nextMs) {
      const kind = await seeProtocol(endpoint.host, endpoint.port);
      nextMs = performance.now() + PROTOCOL_MS;
      if (kind === 'tls') refuse({ fault: { kind }, text: 'the server speaks TLS, but the request did not' });
      if (kind === 'http2') refuse({ fault: { kind }, text: 'the server speaks HTTP/2 without TLS' });
    }
    if (seen.fault.kind === 'no-http') refuse(seen);
  };
}

/** The addresses of a server that listens on every interface. */
const ANY_ADDRESS = new Set(['0.0.0.0', '::']);

function describeAddress(endpoint: Endpoint, request: WorkloadRequest): string {
  return nameSent({ ...request, path: `${toOrigin(endpoint)}${request.path}` });
}

/**
 * Sends the login of a draw until it succeeds, as `awaitRightAnswer` does. Returns the draw with its token, or the same draw
 * if it has no login.
 */
export async function logIn(
  endpoint: Endpoint,
  draw: Draw,
  deadlineSeconds: number,
  answerSeconds?: number,
): Promise<Draw> {
  const { login } = draw;
  if (login === undefined) return draw;
  let complete = draw;
  const first: Draw = {
    requests: [login.request],
    files: {},
    fixedBody: false,
    check(answer) {
      const found = login.complete(answer);
      if (typeof found === 'string') return `the login failed: ${found}`;
      complete = { ...draw, ...found };
      return undefined;
    },
  };
  await awaitRightAnswer(endpoint, first, deadlineSeconds, answerSeconds).catch((error: unknown) => {
    if (!(error instanceof FaultError) || error.fault.kind !== 'wrong-answer') throw error;
    throw new FaultError({ kind: 'refuses-login', request: login.request }, error.message);
  });
  const { login: _, ...rest } = complete;
  return rest;
}

/** The errors of OpenSSL for a response in plain text. */
const NO_TLS = /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|RECORD_LAYER_FAILURE/;
const NO_TLS_TEXT = /wrong version number|packet length too long/i;
const UNTRUSTED = /CERT|UNABLE_TO_VERIFY|HOSTNAME_MISMATCH/;

/** Says what it means that a request got no response. */
function seeNothing({ port, tls }: Endpoint, error: NodeJS.ErrnoException): Seen {
  if (error instanceof UnansweredError)
    return { fault: { kind: 'silent' }, text: 'it accepts connections, but does not respond' };
  const { code, message } = error;
  if (code === 'ECONNREFUSED')
    return { fault: { kind: 'not-listening' }, text: `nothing listens on port ${port}` };
  if (code === 'EADDRNOTAVAIL')
    return { fault: { kind: 'silent' }, text: 'this machine has no free port for a connection' };
  if (tls !== undefined) {
    if (NO_TLS.test(code ?? '') || NO_TLS_TEXT.test(message))
      return { fault: { kind: 'no-tls' }, text: 'the server responds without TLS' };
    if (code?.includes('NO_APPLICATION_PROTOCOL'))
      return { fault: { kind: 'http2' }, text: 'the server speaks TLS, but not HTTP/1.1' };
    if (UNTRUSTED.test(code ?? ''))
      return { fault: { kind: 'untrusted' }, text: `the certificate is not valid: ${message}` };
  }
  if (code?.startsWith('HPE_') === true)
    return { fault: { kind: 'no-http' }, text: `its response is not valid HTTP: ${message}` };
  const isClosed = code === 'ECONNRESET' || code === 'EPIPE';
  return isClosed
    ? { fault: { kind: 'hangs-up' }, text: 'it closes the connection without a response' }
    : { fault: { kind: 'silent' }, text: message };
}

/** Says that a server has ended; undefined if it still runs. Its connections end shortly before. */
export async function seeEnd(endpoint: Endpoint): Promise<Seen | undefined> {
  const timeout = { milliseconds: END_MS, fallback: () => {} };
  await pWaitFor(() => endpoint.ended() !== undefined, { interval: POLL_MS, timeout });
  const end = describeEnd(endpoint);
  return end === undefined ? undefined : { fault: { kind: 'ended', end }, text: `the server ended (${end})` };
}

/**
 * Sends every request of the draw in turn, then the first once more, then those that the server must refuse, and checks
 * each response. Requests whose correct response is the one before the load are all sent twice: a body that differs the second
 * time is not compared under load. Returns the correct response to each request, null for one whose bytes may differ;
 * undefined if all may. Requests that are sent once are not repeated. Throws a trial error for the first wrong response.
 */
export async function verify(
  endpoint: Endpoint,
  draw: Draw,
  when: string,
  answerSeconds?: number,
): Promise<Expected> {
  const fail = (spec: WorkloadRequest, problem: string, fault?: Fault): never => {
    const message = `${nameSent(spec)} ${when}: ${problem}`;
    throw fault === undefined ? new TrialError(message) : new FaultError(fault, message);
  };
  const askFor = (spec: WorkloadRequest) =>
    sendRequest(endpoint, spec, answerSeconds).catch(async (error: Error) => {
      if (error instanceof UnansweredError)
        throw new UnansweredError('trial', `${nameSent(spec)} ${when}: ${error.message}`);
      if (error instanceof UnmeasurableError) throw nameRequest(`${nameSent(spec)} ${when}`, error);
      const { fault, text } = (await seeEnd(endpoint)) ?? seeNothing(endpoint, error);
      return fail(spec, text, fault);
    });
  const { requests, routes, probes = [...requests.keys()] } = draw;
  const expected: (ExpectedBody | null)[] = requests.map(() => null);
  const routeOf = (index: number): Route | undefined =>
    routes?.find(({ first, count }) => index >= first && index < first + count);
  const again =
    routes === undefined ? probes.slice(0, 1) : probes.filter((index) => routeOf(index)?.once === undefined);
  for (const [turn, probe] of [...probes, ...again].entries()) {
    const { request: spec, index } = takeRequest(draw, probe);
    const route = routeOf(index);
    const answer = await askFor(spec);
    const wrong = draw.check(answer, index);
    if (wrong !== undefined) {
      // The first request was answered rightly when the server became ready.
      const isRepeated = route?.once === undefined && (index === 0 || turn >= probes.length);
      const refusesRepeats = isRepeated && answer.status >= 400 && !isSafe(spec);
      fail(spec, wrong, {
        ...(refusesRepeats ? { kind: 'refuses-repeats' } : { kind: 'wrong-answer', answer }),
        request: spec,
      });
    }
    if (route?.isFixed === false || route?.once !== undefined) continue;
    const seen = describeBody(answer.body, haveIds([spec]));
    const isFirst = turn < probes.length;
    const isSame = isFirst || expected[index]?.sha256 === seen.sha256;
    if (!isSame && draw.fixedBody && route?.learns !== true)
      fail(spec, 'two correct responses differ in their bytes');
    if (isFirst) expected[index] = seen;
    else if (!isSame) expected[index] = null;
  }
  for (const { first, count, learns } of routes ?? []) {
    // Rows of one route are alike: a response that differs for one of them differs for the others sooner or later.
    const seen = probes.filter((index) => index >= first && index < first + count);
    if (learns && seen.some((index) => expected[index] === null)) expected.fill(null, first, first + count);
  }
  for (const spec of draw.refused ?? []) {
    const { status } = await askFor(spec);
    if (status < 400 || status > 499) fail(spec, `a bad body was not refused: status ${status}`);
  }
  return draw.fixedBody && expected.some((one) => one !== null) ? expected : undefined;
}

/** The correct response to each request, as far as it is the same bytes each time. */
export type Expected = LoadSpec['expected'];

/** A request as it was sent, and the row that filled in its placeholders. */
function nameSent({ method, path, row }: WorkloadRequest): string {
  return `${method} ${path}${row === undefined ? '' : ` (${row})`}`;
}

function nameRequest(name: string, { code, message, hint }: BenchError): BenchError {
  return new BenchError(code, `${name}: ${message}`, hint);
}

function describeBody(body: Buffer, hasId: boolean): ExpectedBody {
  return {
    bytes: body.length,
    sha256: createHash('sha256').update(body).digest('hex'),
    ...(hasId ? { around: body.toString('latin1').split(ID) } : {}),
  };
}
