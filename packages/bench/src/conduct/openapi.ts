/** The OpenAPI document of a run: from a file, an address, or the server itself. */
import type { BenchOptions } from 'bench-model/options';
import type { BenchRequest } from '../plan/request.ts';
import { readFileSync } from 'node:fs';
import type { Draft } from 'bench-model/requests';
import { BenchError } from 'bench-model/errors';
import { redactUrl } from 'bench-machine/redact';
import { tlsOf } from 'bench-machine/tls';
import { sendRequest } from 'bench-targets/catalogue/workloads/send';

/** The longest time for an address to give its document. */
const FETCH_SECONDS = 30;

/** The hint for a document that cannot be read. */
export const HINT = 'name a file, an address, or a path of the server: --openapi /openapi.json';

/** Returns true if only a server that Bench starts can give the document. */
export function isReadFromServer({ openapi, servers }: BenchRequest): boolean {
  return openapi?.startsWith('/') === true && servers === undefined && readFile(openapi) === undefined;
}

/**
 * Returns the options with the routes of the OpenAPI document, if the request names one that can be read now. Throws a usage
 * error for a dry run whose document only a server can give.
 */
export async function addRoutes(raw: BenchRequest): Promise<BenchOptions> {
  const { openapi } = raw;
  if (openapi === undefined || raw.userRequests === undefined) return raw;
  if (!isReadFromServer(raw)) return withRoutes(raw, await readDocument(raw, openapi));
  if (!raw.dryRun) return raw;
  throw new BenchError(
    'usage',
    `--openapi ${openapi} is read from the running server, and a dry run starts nothing`,
    'save the document: --openapi openapi.json',
  );
}

/** Returns the options with a request for the document in place of its routes, if only a server can give it. */
export function askForDocument(options: BenchOptions, raw: BenchRequest): BenchOptions {
  const { userRequests } = options;
  if (userRequests === undefined || raw.openapi === undefined || !isReadFromServer(raw)) return options;
  return { ...options, userRequests: { ...userRequests, requests: [{ method: 'GET', path: raw.openapi }] } };
}

/** The text of a document, and its name in messages. */
interface Document {
  text: string;
  shown: string;
}

/** Returns options with the routes of a document. */
export async function withRoutes(options: BenchOptions, { text, shown }: Document): Promise<BenchOptions> {
  const { userRequests } = options;
  if (userRequests === undefined) return options;
  // Loaded here, with the parser of YAML: most runs name no document.
  const { readOpenapi } = await import('bench-targets/catalogue/workloads/requests/openapi');
  const { requests, leftOut } = readOpenapi(text, shown, userRequests.headers);
  const draft: Draft = { requests, openapi: shown, ...(leftOut.length === 0 ? {} : { leftOut }) };
  return { ...options, userRequests: { ...userRequests, draft } };
}

async function readDocument({ servers, userRequests }: BenchOptions, openapi: string): Promise<Document> {
  const isAddress = /^https?:\/\//.test(openapi);
  const text = isAddress ? undefined : readFile(openapi);
  if (text !== undefined) return { text, shown: openapi };
  const [server] = servers ?? [];
  if (!isAddress && (server === undefined || !openapi.startsWith('/'))) {
    throw new BenchError('usage', `--openapi ${openapi}: the file cannot be read`, HINT);
  }
  const address = isAddress ? openapi : `${server?.url.origin}${openapi}`;
  // The headers of the requests belong to the server, not to whoever publishes the document.
  const headers = isAddress ? {} : (userRequests?.headers ?? {});
  return { text: await fetchText(address, headers), shown: redactUrl(address) };
}

async function fetchText(address: string, headers: Record<string, string>): Promise<string> {
  let problem: string;
  try {
    const url = new URL(address);
    const tls = await tlsOf(url);
    if (tls?.verifies === false) {
      // fetch accepts no self-signed certificate.
      const { hostname: host, port, pathname, search } = url;
      const server = { host, port: Number(port || 443), tls, ended: () => undefined, logTail: () => [] };
      const { status, body } = await sendRequest(server, { method: 'GET', path: pathname + search, headers });
      if (status >= 200 && status < 300) return body.toString();
      problem = `status ${status}`;
    } else {
      const answer = await fetch(address, { headers, signal: AbortSignal.timeout(FETCH_SECONDS * 1000) });
      if (answer.ok) return await answer.text();
      problem = `status ${answer.status}`;
    }
  } catch (error) {
    const { cause, message, name } = error as Error;
    const isLate = name === 'TimeoutError';
    problem = isLate ? `no document in ${FETCH_SECONDS} s` : cause instanceof Error ? cause.message : message;
  }
  throw new BenchError('usage', `--openapi ${redactUrl(address)}: ${problem}`, HINT);
}

function readFile(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
