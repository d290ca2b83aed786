/** The requests to measure: which of a server's routes it answers. */
import type { Server } from 'bench-machine/launch';
import { toAuthority } from 'bench-machine/ports';
import { BenchError, TrialError, UsageError } from 'bench-model/errors';
import type { WrittenRequest } from 'bench-model/manifest';
import { present } from 'bench-model/options';
import { countOf } from 'bench-report/format';
import { AVOIDED, pathsInFiles, pathsInLog } from 'bench-targets/catalogue/apps/routes';
import { parseJson } from 'bench-targets/catalogue/json-file';
import { readOpenapi } from 'bench-targets/catalogue/workloads/requests/openapi';
import { sendRequest, UnansweredError, UnmeasurableError } from 'bench-targets/catalogue/workloads/send';
import { excerpt, nameStatus } from 'bench-targets/catalogue/workloads/workload';
import { FaultError } from '../measure/fault.ts';
import { seeEnd } from '../measure/verify.ts';
import { say, type Asker } from './asker.ts';

/** The paths at which frameworks serve their OpenAPI document. */
const DOCUMENTS =
  '/openapi.json /swagger.json /v3/api-docs /api/openapi.json /api/v1/openapi.json /schema/openapi.json /api-json /swagger/doc.json /docs/json /docs-json /api-docs /documentation/json /swagger/v1/swagger.json';
/** The most routes that are tried, and that are written without a question. */
const MOST_TRIED = 40;
const MOST_WRITTEN = 5;
const QUESTION = 'Which request? e.g. GET /orders?limit=20, or POST /orders {"id":1}; Enter for none';
/** Paths that only say that a server is well, or what it counts. */
const CHECK = /\/(?:health(?:z|[-_]?check)?|livez|liveness|readyz|readiness|ping|metrics)\/?$/i;
/** The most answers that are compared. */
const VARYING = 10;

export interface Sent {
  method: string;
  path: string;
  body?: string | undefined;
}

/** A server to ask, and the folder of its project. */
export interface Asking {
  server: Server;
  /** The headers of every request. */
  headers: Readonly<Record<string, string>>;
  root: string;
}

/** A request, and what came of it. */
export interface Offer extends Sent {
  /** Undefined without an answer. */
  status?: number;
  isRight: boolean;
  words: string;
  answer: string;
  /** The path on the server to which it redirects. */
  leadsTo?: string | undefined;
}

/** Reads a request as a user types it: `/orders`, `GET /orders` or `POST /orders {"id":1}`. */
export function readTyped(typed: string): Sent {
  const [, method = 'GET', path, body] =
    /^(?:(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)\s+)?(\/\S*)(?:\s+(\S.*))?$/is.exec(typed.trim()) ?? [];
  if (path !== undefined) return { method: method.toUpperCase(), path, ...present({ body }) };
  throw new UsageError(`"${typed}" is not a request`, "e.g. 'GET /orders', or 'POST /orders {}'");
}

/** Chooses the requests to measure while a server runs: those that are named, or of those that it answers. */
export async function chooseRequests(asking: Asking, asker: Asker, named: readonly Sent[]): Promise<Offer[]> {
  const typed: Offer[] = [];
  for (const one of named) typed.push(await requireAnswer(one, asking));
  if (typed.length > 0) return typed;
  const { offers, post } = await explore(asking);
  const kindOf = ({ isRight, path }: Offer) => (isRight ? (CHECK.test(path) ? 'checks' : 'plain') : 'wrong');
  const { plain = [], checks = [], wrong = [] } = Object.groupBy(offers, kindOf);
  // A health check is better than nothing.
  const usual = plain.length > 0 ? plain.slice(0, MOST_WRITTEN) : checks.slice(0, 1);
  if (!asker.isUser) for (const one of usual) say('asked', describeOffer(one));
  for (const line of describeAll(asker.isUser ? wrong : offers.filter((one) => !usual.includes(one))))
    say('left out', line);
  // A server that fails at each request misses something; others may need one that is typed.
  const fails = wrong.some(({ status = 0 }) => status >= 500 || status === 400);
  if (usual.length === 0 && (fails || !asker.isUser)) throw foundNone(wrong, post);
  for (;;) {
    const shown = [...typed, ...plain, ...checks];
    const chosen = await asker.pickMany<Offer | 'type' | 'start'>(
      'Which requests?',
      [
        ...shown.map((value) => ({ value, label: `${value.method} ${value.path}`, hint: value.words })),
        { value: 'type', label: 'type one …' },
        { value: 'start', label: 'none: change how it starts …' },
      ],
      shown.length === 0 ? ['type'] : [...typed, ...usual],
    );
    if (chosen.includes('start')) throw foundNone(wrong, post);
    const found = chosen.filter((one) => typeof one === 'object');
    if (found.length > 0 && !chosen.includes('type')) return found;
    const initial = post === undefined ? 'GET /' : `POST ${post} {}`;
    const one = await asker.type(QUESTION, initial, (line) =>
      line === '' ? undefined : requireAnswer(readTyped(line), asking),
    );
    if (one !== undefined) typed.push(one);
  }
}

/** Returns the error of a server without a request to measure. */
function foundNone(offers: readonly Offer[], post: string | undefined): BenchError {
  const answers = describeAll(offers).slice(0, MOST_WRITTEN);
  const none = 'status 404 for each path that its log and its sources name, and for /';
  return new TrialError(
    ['the server serves no request that can be measured:', ...(answers.length > 0 ? answers : [none])].join(
      '\n  ',
    ),
    post === undefined ? "name one: --get '/orders?limit=20'" : `name one: --request 'POST ${post} {…}'`,
  );
}

/** Returns a request that is answered with 2xx. Throws if it is not. */
async function requireAnswer(sent: Sent, asking: Asking): Promise<Offer> {
  const offer = await ask(sent, asking);
  if (!offer.isRight)
    throw new TrialError(describeOffer(offer), 'name one that returns 2xx: --get, --request');
  say('asked', describeOffer(offer));
  return offer;
}

/** Asks for the routes that the server's OpenAPI document, its log and its sources name. Throws a fault if the server ends. */
async function explore(asking: Asking): Promise<{ offers: Offer[]; post: string | undefined }> {
  const { paths, post } = await readDocument(asking);
  const told = await askAll(paths, asking);
  const found = [...pathsInLog(asking.server.log()), ...pathsInFiles(asking.root), '/', '/health'];
  const others = told.some(({ isRight }) => isRight) ? [] : await askAll(found, asking);
  // A POST may change something, so it is only proposed.
  return { offers: [...told, ...others], post };
}

/** Asks for each path once, and for those that they redirect to. A page that several paths show counts once. */
async function askAll(paths: readonly string[], asking: Asking): Promise<Offer[]> {
  const all: Offer[] = [];
  const asked = new Set([...new Set(paths)].slice(0, MOST_TRIED));
  for (const path of asked) {
    const offer = await ask({ method: 'GET', path }, asking);
    if (offer.leadsTo !== undefined) asked.add(offer.leadsTo);
    const isPage = offer.isRight && !/^\s*[[{]/.test(offer.answer);
    const isKnown = isPage && all.some(({ answer }) => answer === offer.answer);
    if (offer.status !== 404 && !isKnown) all.push(offer);
  }
  return all;
}

/** Returns requests as a manifest writes them. Of one whose body varies, only the status is expected. */
export async function toWritten(
  chosen: readonly Offer[],
  asking: Asking,
): Promise<(string | WrittenRequest)[]> {
  const all: (string | WrittenRequest)[] = [];
  for (const { method, path, body, status, answer } of chosen) {
    const request = `${method} ${path}`;
    let varies = method !== 'GET';
    for (let count = 1; count < VARYING && !varies; count += 1)
      varies = (await ask({ method, path }, asking)).answer !== answer;
    if (varies && method === 'GET')
      say('found', `${request}: its body varies, so only its status is checked: \`expect\` in stack.json`);
    const expect = varies && status !== undefined ? { status } : undefined;
    const more = present({ body: body && (parseJson(body) ?? body), expect });
    all.push(Object.keys(more).length === 0 ? request : { request, ...more });
  }
  return all;
}

function describeOffer({ method, path, words }: Offer): string {
  return `${method} ${path}: ${words}`;
}

/** Describes answers, those alike in one line. */
function describeAll(offers: readonly Offer[]): string[] {
  return [...Map.groupBy(offers, ({ words }) => words)].map(([words, [first, ...others]]) => {
    const rest = others.length === 0 ? '' : ` and ${countOf(others.length, 'other')}`;
    return `${first?.method} ${first?.path}${rest}: ${words}`;
  });
}

/** What a request lacks, by the status of its answer. */
const LACKS: Record<number, string> = {
  401: "; it needs a login: --header 'authorization: …', or `login` in stack.json",
  403: '; it needs a login or a permission: --header, or `login` in stack.json',
  429: '; the server limits the rate of requests; raise its limit for the measurement',
};

/** Sends a request as a load generator does. Throws a fault if the server has ended. */
async function ask(sent: Sent, { server, headers: shared }: Asking): Promise<Offer> {
  const { method, path, body } = sent;
  const headers = { ...(body !== undefined && { 'content-type': 'application/json' }), ...shared };
  try {
    const seen = await sendRequest(server, { method, path, headers, ...present({ body }) });
    const { status, contentType } = seen;
    const isRight = status >= 200 && status < 300;
    const answer = seen.body.toString();
    // The page of an error is long: its title says what it is.
    const title = /<title>\s*([^<]*?)\s*<\/title>/is.exec(answer)?.[1] ?? excerpt(answer).trim();
    const reason = status >= 400 && title !== '' ? `: ${title.replaceAll(/\s+/g, ' ')}` : '';
    const type = contentType.split(';')[0] || 'no content type';
    const use = CHECK.test(path) ? ', for monitoring' : '';
    const size = `, ${type}, ${seen.body.length.toLocaleString('en-US')} bytes${use}`;
    const words = `${nameStatus(seen)}${isRight ? size : reason}${LACKS[status] ?? ''}`;
    const base = `http://${toAuthority(server)}`;
    const to = status >= 300 && status < 400 ? new URL(seen.headers?.location ?? '', base) : undefined;
    return {
      ...sent,
      status,
      isRight,
      words,
      answer,
      leadsTo: to?.origin === base ? to.pathname : undefined,
    };
  } catch (error) {
    // An interruption aborts the request.
    if (server.stopped?.aborted === true) throw error;
    // Only a lost connection may mean that the server has ended.
    const isLost = !(error instanceof UnansweredError || error instanceof UnmeasurableError);
    const end = isLost ? await seeEnd(server) : undefined;
    if (end !== undefined) throw new FaultError(end.fault, end.text);
    return { ...sent, isRight: false, words: (error as Error).message, answer: '' };
  }
}

/** A route of a document that takes a POST and no parameter. */
const POST = /"(\/[^"{}]*)"\s*:\s*\{\s*"post"/;

/** Returns the routes of the server's OpenAPI document that can be asked without knowing it, and one of POST; none without a document. */
async function readDocument(asking: Asking): Promise<{ paths: string[]; post?: string | undefined }> {
  for (const path of DOCUMENTS.split(' ')) {
    const { isRight, answer } = await ask({ method: 'GET', path }, asking);
    // Some servers answer every path: with their only page, for example.
    if (!isRight || answer.trimStart().startsWith('<') || !/openapi|swagger/i.test(answer)) continue;
    const post = POST.exec(answer)?.[1];
    try {
      const { requests, leftOut } = readOpenapi(answer, path);
      say('found', `${path}: ${countOf(requests.length + leftOut.length, 'route')}`);
      return { paths: requests.map((one) => one.path).filter((one) => !AVOIDED.test(one)), post };
    } catch (error) {
      if (!(error instanceof BenchError)) throw error;
      say('found', error.message);
      return { paths: [], post };
    }
  }
  return { paths: [] };
}
