/** The requests to measure: which of a server's routes it answers. */
import { BenchError } from 'bench-model/errors';
import type { AskedRequest } from 'bench-model/requests';
import type { Server } from 'bench-machine/launch';
import { readOpenapi } from 'bench-targets/catalogue/workloads/requests/openapi';
import { sendRequest } from 'bench-targets/catalogue/workloads/send';
import { nameStatus } from 'bench-targets/catalogue/workloads/workload';
import { countOf } from 'bench-report/format';
import { ask, say } from './say.ts';

/** The paths at which frameworks serve their OpenAPI document. */
const DOCUMENTS = ['/openapi.json', '/openapi.yaml', '/swagger.json', '/v3/api-docs'];
/** The most routes of an OpenAPI document that are tried. */
const MOST_ROUTES = 20;
/** The paths that are tried if nothing names one. */
const USUAL_PATHS = ['/', '/health', '/healthz'];

/** A request as a manifest writes it. */
export type Written = string | { request: string; headers: Record<string, string> };

/** Returns the requests to measure, each of which was answered with 2xx. Throws if there is none. */
export async function chooseRequests(
  server: Server,
  get: readonly string[],
  describe: () => string[],
): Promise<Written[]> {
  if (get.length > 0) {
    for (const path of get) await requireAnswer(server, path, describe);
    return get.map((path) => `GET ${path}`);
  }
  const { document, routes } = await readRoutes(server);
  const tried: string[] = [];
  const right: AskedRequest[] = [];
  for (const route of routes) {
    const { isRight, needsLogin, words } = await look(server, route);
    say(
      isRight ? 'asked' : 'left out',
      `GET ${route.path}: ${words}${needsLogin ? '; it needs a login' : ''}`,
    );
    if (isRight) right.push(route);
    else tried.push(`${route.path} ${words}`);
  }
  if (right.length > 0) {
    say('assumed', `${countOf(right.length, 'request')}, from ${document}; --get names others`);
    return right.map(({ path, headers }) =>
      Object.keys(headers).length === 0 ? `GET ${path}` : { request: `GET ${path}`, headers },
    );
  }
  for (const path of USUAL_PATHS) {
    const { isRight, words } = await look(server, { path });
    if (isRight) {
      say('asked', `GET ${path}: ${words}`);
      say('assumed', `GET ${path}: it is a usual path, and nothing names another; --get names yours`);
      return [`GET ${path}`];
    }
    tried.push(`${path} ${words}`);
  }
  const typed = await ask('Which path should be asked, e.g. /orders?limit=20? ');
  if (typed !== undefined && typed !== '') {
    await requireAnswer(server, typed, describe);
    return [`GET ${typed}`];
  }
  throw new BenchError(
    'usage',
    `no path is known that the server answers with 2xx: ${tried.join(', ')}`,
    "name one: --get '/orders?limit=20'",
  );
}

async function requireAnswer(server: Server, path: string, describe: () => string[]): Promise<void> {
  const { isRight, needsLogin, words } = await look(server, { path });
  if (!isRight) {
    throw new BenchError(
      'trial',
      [`GET ${path}: ${words}`, ...describe()].join('\n'),
      needsLogin
        ? 'begin with a path that needs no login: --get; then add `login` and the path to stack.json'
        : 'name a path that answers with 2xx: --get',
    );
  }
  say('asked', `GET ${path}: ${words}`);
}

async function look(
  server: Server,
  { path, headers = {} }: { path: string; headers?: Record<string, string> },
): Promise<{ isRight: boolean; needsLogin: boolean; words: string; body: string }> {
  try {
    const answer = await sendRequest(server, { method: 'GET', path, headers });
    const { status, contentType, body } = answer;
    const kind = (contentType.split(';')[0] ?? '') || 'no content type';
    return {
      isRight: status >= 200 && status < 300,
      needsLogin: status === 401 || status === 403,
      words: `${nameStatus(answer)}, ${kind}, ${body.length.toLocaleString('en-US')} bytes`,
      body: body.toString(),
    };
  } catch (error) {
    return { isRight: false, needsLogin: false, words: (error as Error).message, body: '' };
  }
}

/** The requests that the OpenAPI document of the server allows without knowing it; none if it offers no document. */
async function readRoutes(server: Server): Promise<{ document: string; routes: AskedRequest[] }> {
  for (const document of DOCUMENTS) {
    const { isRight, body } = await look(server, { path: document });
    if (!isRight) continue;
    try {
      const { requests, leftOut } = readOpenapi(body, document);
      for (const { route, reason } of leftOut.slice(0, MOST_ROUTES)) say('left out', `${route}: ${reason}`);
      return { document, routes: requests.slice(0, MOST_ROUTES) };
    } catch (error) {
      if (!(error instanceof BenchError)) throw error;
      say('found', error.message);
    }
  }
  return { document: '', routes: [] };
}
