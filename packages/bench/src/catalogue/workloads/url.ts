import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { BenchError } from '../../errors.ts';
import type { TextDigests, UrlRequest } from '../../model.ts';
import type { AskedRequest } from '../../results/record.ts';
import { canonicalise, excerpt, isConditional, type Answer, type Draw, type Workload } from './workload.ts';

/** The workload of `--url`: one request, to a server that is already running. */
export interface UrlWorkload extends Workload {
  /** The digests of the current texts. */
  digests: TextDigests;
}

/**
 * Returns the workload that sends this request. Reads the files that it names, once. Throws a usage error if a file
 * cannot be read or differs from the one that the plan was made with.
 */
export function urlWorkload({ url, method, headers, body, expect, digests }: UrlRequest): UrlWorkload {
  const { pathname, search } = new URL(url);
  const sent = readArgument('body', body, digests?.body);
  const expected = readArgument('expect', expect, digests?.expect);
  const request = {
    method,
    path: pathname + search,
    headers: { ...(sent === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(sent === undefined ? {} : { body: sent }),
  };
  return {
    name: 'url',
    rungs: [10, 100, 1000, 10_000],
    windowSeconds: 5,
    warmupSeconds: 2,
    timeoutSeconds: 10,
    // The server is already running, so this covers only one that still answers 503.
    startSeconds: 5,
    attached: true,
    digests: {
      ...(sent === undefined ? {} : { body: digestOf(sent) }),
      ...(expected === undefined ? {} : { expect: digestOf(expected) }),
    },
    draw: (): Draw => ({
      requests: [request],
      files: {},
      fixedBody: expected !== undefined,
      check: (answer) => checkAnswer(answer, expected, isConditional(request)),
    }),
  };
}

/** The request as a record stores it. */
export function describeRequest({ url, method, headers, digests }: UrlRequest): AskedRequest {
  const { pathname, search } = new URL(url);
  return {
    method,
    path: pathname + search,
    headers: Object.keys(headers),
    ...(digests?.body === undefined ? {} : { bodySha256: digests.body }),
    ...(digests?.expect === undefined ? {} : { expectSha256: digests.expect }),
  };
}

function checkAnswer(
  { status, body }: Answer,
  expected: string | undefined,
  mayBeUnchanged: boolean,
): string | undefined {
  if (status === 304 && mayBeUnchanged) return undefined;
  if (status < 200 || status > 299) return `status ${status}: ${excerpt(body)}`;
  if (expected === undefined || sameAnswer(body.toString(), expected)) return undefined;
  return `the body differs from --expect: ${excerpt(body)}`;
}

function sameAnswer(body: string, expected: string): boolean {
  if (body === expected) return true;
  try {
    return canonicalise(body) === canonicalise(expected);
  } catch {
    return false;
  }
}

/** Returns the text of an argument, or the contents of the file named by `@file`. */
function readArgument(flag: string, text: string | undefined, planned?: string): string | undefined {
  if (!text?.startsWith('@')) return text;
  let contents: string;
  try {
    contents = readFileSync(text.slice(1), 'utf8');
  } catch {
    throw new BenchError(
      'usage',
      `--${flag} ${text}: the file cannot be read`,
      `e.g. --${flag} @order.json, relative to the current folder`,
    );
  }
  if (planned === undefined || planned === digestOf(contents)) return contents;
  throw new BenchError(
    'usage',
    `--${flag} ${text}: the file has changed since the run began`,
    'restore the file, or start a new run',
  );
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
