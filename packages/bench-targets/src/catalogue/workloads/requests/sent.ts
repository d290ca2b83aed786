/** Describes requests for plans and records, without secrets. */
import { redactHeaders, redactUrl } from 'bench-machine/redact';
import { present } from 'bench-model/options';
import type { Draw, Route } from '../workload.ts';
import type { UserRequests, UserRequest, CheckKind, Expectation, SentRequests } from 'bench-model/requests';
import { sha256Of } from './texts.ts';

/** The method and the path of a request as it was written. */
export function nameRequest({ method, path }: Pick<UserRequest, 'method' | 'path'>): string {
  return `${method} ${path}`;
}

/** The methods whose requests a server may refuse the second time (RFC 9110, section 9.2.2), and what it has already deleted. */
const SENT_ONCE = new Set(['POST', 'DELETE']);

/** Returns true if each row of this request is sent at most once. */
export function isSentOnce({ method, repeat }: Pick<UserRequest, 'method' | 'repeat'>): boolean {
  return repeat === undefined ? SENT_ONCE.has(method) : !repeat;
}

/** More requests than these are sent mixed: one question for all takes a fraction of the rounds that one for each takes. */
export const MOST_ALONE = 10;

/**
 * Returns the names by which several requests are measured one at a time; undefined for a single request, and for requests
 * that are sent mixed: those with weights, and more than `MOST_ALONE`.
 */
export function nameRoutes({ requests }: Pick<UserRequests, 'requests'>): string[] | undefined {
  if (requests.length < 2 || requests.length > MOST_ALONE) return undefined;
  if (requests.some(({ weight }) => weight > 1)) return undefined;
  const names = requests.map((one) => redactUrl(nameRequest(one)));
  return names.map((name, index) => {
    const before = names.slice(0, index).filter((one) => one === name).length;
    return before === 0 ? name : `${name} (${before + 1})`;
  });
}

/** Returns the SHA-256 of a text: of the contents if it names a file. */
function digestIn({ files }: Pick<UserRequests, 'files'>, text: string): string {
  return files[text] ?? sha256Of(text);
}

/** Describes an expectation, with its texts by their digests. */
function describeExpectation(
  { statuses, body, schema }: Expectation,
  userRequests: Pick<UserRequests, 'files'>,
): string {
  return [
    ...(statuses === undefined ? [] : [`status ${statuses.join(' or ')}`]),
    ...(body === undefined ? [] : [`body ${digestIn(userRequests, body)}`]),
    ...(schema === undefined ? [] : [`schema ${digestIn(userRequests, schema)}`]),
  ].join(', ');
}

/** Lists the parts of all requests by name, one line each: two workloads are alike if all lines are. Secrets are left out. */
export function listUserRequests(userRequests: UserRequests): Map<string, string> {
  const lines = new Map<string, string>();
  const { requests, rows, login } = userRequests;
  const isOne = requests.length === 1;
  for (const [index, { method, path, weight, headers, body, expect, repeat }] of requests.entries()) {
    const name = isOne ? 'request' : `request ${index + 1}`;
    const of = isOne ? '' : `${name}, `;
    lines.set(name, `${redactUrl(`${method} ${path}`)}${isOne ? '' : ` × ${weight}`}`);
    // A body is JSON unless a header says otherwise.
    const usual = body === undefined ? {} : { 'content-type': 'application/json' };
    const sent = redactHeaders({ ...usual, ...headers });
    for (const [header, value] of Object.entries(sent)) lines.set(`${of}header ${header}`, String(value));
    if (repeat !== undefined) lines.set(`${name} rows`, repeat ? 'sent again' : 'sent once');
    if (body !== undefined) lines.set(`${name} body`, digestIn(userRequests, body).slice(0, 16));
    const expected = expect && describeExpectation(expect, userRequests);
    if (expected !== undefined)
      lines.set(
        `${of}expected response`,
        expected.replaceAll(/[0-9a-f]{64}/g, (digest) => digest.slice(0, 16)),
      );
  }
  if (rows !== undefined) lines.set('rows', `${rows.count}, ${rows.sha256.slice(0, 16)}`);
  if (login !== undefined) lines.set('login', redactUrl(nameRequest(login)));
  return lines;
}

/** Describes the requests in one text, which is the same for the same requests. */
export function describeUserRequests(userRequests: UserRequests): string {
  return [...listUserRequests(userRequests)].map(([name, line]) => `${name}: ${line}`).join('\n');
}

/**
 * Describes the requests of a trial for its record. `verified` holds the bodies that answers under load are compared with; absent
 * before the first verification.
 */
export function describeSent(
  userRequests: UserRequests,
  { routes = [] }: Pick<Draw, 'routes'>,
  verified?: { expected: readonly unknown[] | undefined },
): SentRequests {
  const { requests, rows, login } = userRequests;
  const expected = verified?.expected ?? [];
  const countKnown = ({ first, count }: Route): number =>
    expected.slice(first, first + count).filter((body) => (body ?? null) !== null).length;
  const checkOf = (route: Route | undefined): CheckKind => {
    if (route?.schema !== undefined) return 'schema';
    return route !== undefined && countKnown(route) > 0 ? 'bytes' : 'status';
  };
  const varied = routes.filter(({ count }) => count > 1);
  return {
    requests: requests.map(({ method, path, weight, headers, body, expect }, index) => ({
      method,
      path,
      weight,
      headers: Object.keys(headers),
      ...present({
        bodySha256: body === undefined ? undefined : digestIn(userRequests, body),
        expectSha256: expect && sha256Of(describeExpectation(expect, userRequests)),
        once: routes[index]?.once === undefined ? undefined : (true as const),
        check: verified && checkOf(routes[index]),
      }),
    })),
    ...present({
      rows: rows && {
        sha256: rows.sha256,
        count: rows.count,
        used: Math.max(1, ...varied.map(({ count }) => count)),
        checked: Math.max(0, ...varied.map(countKnown)),
      },
      login: login && nameRequest(login),
    }),
  };
}
