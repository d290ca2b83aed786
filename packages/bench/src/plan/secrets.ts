/** The secrets of a request. Stored plans hold none, so the user gives them again. */
import { refuseFirst, UsageError } from 'bench-model/errors';
import { commandLine } from 'bench-machine/home';
import type { Plan } from 'bench-model/plan';
import { NOT_KEPT, NOT_KEPT_IN_URL, redact, redactUrl, secretsOf } from 'bench-machine/redact';
import type { UserRequest } from 'bench-model/requests';
import { readRequests } from 'bench-targets/catalogue/workloads/requests/file';
import { nameRequest } from 'bench-targets/catalogue/workloads/requests/sent';

/** The values that a stored run does not keep: secret headers, and a URL with secret parameters. */
export interface Secrets {
  url?: URL;
  headers: Record<string, string>;
}

/** A stored run as named on the command line. */
interface Named {
  flag: '--again' | '--resume' | 'why';
  run: string;
}

/**
 * Returns a stored plan with the given secrets, and those of the file that its requests were read from. Throws a usage error
 * that names the option if a secret is missing, was stored after all, or does not belong to the plan.
 */
export function restoreSecrets(stored: Plan, { url, headers }: Secrets, { flag, run }: Named): Plan {
  const plan = restoreFromFile(stored);
  const { userRequests, attached } = plan;
  const kept = userRequests?.requests ?? [];
  const missing = new Set(
    kept.flatMap((one) => Object.keys(one.headers).filter((name) => one.headers[name] === NOT_KEPT)),
  );
  const [first] = kept;
  const address =
    attached?.length === 1 && kept.length === 1 ? `${attached[0]?.url}${first?.path}` : undefined;
  const needsUrl = address?.includes(NOT_KEPT_IN_URL) === true;
  // A URL can be given for its credentials alone.
  const mayHaveUrl = needsUrl || missing.has('authorization');
  const header = Object.keys(headers).find((name) => !missing.has(name));
  const stray = header === undefined ? 'an address' : `--header ${header}`;
  const lost = [
    ...(needsUrl && url === undefined ? [`'${address}'`] : []),
    ...[...missing].filter((name) => headers[name] === undefined).map((name) => `--header '${name}: …'`),
  ];
  const given = redactUrl(url?.href ?? '');
  const command = `${flag === 'why' ? '' : 'bench '}${flag} ${run}`;
  refuseFirst([
    [
      header !== undefined || (url !== undefined && !mayHaveUrl),
      `${flag} reuses the stored plan, so ${stray} cannot be combined with it`,
      commandLine(command),
    ],
    [
      url !== undefined && address !== undefined && given !== address,
      `${given}: run ${run} measured ${address}`,
      'repeat the same address, with its secret',
    ],
    [
      lost.length > 0,
      `run ${run} sent secrets, which a stored run does not keep`,
      `repeat them: ${commandLine(`${command} ${lost.join(' ')}`)}`,
    ],
  ]);
  const path = needsUrl && url !== undefined ? { path: url.pathname + url.search } : {};
  const requests = kept.map((one) => ({ ...one, ...path, headers: fillIn(one.headers, headers) }));
  const restored = { ...plan, ...(userRequests && { userRequests: { ...userRequests, requests } }) };
  refuseLost(restored, flag);
  return restored;
}

/** Returns headers with the given values for those that were not kept. */
function fillIn(headers: UserRequest['headers'], given: UserRequest['headers']): UserRequest['headers'] {
  const kept = Object.entries(headers);
  return Object.fromEntries(
    kept.map(([name, value]) => [name, value === NOT_KEPT ? (given[name] ?? value) : value]),
  );
}

/** Takes the secrets that a run did not keep from the file that its requests were read from. */
function restoreFromFile(plan: Plan): Plan {
  const { userRequests } = plan;
  if (userRequests?.from === undefined) return plan;
  const { draft } = readRequests(userRequests.from);
  const isSame = draft.requests.every(
    (one, index) => nameSent(one) === nameSent(userRequests.requests[index]),
  );
  if (!isSame || nameSent(draft.login) !== nameSent(userRequests.login)) {
    throw new UsageError(
      `${userRequests.from}: its requests have changed since the run began`,
      'restore the file, or start a new run',
    );
  }
  const requests = userRequests.requests.map((one, index) => {
    const { headers: given = {}, body } = draft.requests[index] ?? {};
    return {
      ...one,
      headers: fillIn(one.headers, given),
      ...(body !== undefined && redact(body) === one.body ? { body } : {}),
    };
  });
  return {
    ...plan,
    userRequests: { ...userRequests, requests, ...(draft.login === undefined ? {} : { login: draft.login }) },
  };
}

/** A request without its secrets, to compare it with the stored one. */
function nameSent(request: Pick<UserRequest, 'method' | 'path'> | undefined): string | undefined {
  return request === undefined ? undefined : redactUrl(nameRequest(request));
}

function isLost(text: string): boolean {
  return text.includes(NOT_KEPT) || text.includes(NOT_KEPT_IN_URL);
}

/** Throws a usage error for a secret that no option can give again: in the command of an app, in one of several paths, or in a body. */
function refuseLost({ run, apps = [], userRequests }: Plan, flag: Named['flag']): void {
  const app = apps.find(({ command }) => command.some(isLost));
  const request = userRequests?.requests.find(({ path, body = '' }) => isLost(path) || isLost(body));
  if (app === undefined && request === undefined) return;
  const [what, instead] =
    request === undefined
      ? [`the command of ${app?.name} in run ${run}`, 'let the server read the secret from its environment']
      : [`${nameRequest(request)} of run ${run}`, 'write the secret as {env:NAME}'];
  throw new UsageError(
    `${what} holds a secret, which a stored run does not keep`,
    `start a new run. To use ${flag} later, ${instead}`,
  );
}

/** Returns every secret in the requests of a plan, in every spelling that a server may repeat. */
export function secretsIn({ userRequests }: Plan): string[] {
  const { requests = [], login } = userRequests ?? {};
  return [...requests, ...(login === undefined ? [] : [login])].flatMap(({ path, headers, body = '' }) =>
    secretsOf({ headers, url: `http://localhost${path}`, body }),
  );
}
