/** The workload `requests`: the requests of a user, given as flags, in a file or in a manifest. */
import { hide } from 'bench-machine/redact';
import { parseJson } from '../../json-file.ts';
import {
  canonicalise,
  describeStatus,
  excerpt,
  isConditional,
  USUAL_TIMES,
  type Answer,
  type Draw,
  type Login,
  type Route,
  type Share,
  type Workload,
  type WorkloadRequest,
} from '../workload.ts';
import { orderByWeight } from './cycle.ts';
import { present } from 'bench-model/options';
import type { UserRequests, UserLogin } from 'bench-model/requests';
import { ANY_SUCCESS, locateByName, readParts, type Kind, type Parts } from './parts.ts';
import { isSentOnce } from './sent.ts';
import { isRightStatus } from './status.ts';
import { readRows, type Row, type Rows } from './rows.ts';
import { orUndefined, TrialError } from 'bench-model/errors';
import { MARKS } from '../stamps.ts';
import { fill, namesIn, TOKEN, type Place, type Values } from './template.ts';
import { refuseChanged } from './texts.ts';
import { readToken } from './token.ts';

/** The name of the workload that a user's requests are. */
export const REQUESTS = 'requests';

/** More requests of different rows are not held at once: a larger file gives each trial a sample of its rows. */
const MOST_REQUESTS = 10_000;
/** The same for requests that are sent once. They are built before the load, and held by every process that sends them. */
const MOST_SENT_ONCE = 200_000;
/** The requests whose responses are known before the load. Each is sent twice, one after another. */
const MOST_PROBES = 200;
/** The same for requests that are sent once. */
const PROBES_SENT_ONCE = 5;
/** The requests that the checks of a trial send: until the first correct response, before and after the load. */
const SENT_BY_CHECKS = 1 + 2 * PROBES_SENT_ONCE;

/**
 * Returns the workload that sends these requests. Reads the files that they name, once. Throws a usage error if a file
 * cannot be read or differs from the one that the plan was made with.
 */
export function requestsWorkload(userRequests: UserRequests): Workload {
  const rows = userRequests.rows && readRows(userRequests.rows.file);
  if (rows !== undefined) refuseChanged(userRequests.rows?.sha256, rows.sha256, `"rows": ${rows.file}`);
  const parts = { ...readParts(userRequests, locateByName(userRequests.requests), userRequests.files), rows };
  return {
    name: REQUESTS,
    rungs: [10],
    ...USUAL_TIMES,
    draw: (random, _params, share) => drawTrial(userRequests, parts, random, share),
  };
}

/** The files of a workload, read. */
interface Files extends Parts {
  rows: Rows | undefined;
}

/** Returns true if rows make different requests of one kind. */
function isVaried({ request, body = '' }: Kind, rows: Rows | undefined): boolean {
  const names = [request.path, ...Object.values(request.headers), body].flatMap(namesIn);
  return names.some((name) => rows?.names.includes(name));
}

/** The rows that the requests of a trial take. */
interface Taken {
  /** For requests that are sent again, and for those that are sent once. */
  again: readonly Row[];
  once: readonly Row[];
  /** The requests of each kind that the checks have sent. */
  checked: number[];
}

/**
 * Draws one trial. Rows are shuffled, and each request takes them in that order, so that every row is used equally often.
 * Requests alternate by weight: the weights are exact over each cycle.
 */
function drawTrial(userRequests: UserRequests, parts: Files, random: () => number, share?: Share): Draw {
  const { kinds, rows } = parts;
  const varied = kinds.filter((kind) => isVaried(kind, rows)).length;
  const most = Math.max(1, Math.floor(MOST_REQUESTS / Math.max(1, varied)));
  const shuffled = shuffle([...(rows?.rows.entries() ?? [])], random);
  const own = share === undefined ? shuffled : shuffled.filter(([index]) => index % share.of === share.index);
  const taken = {
    again: shuffled.slice(0, most).map(([, row]) => row),
    once: own.slice(0, MOST_SENT_ONCE).map(([, row]) => row),
    checked: kinds.map(() => 0),
  };
  const { login } = userRequests;
  if (login === undefined) return fillDraw(parts, taken, {});
  return { ...fillDraw(parts, taken, { [TOKEN]: '' }), login: openLogin(login, parts, taken) };
}

function openLogin(login: UserLogin, parts: Files, taken: Taken): Login {
  const request = fillRequest(login, parts.loginBody, {});
  if (request.body !== undefined) hide([request.body, ...passwordsIn(request.body)]);
  return {
    request,
    complete(answer) {
      const found = readToken(answer, login.token);
      if ('problem' in found) return found.problem;
      const { token } = found;
      hide([token, JSON.stringify(token).slice(1, -1)]);
      return fillDraw(parts, taken, { [TOKEN]: token }, login.send);
    },
  };
}

/** The texts in the body of a login: each may be a password. */
function passwordsIn(body: string): string[] {
  const value = parseJson(body);
  if (value === undefined) return [...new URLSearchParams(body).values()];
  const values = typeof value === 'object' && value !== null ? Object.values(value) : [];
  return values.filter((one) => typeof one === 'string');
}

function fillDraw(
  { kinds, rows }: Files,
  taken: Taken,
  known: Values,
  send: Readonly<Record<string, string>> = {},
): Draw {
  const requests: WorkloadRequest[] = [];
  const rowsOf = kinds.map((kind): readonly (Row | undefined)[] => {
    if (!isVaried(kind, rows)) return [undefined];
    return isSentOnce(kind.request) ? taken.once : taken.again;
  });
  const valuesOf = (row: Row | undefined): Values => ({ ...MARKS, ...row?.values, ...known });
  const routes = kinds.map((kind, index): Route => {
    const first = requests.length;
    const each = rowsOf[index] ?? [];
    for (const row of each) {
      const headers = { ...kind.request.headers, ...send };
      const request = fillRequest({ ...kind.request, headers }, kind.body, valuesOf(row));
      requests.push(row === undefined ? request : { ...request, row: `${rows?.file}:${row.line}` });
    }
    const isOnce = each[0] !== undefined && isSentOnce(kind.request);
    const learns =
      !isOnce &&
      kind.expected === undefined &&
      kind.schema === undefined &&
      kind.request.expect?.statuses === undefined;
    return {
      name: kind.name,
      first,
      count: each.length,
      statuses: [...kind.statuses],
      learns,
      isFixed: learns || kind.expected !== undefined,
      ...present({ schema: kind.schema, once: isOnce ? SENT_BY_CHECKS : undefined }),
    };
  });
  const kindAt = (index: number): number =>
    routes.findIndex(({ first, count }) => index >= first && index < first + count);
  return {
    requests,
    routes,
    order: orderByWeight(kinds.map(({ request: { weight } }) => weight)),
    probes: chooseProbes(routes),
    files: {},
    ...(routes.some(({ once }) => once !== undefined) && {
      next: (index: number) => takeNext(routes, taken.checked, kindAt(index), index),
    }),
    check(answer, index) {
      const at = kindAt(index);
      const [kind, route, request] = [kinds[at], routes[at], requests[index]];
      if (kind === undefined || route === undefined || request === undefined) return undefined;
      const values = valuesOf(rowsOf[at]?.[index - route.first]);
      const expected =
        kind.expected === undefined
          ? undefined
          : fill(kind.expected, values, /^\s*[[{"]/.test(kind.expected) ? 'json' : 'text');
      return checkAnswer(answer, kind, expected, isConditional(request));
    },
    fixedBody: routes.some(({ isFixed }) => isFixed),
  };
}

/** Returns the index of the next request of a route for the checks. */
function takeNext(routes: readonly Route[], checked: number[], at: number, index: number): number {
  const route = routes[at];
  if (route?.once === undefined) return index;
  const used = checked[at] ?? 0;
  if (used >= Math.min(route.once, route.count))
    throw new TrialError(`${route.name}: no row is left for the checks, because each is sent once`);
  checked[at] = used + 1;
  return route.first + used;
}

/** Fills in a request and its body, which is JSON by default. */
function fillRequest(
  { method, path: written, headers: given }: Pick<WorkloadRequest, 'method' | 'path' | 'headers'>,
  body: string | undefined,
  values: Values,
): WorkloadRequest {
  const path = fill(written, values, 'path');
  const filled = Object.entries(given).map(([name, value]) => [name, fill(value, values, 'header')] as const);
  const headers = Object.fromEntries(filled);
  if (body === undefined) return { method, path, headers };
  const type = filled.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  const usual = { ...(type === undefined && { 'content-type': 'application/json' }) };
  return { method, path, headers: { ...usual, ...headers }, body: fill(body, values, placeOf(type)) };
}

function placeOf(type: string | undefined): Place {
  if (type === undefined || /\bjson\b/i.test(type)) return 'json';
  return /x-www-form-urlencoded/i.test(type) ? 'form' : 'text';
}

/** Chooses the requests to send one by one: all, or as many of each as fit, in the order of their rows. */
function chooseProbes(routes: readonly Route[]): number[] {
  const single = routes.filter(({ count }) => count === 1).length;
  const most = Math.max(1, Math.floor((MOST_PROBES - single) / Math.max(1, routes.length - single)));
  return routes.flatMap(({ first, count, once }) =>
    Array.from(
      { length: Math.min(count, once === undefined ? most : PROBES_SENT_ONCE) },
      (_, index) => first + index,
    ),
  );
}

function checkAnswer(
  answer: Answer,
  { statuses, checkSchema }: Kind,
  expected: string | undefined,
  mayBeUnchanged: boolean,
): string | undefined {
  const { status, body } = answer;
  if (status === 304 && mayBeUnchanged) return undefined;
  if (!isRightStatus(status, statuses)) {
    const instead = statuses === ANY_SUCCESS ? '' : ` instead of ${statuses.join(' or ')}`;
    return describeStatus(answer, instead);
  }
  if (expected !== undefined && !sameAnswer(body.toString(), expected))
    return `the body differs from the expected one: ${excerpt(body)}`;
  if (checkSchema === undefined) return undefined;
  const value = parseJson(body.toString());
  if (value === undefined) return `the body is not JSON: ${excerpt(body)}`;
  const wrong = checkSchema(value);
  return wrong === undefined ? undefined : `the body violates the schema: ${wrong}: ${excerpt(body)}`;
}

function sameAnswer(body: string, expected: string): boolean {
  return body === expected || orUndefined(() => canonicalise(body) === canonicalise(expected)) === true;
}

/** Shuffles (Fisher & Yates) with the random numbers of a trial. */
function shuffle<T>(items: readonly T[], random: () => number): T[] {
  const shuffled = [...items];
  for (let last = shuffled.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [shuffled[last], shuffled[other]] = [shuffled[other] as T, shuffled[last] as T];
  }
  return shuffled;
}
