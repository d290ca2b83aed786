/** The requests to measure: which of a server's routes it answers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { BenchError } from 'bench-model/errors';
import { present } from 'bench-model/options';
import type { UserRequest } from 'bench-model/requests';
import type { Server } from 'bench-machine/launch';
import { pathsInFiles, pathsInLog, type NamedPath } from 'bench-targets/catalogue/apps/routes';
import { readOpenapi } from 'bench-targets/catalogue/workloads/requests/openapi';
import { joinWords } from 'bench-targets/catalogue/apps/words';
import { sendRequest, UnansweredError, UnmeasurableError } from 'bench-targets/catalogue/workloads/send';
import { excerpt, nameStatus } from 'bench-targets/catalogue/workloads/workload';
import { countOf } from 'bench-report/format';
import { listAll } from 'bench-report/words';
import { FaultError } from '../measure/fault.ts';
import { seeEnd } from '../measure/verify.ts';
import { ask } from '../terminal/ask.ts';
import { say } from './say.ts';

/** The paths at which frameworks serve their OpenAPI document. */
const DOCUMENTS = [
  '/openapi.json',
  '/openapi.yaml',
  '/swagger.json',
  '/v3/api-docs',
  '/api/openapi.json',
  '/api/v1/openapi.json',
  '/schema/openapi.json',
  '/api-json',
  '/swagger/doc.json',
  '/doc',
  '/docs/json',
  '/docs-json',
  '/api/docs/json',
  '/api-docs',
  '/api-docs.json',
  '/documentation/json',
  '/swagger/v1/swagger.json',
];
/** The most routes that are tried, and that are written. */
const MOST_TRIED = 40;
/** The longest time that a server may call itself unavailable after it listens. */
const UNAVAILABLE_MS = 10_000;
const POLL_MS = 200;
const MOST_WRITTEN = 5;
/** More routes that are left out for one reason are told in one line. */
const MOST_ALIKE = 3;
/** The paths that are tried beside those that the project names. */
const USUAL = 'a usual path';
const USUAL_PATHS = ['/', '/health', '/healthz', '/api', '/api/health'];

/** A request as a manifest writes it. */
export type Written =
  | string
  | { request: string; headers?: Record<string, string>; expect?: { status: number } };

/** A server to ask, the folder of its project, and the description of its start for errors. */
export interface Asking {
  server: Server;
  /** The headers of every request. */
  headers: Readonly<Record<string, string>>;
  root: string;
  describe: () => string[];
}

/** Returns the requests to measure, each of which was answered with 2xx. Throws if there is none, and a fault if the server ends. */
export async function chooseRequests(get: readonly string[], asking: Asking): Promise<Written[]> {
  const { server, root } = asking;
  await untilAvailable(get[0] ?? '/', asking);
  if (get.length > 0) {
    const named: Asked[] = [];
    for (const path of get) named.push(await requireAnswer(path, asking));
    return toWritten(named, asking);
  }
  const { document, routes } = await readRoutes(asking);
  const told = routes.map((route) => ({ ...route, why: document }));
  const usual = USUAL_PATHS.map((path) => ({ path, why: USUAL }));
  const named = (): Named[] => [...pathsInLog(server.log()), ...pathsInFiles(root), ...usual];
  const tried: Tried[] = [];
  for (const paths of [() => told, named]) {
    const right = withoutAsides(await tryPaths(paths(), asking, tried));
    if (right.length === 0) continue;
    const chosen = right.slice(0, MOST_WRITTEN);
    const rest = right.length - chosen.length;
    const least = rest === 0 ? '' : `, the first of ${right.length} that answer`;
    say(
      'assumed',
      `${countOf(chosen.length, 'request')}${least}; --get names others. Only GET is tried: stack.json may hold other methods`,
    );
    await mindLimit(chosen[0], asking);
    return toWritten(chosen, asking);
  }
  const typed = await ask('Which path should Bench request, e.g. /orders?limit=20? ');
  if (typed !== undefined && typed !== '') {
    return toWritten([await requireAnswer(typed, asking)], asking);
  }
  throw foundNone(tried, asking);
}

/** Two of three random bodies are equal by chance in a third of cases, ten in 1 of 20,000: as many as this time holds. */
const VARYING = { answers: 10, ms: 500 };

/** Returns requests as a manifest writes them. Of one whose body varies, only the status is expected. */
async function toWritten(chosen: readonly Asked[], asking: Asking): Promise<Written[]> {
  const all: Written[] = [];
  for (const one of chosen) {
    const { path, headers = {} } = one;
    const status = await statusOfVarying(one, asking);
    if (status !== undefined)
      say('found', `GET ${path}: its body varies, so only its status is checked: \`expect\` in stack.json`);
    const request = `GET ${path}`;
    const more = present({
      headers: Object.keys(headers).length === 0 ? undefined : headers,
      expect: status === undefined ? undefined : { status },
    });
    all.push(Object.keys(more).length === 0 ? request : { request, ...more });
  }
  return all;
}

/** Returns the status of a request if its answers have different bodies. */
async function statusOfVarying(one: Asked, asking: Asking): Promise<number | undefined> {
  const bodies = new Set<string>();
  const untilMs = performance.now() + VARYING.ms;
  for (let count = 0; count < VARYING.answers && (count < 2 || performance.now() < untilMs); count += 1) {
    const { status, isRight, body } = await look(asking, one);
    if (!isRight) return undefined;
    if (bodies.add(body).size > 1) return status;
  }
  return undefined;
}

/** Returns the error of a server without a request to measure: what it answered, and what was left out although it answered. */
function foundNone(tried: readonly Tried[], asking: Asking): BenchError {
  const growing = tried.filter((one) => one.isGrowing);
  // Beside a path that answers, one that does not exist tells nothing.
  const refused = tried.filter((one) => !one.isGrowing && (growing.length === 0 || one.status !== 404));
  const answers = refused
    .slice(0, MOST_WRITTEN)
    .map(({ path, words }) => `${path} ${words}`)
    .join(', ');
  const needs = tried.find((one) => one.needs !== undefined)?.needs ?? "name one: --get '/orders?limit=20'";
  // A server that fails says why in its log.
  const log = tried.some(({ status = 0 }) => status >= 500) ? asking.describe() : [];
  const [first] = growing;
  if (first === undefined)
    return new BenchError(
      'usage',
      [`found no path that the server answers with 2xx: ${answers}`, ...log].join('\n'),
      needs,
    );
  const named = listAll(growing.map(({ path }) => `GET ${path}`));
  const left = growing.length === 1 ? `answers with 2xx, but was` : 'answer with 2xx, but were';
  const why = growing.length === 1 ? GROWS : 'their answers grow with each request';
  const others = answers === '' ? '' : `. Not answered with 2xx: ${answers}`;
  return new BenchError(
    'usage',
    [`${named} ${left} left out, because ${why}${others}`, ...log].join('\n'),
    `to measure it anyway: --get ${joinWords([first.path])}. Otherwise, ${needs}`,
  );
}

/** Waits while a server answers 503: some do until their first look at their load or their database. */
async function untilAvailable(path: string, asking: Asking): Promise<void> {
  const deadline = performance.now() + UNAVAILABLE_MS;
  while (performance.now() < deadline) {
    const { status } = await look(asking, { path });
    if (status !== 503) return;
    await sleep(POLL_MS);
  }
}

/** A path that is not measured. */
interface Tried {
  path: string;
  status: number | undefined;
  words: string;
  /** What the request lacks. */
  needs?: string;
  /** True if it was left out, because its answer grows. */
  isGrowing?: true;
}

/** A path, and the headers that its request needs. */
type Asked = Pick<NamedPath, 'path'> & Partial<Pick<UserRequest, 'headers'>>;

/** A path to try, and what names it. */
type Named = NamedPath & Asked;

/** A path that was answered with 2xx, and the shorter time of two answers, in seconds. */
type Answered = Named & { seconds: number };

/** Paths that only say that a server is well, or what it counts. */
const CHECK = /\/(?:health(?:z|[-_]?check)?|livez|liveness|readyz|readiness|ping|metrics)\/?$/i;

/** From this time on, in seconds, a window holds too few answers to compare. */
const SLOW_SECONDS = 1;

/** Says why a path is not measured beside others: it takes their time, and nobody asks what it costs. */
function asideFor({ path, seconds }: Answered): string | undefined {
  if (CHECK.test(path)) return 'a health check';
  return seconds < SLOW_SECONDS ? undefined : `an answer takes ${seconds.toFixed(1)} s`;
}

/** Leaves out health checks and slow answers beside other routes. */
function withoutAsides(all: Answered[]): Answered[] {
  const others = all.filter((one) => asideFor(one) === undefined);
  if (others.length === 0) return all;
  for (const one of all) {
    const why = asideFor(one);
    if (why !== undefined) say('left out', `GET ${one.path}: ${why}; --get measures it anyway`);
  }
  return others;
}

/** Asks for each path, says what came, and returns those that were answered with 2xx. Redirects are followed to other paths. */
async function tryPaths(paths: readonly Named[], asking: Asking, tried: Tried[]): Promise<Answered[]> {
  const queue = [...paths];
  const seen = new Set<string>();
  const right: Answered[] = [];
  /** The first path with each answer. */
  const bodies = new Map<string, string>();
  while (queue.length > 0 && seen.size < MOST_TRIED) {
    const [next] = queue.splice(0, 1);
    if (next === undefined || seen.has(next.path)) continue;
    seen.add(next.path);
    const { one, answer } = await askLikeOthers(asking, next);
    const { status, isRight, needs, words, body, location, seconds } = answer;
    // A path that is guessed tells nothing if everyone needs a login, or if each path has the same answer.
    const isGuessed = one.why === USUAL;
    const same = isRight ? bodies.get(body) : undefined;
    if (isGuessed && same !== undefined) continue;
    // A single-page application answers each path with its page.
    if (same !== undefined && body.trimStart().startsWith('<')) {
      say('left out', `GET ${one.path}: the same page as GET ${same}`);
      continue;
    }
    bodies.set(body, one.path);
    const again = isRight ? await askAgain(asking, one, body) : undefined;
    if (again?.isGrowing === true) {
      say('left out', `GET ${one.path}: ${words}; ${GROWS}, so it writes. --get measures it anyway`);
      tried.push({ path: one.path, status, words, isGrowing: true });
      continue;
    }
    if (status !== 404 && (!isGuessed || isRight || needs === undefined)) {
      say(
        isRight ? 'asked' : 'left out',
        `GET ${one.path}: ${words}${needs === undefined ? '' : `; ${needs}`}`,
      );
    }
    // A first answer may be slow because of what it loads.
    if (again !== undefined) right.push({ ...one, seconds: Math.min(seconds, again.seconds) });
    else tried.push({ path: one.path, status, words, ...present({ needs }) });
    if (location !== undefined) queue.unshift({ path: location, why: one.path });
  }
  return right;
}

/** The headers that every browser and HTTP library sends, but no load generator: some servers fail or refuse without them. */
const USUAL_HEADERS = { 'user-agent': 'bench-http', accept: '*/*' };

/** Further tries with the usual headers, which must be right, and without, which must not: a path that fails by chance does not need them. */
const TRIES = [true, true, false, false];

/** Asks as a load generator does. If the server fails or refuses, asks with the usual headers, and keeps them if they help. */
async function askLikeOthers<T extends Asked>(asking: Asking, one: T): Promise<{ one: T; answer: Look }> {
  const answer = await look(asking, one);
  const { status = 0 } = answer;
  if (status < 500 && ![400, 403, 406].includes(status)) return { one, answer };
  const like = { ...one, headers: { ...USUAL_HEADERS, ...one.headers } };
  const again = await look(asking, like);
  if (!again.isRight) return { one, answer };
  for (const hasThem of TRIES)
    if ((await look(asking, hasThem ? like : one)).isRight !== hasThem) return { one, answer };
  const words = `${again.words}; without the headers ${listAll(Object.keys(USUAL_HEADERS))}, status ${status}`;
  return { one: like, answer: { ...again, words } };
}

const GROWS = 'its answer grows with each request';
/** Chance lets the lengths of this many answers rise in 1 of 720 cases. */
const GROWING = 6;

/**
 * Asks again: does a request add to its own answer, so that each round of a comparison would cost more than the one before? Also returns the
 * time of the last answer, in seconds.
 */
async function askAgain(
  asking: Asking,
  one: Asked,
  first: string,
): Promise<{ isGrowing: boolean; seconds: number }> {
  let last = first.length;
  let seconds = 0;
  for (let count = 2; count <= GROWING; count += 1) {
    const again = await look(asking, one);
    seconds = again.seconds;
    if (!again.isRight || again.body.length <= last) return { isGrowing: false, seconds };
    last = again.body.length;
  }
  return { isGrowing: true, seconds };
}

/** Enough requests to meet a limit that no header tells, mostly 100 a minute, and the longest time for them. The load finds a higher one. */
const BURST = { requests: 120, ms: 1000 };

/** The headers by which servers tell their limit: of the IETF draft, with a window or without, and of those before it. */
const LIMIT_HEADERS = ['ratelimit-policy', 'ratelimit-limit', 'x-ratelimit-limit', 'x-rate-limit-limit'];

/** Says so if the server limits the rate of requests: it would answer the load with 429. */
async function mindLimit(one: Named | undefined, asking: Asking): Promise<void> {
  if (one === undefined) return;
  const end = performance.now() + BURST.ms;
  for (let count = 1; count <= BURST.requests && performance.now() < end; count += 1) {
    const { status, told } = await look(asking, one);
    if (told === undefined && status !== 429) continue;
    const words = told === undefined ? `answered 429 after ${count}` : `says ${told}`;
    say('warning', `it limits the rate of requests, and ${words}: raise its limit`);
    return;
  }
}

/** Returns a path that is answered with 2xx, with the headers that this needs. Throws if it is not. */
async function requireAnswer(path: string, asking: Asking): Promise<Asked> {
  const { one, answer } = await askLikeOthers<Asked>(asking, { path });
  const { status, isRight, needs, words, body } = answer;
  if (!isRight) {
    throw new BenchError(
      'trial',
      [`GET ${path}: ${words}${needs === undefined ? '' : `; ${needs}`}`, ...asking.describe()].join('\n'),
      needs === undefined ? 'name a path that answers with 2xx: --get' : hintFor(status),
    );
  }
  say('asked', `GET ${path}: ${words}`);
  if ((await askAgain(asking, one, body)).isGrowing)
    say('warning', `${GROWS}, so each round costs more than the one before`);
  return one;
}

/** Says how to go on with a path that the server refuses. */
function hintFor(status: number | undefined): string {
  return status === 429
    ? 'raise the limit, or name a path without one: --get'
    : 'send it with --header, or name a path that needs none: --get. Later, add `login` and the path to stack.json';
}

/** What a server answered. */
interface Look {
  /** Undefined without an answer. */
  status?: number;
  isRight: boolean;
  words: string;
  body: string;
  /** The time that it took. */
  seconds: number;
  /** What the request lacks, by its status. */
  needs?: string;
  /** The path on this server that it leads to. */
  location?: string;
  /** The header that tells its limit of requests. */
  told?: string;
}

/** What a request lacks, by the status of its answer. */
const NEEDS: Record<number, string> = {
  401: "it needs a login: --header 'authorization: Bearer …', or `login` in stack.json",
  403: 'it needs a login or a permission: --header, or `login` in stack.json',
  429: 'the server limits the rate of requests; raise its limit for the measurement',
};

async function look({ server, headers: shared }: Asking, { path, headers = {} }: Asked): Promise<Look> {
  const began = performance.now();
  const seconds = (): number => (performance.now() - began) / 1000;
  try {
    const answer = await sendRequest(server, {
      method: 'GET',
      path,
      headers: { ...shared, ...headers },
    });
    const { status, contentType, body, headers: told } = answer;
    // A page of an error is long, and tells nothing in its first line.
    const reason = status >= 500 && !contentType.includes('html') ? excerpt(body).trim() : '';
    const kind = (contentType.split(';')[0] ?? '') || 'no content type';
    const to = status >= 300 && status < 400 ? told?.['location'] : undefined;
    const location = to === undefined ? undefined : pathOn(server, to, path);
    const isLogin = location !== undefined && /log-?in|sign-?in|auth/i.test(location);
    const limiting = LIMIT_HEADERS.find((name) => told?.[name] !== undefined);
    const lacking = NEEDS[status] ?? (isLogin ? NEEDS[401] : undefined);
    const [scheme = 'Bearer'] = /^\w+/.exec(told?.['www-authenticate'] ?? '') ?? [];
    const needs = lacking?.replace('Bearer', scheme);
    return {
      status,
      isRight: status >= 200 && status < 300,
      words: `${nameStatus(answer)}, ${kind}, ${body.length.toLocaleString('en-US')} bytes${reason && `: ${reason}`}`,
      body: body.toString(),
      seconds: seconds(),
      ...(needs === undefined ? {} : { needs }),
      ...(location === undefined ? {} : { location }),
      ...(limiting === undefined ? {} : { told: `${limiting}: ${String(told?.[limiting])}` }),
    };
  } catch (error) {
    // An interruption aborts the request.
    if (server.stopped?.aborted === true) throw error;
    // Only a lost connection may mean that the server has ended.
    const isLost = !(error instanceof UnansweredError || error instanceof UnmeasurableError);
    const end = isLost ? await seeEnd(server) : undefined;
    if (end !== undefined) throw new FaultError(end.fault, end.text);
    return { isRight: false, words: (error as Error).message, body: '', seconds: seconds() };
  }
}

/** Returns the path that a redirect leads to; undefined if it leads to another server. */
function pathOn({ host, port }: Server, to: string, from: string): string | undefined {
  const url = URL.parse(to, `http://${host}:${port}${from}`);
  const isHere = url !== null && ['localhost', '127.0.0.1', host].includes(url.hostname);
  // A login that remembers where one came from is one page.
  return isHere ? url.pathname : undefined;
}

/** The requests that the OpenAPI document of the server allows without knowing it; none if it offers no document. */
async function readRoutes(asking: Asking): Promise<{ document: string; routes: UserRequest[] }> {
  for (const document of DOCUMENTS) {
    const { isRight, body } = await look(asking, { path: document });
    // Some servers answer every path: with their only page, for example.
    if (!isRight || body.trimStart().startsWith('<') || !/openapi|swagger/i.test(body)) continue;
    try {
      const { requests, leftOut } = readOpenapi(body, document);
      say('found', `${document}: ${countOf(requests.length + leftOut.length, 'route')}`);
      for (const [reason, all] of Map.groupBy(leftOut, (one) => one.reason)) {
        const [first] = all;
        if (all.length > MOST_ALIKE)
          say('left out', `${countOf(all.length, 'route')}, such as ${first?.route}: ${reason}`);
        else for (const { route } of all) say('left out', `${route}: ${reason}`);
      }
      return { document, routes: requests.slice(0, MOST_TRIED) };
    } catch (error) {
      if (!(error instanceof BenchError)) throw error;
      say('found', error.message);
    }
  }
  return { document: '', routes: [] };
}
