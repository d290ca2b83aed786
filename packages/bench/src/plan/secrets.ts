/** The secrets of a request. Stored plans hold none, so the user gives them again. */
import { BenchError } from '../errors.ts';
import { commandLine } from '../home.ts';
import type { Plan } from './definition.ts';
import { NOT_KEPT, NOT_KEPT_IN_URL, redactUrl, splitCredentials } from '../redact.ts';

/** The values that a stored run does not keep: secret headers, and a URL with secret parameters. */
export interface Secrets {
  url?: URL;
  headers: Record<string, string>;
}

/** Makes secrets of a URL and headers. Credentials in the URL become the Authorization header that curl would send. */
export function toSecrets(given: URL | undefined, headers: Iterable<readonly [string, string]>): Secrets {
  const { url, authorization } = given === undefined ? {} : splitCredentials(given);
  return {
    ...(url === undefined ? {} : { url }),
    headers: { ...(authorization === undefined ? {} : { authorization }), ...Object.fromEntries(headers) },
  };
}

/** A stored run as named on the command line. */
export interface Named {
  flag: 'again' | 'resume';
  run: string;
}

/**
 * Returns a stored plan with the given secrets. Throws a usage error that names the option if a secret is missing,
 * was stored after all, or does not belong to the plan.
 */
export function restoreSecrets(plan: Plan, { url, headers }: Secrets, { flag, run }: Named): Plan {
  const stored = plan.url;
  const isMissing = (name: string): boolean => stored?.headers[name] === NOT_KEPT;
  const needsUrl = stored?.url.includes(NOT_KEPT_IN_URL) === true;
  // A URL can be given for its credentials alone.
  const mayHaveUrl = needsUrl || isMissing('authorization');
  const stray = [
    ...Object.keys(headers)
      .filter((name) => !isMissing(name))
      .map((name) => `--header ${name}`),
    ...(url === undefined || mayHaveUrl ? [] : ['--url']),
  ][0];
  if (stray !== undefined) {
    throw new BenchError(
      'usage',
      `--${flag} reuses the stored plan, so ${stray} cannot be combined with it`,
      commandLine(`bench --${flag} ${run}`),
    );
  }
  if (stored === undefined) return plan;
  if (url !== undefined && redactUrl(url.href) !== stored.url) {
    throw new BenchError(
      'usage',
      `--url ${redactUrl(url.href)}: run ${run} measured ${stored.url}`,
      'repeat the same URL, with its secret',
    );
  }
  const lost = [
    ...(needsUrl && url === undefined ? [`--url '${stored.url}'`] : []),
    ...Object.keys(stored.headers)
      .filter((name) => isMissing(name) && headers[name] === undefined)
      .map((name) => `--header '${name}: …'`),
  ];
  if (lost.length > 0) {
    throw new BenchError(
      'usage',
      `run ${run} sent secrets, which a stored run does not keep`,
      `repeat them: ${commandLine(`bench --${flag} ${run} ${lost.join(' ')}`)}`,
    );
  }
  return {
    ...plan,
    url: { ...stored, url: url?.href ?? stored.url, headers: { ...stored.headers, ...headers } },
  };
}
