/** Words about the requests of a user. */
import type { UserRequests, UserLogin, UserRows, CheckKind, SentRequests } from 'bench-model/requests';
import { redactUrl } from 'bench-machine/redact';
import type { LoadResult } from 'bench-model/load';
import type { Trial } from 'bench-model/record';
import { countOf, formatWhole } from './format.ts';
import { listGiven, listLatencies } from './words.ts';

/** More requests are counted, not listed. */
const MOST_LISTED = 3;

/** The requests in one line: `GET /orders × 7, POST /orders × 2`. */
export function describeRequests({ requests }: Pick<UserRequests, 'requests'>): string {
  const names = requests.map(({ method, path, weight }) => {
    const often = requests.length > 1 && requests.some((one) => one.weight !== weight) ? ` × ${weight}` : '';
    return `${redactUrl(`${method} ${path}`)}${often}`;
  });
  if (names.length <= MOST_LISTED) return names.join(', ');
  return `${names.slice(0, MOST_LISTED).join(', ')} and ${countOf(names.length - MOST_LISTED, 'more request')}`;
}

const CHECKS: Record<CheckKind, string> = {
  bytes: 'the body must be as it was before the load',
  schema: 'the body must match its JSON Schema',
  status: 'only the status is checked',
};

/** Describes everything beyond the requests themselves, and the checks of their responses. */
export function describeAsking(
  userRequests: UserRequests | undefined,
  sent: SentRequests | undefined,
): string[] {
  if (userRequests === undefined) return [];
  const { login, rows } = userRequests;
  return listGiven([
    login && describeLogin(login),
    rows && describeRows(rows, sent),
    ...describeChecks(userRequests, sent),
    ...describeLeftOut(userRequests),
  ]);
}

function describeLogin({ method, path, every }: UserLogin): string {
  const again = every === undefined ? '' : `, and again every ${every} s, between windows`;
  return `login: ${redactUrl(`${method} ${path}`)} before each load${again}`;
}

function describeRows({ count, file }: UserRows, sent: SentRequests | undefined): string {
  const { rows } = sent ?? {};
  const used = rows && rows.used < rows.count ? `, ${formatWhole(rows.used)} in each trial` : '';
  return `rows: ${formatWhole(count)} from ${file}${used}, shuffled; ${describeUse(sent)}`;
}

/** Says which requests use each row once. */
function describeUse({ requests }: Pick<SentRequests, 'requests'> = { requests: [] }): string {
  const once = requests.filter((one) => one.once);
  if (once.length === 0) return 'each request takes them in turn';
  if (once.length === requests.length) return 'each is sent once';
  const names = once.map(({ method, path }) => redactUrl(`${method} ${path}`)).join(', ');
  const others = requests.length - once.length === 1 ? 'the other takes' : 'the others take';
  return `${names} ${once.length === 1 ? 'sends' : 'send'} each once, ${others} them in turn`;
}

/** Lists the routes of an OpenAPI document that are not measured, by their reason. */
export function describeLeftOut(userRequests: UserRequests | undefined): string[] {
  return [...Map.groupBy(userRequests?.leftOut ?? [], ({ reason }) => reason)].map(
    ([reason, all]) => `left out: ${all.map(({ route }) => route).join(', ')} (${reason})`,
  );
}

/** Describes the checks of responses under load, as far as they are recorded. */
function describeChecks(userRequests: UserRequests, sent: SentRequests | undefined): string[] {
  const { requests = [], rows } = sent ?? {};
  // The model has the weakest check of all requests with the same name.
  const kinds = new Map(
    requests.flatMap(({ method, path, check }) =>
      check === undefined ? [] : [[`${method} ${path}`, check]],
    ),
  );
  return [...Map.groupBy(kinds, ([, kind]) => kind)].map(([kind, own]) => {
    const isAll = own.length === userRequests.requests.length;
    const all = isAll ? '' : `${own.map(([name]) => redactUrl(name)).join(', ')}: `;
    const some =
      kind === 'bytes' && rows !== undefined && rows.checked < rows.used
        ? ` (${formatWhole(rows.checked)} of ${formatWhole(rows.used)} rows; of the others only the status)`
        : '';
    return `responses: ${all}${CHECKS[kind]}${some}`;
  });
}

/** One line for each request of a user: its outcomes in the window. */
export function describeRoutes({ routes = [] }: LoadResult, { requests }: Trial): string[] {
  return routes.map(({ counts, latencyUs }, index) => {
    const { method, path } = requests?.requests[index] ?? { method: 'request', path: String(index + 1) };
    const { sent, ok, ...others } = counts;
    const wrong = Object.entries(others).filter(([, count]) => count > 0);
    return [
      `${redactUrl(`${method} ${path}`)}: ${formatWhole(sent)} sent, ${formatWhole(ok)} right`,
      ...wrong.map(([name, count]) => `${formatWhole(count)} ${name}`),
      ...listLatencies({ p50: latencyUs?.p50, p99: latencyUs?.p99 }),
    ].join(', ');
  });
}
