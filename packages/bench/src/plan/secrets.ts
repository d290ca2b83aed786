/** The secrets of a request, given again to a stored plan, which keeps none. */
import { BenchError } from '../errors.ts';
import type { Plan } from './plan.ts';
import { NOT_KEPT, NOT_KEPT_IN_URL, redactUrl, splitCredentials } from '../redact.ts';

/** What a stored run keeps no value of: secret headers, and a URL with secret parameters. */
export interface Secrets {
  url?: URL;
  headers: Record<string, string>;
}

/** Makes secrets of a URL and headers; credentials in the URL become the Authorization header that curl would send. */
export function toSecrets(given: URL | undefined, headers: Iterable<readonly [string, string]>): Secrets {
  const { url, authorization } = given === undefined ? {} : splitCredentials(given);
  return {
    ...(url === undefined ? {} : { url }),
    headers: { ...(authorization === undefined ? {} : { authorization }), ...Object.fromEntries(headers) },
  };
}

/** A stored run, as it was named on the command line. */
export interface Named {
  flag: 'again' | 'resume';
  run: string;
}

/**
 * Returns a stored plan with the secrets that were given again. Throws a usage error that names the option if one is
 * missing, or was given although it was kept or is not part of the plan.
 */
export function restoreSecrets(plan: Plan, { url, headers }: Secrets, { flag, run }: Named): Plan {
  const stored = plan.url;
  const isMissing = (name: string): boolean => stored?.headers[name] === NOT_KEPT;
  const needsUrl = stored?.url.includes(NOT_KEPT_IN_URL) === true;
  // A URL may be given for its credentials alone.
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
      `pnpm bench --${flag} ${run}`,
    );
  }
  if (stored === undefined) return plan;
  if (url !== undefined && redactUrl(url.href) !== stored.url) {
    throw new BenchError(
      'usage',
      `--url ${redactUrl(url.href)}: run ${run} measured ${stored.url}`,
      'give the same URL, with the secret that was not kept',
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
      `run ${run} sent secrets, and secrets are not kept`,
      `give them again: pnpm bench --${flag} ${run} ${lost.join(' ')}`,
    );
  }
  return {
    ...plan,
    url: { ...stored, url: url?.href ?? stored.url, headers: { ...stored.headers, ...headers } },
  };
}
