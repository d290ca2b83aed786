/** The OpenAPI document of a run: from a file, or an address. */
import type { BenchOptions } from 'bench-model/options';
import type { BenchRequest } from '../plan/request.ts';
import { readFileSync } from 'node:fs';
import type { Draft } from 'bench-model/requests';
import { orUndefined, UsageError } from 'bench-model/errors';
import { redactUrl } from 'bench-machine/redact';
import { tlsOf } from 'bench-machine/tls';
import { sendRequest } from 'bench-targets/catalogue/workloads/send';

const FETCH_SECONDS = 30;

const HINT = 'name a file or an address; init reads the document of a server that Bench starts';

/** Returns the options with the routes of the OpenAPI document, if the request names one. */
export async function addRoutes(raw: BenchRequest): Promise<BenchOptions> {
  const { openapi, userRequests } = raw;
  if (openapi === undefined || userRequests === undefined) return raw;
  const { text, shown } = await readDocument(raw, openapi);
  // Loaded here, with the parser of YAML: most runs name no document.
  const { readOpenapi } = await import('bench-targets/catalogue/workloads/requests/openapi');
  const { requests, leftOut } = readOpenapi(text, shown, userRequests.headers);
  const draft: Draft = { requests, openapi: shown, ...(leftOut.length === 0 ? {} : { leftOut }) };
  return { ...raw, userRequests: { ...userRequests, draft } };
}

async function readDocument(
  { servers, userRequests }: BenchOptions,
  openapi: string,
): Promise<{ text: string; shown: string }> {
  const isAddress = /^https?:\/\//.test(openapi);
  const text = isAddress ? undefined : orUndefined(() => readFileSync(openapi, 'utf8'));
  if (text !== undefined) return { text, shown: openapi };
  const [server] = servers ?? [];
  if (!isAddress && (server === undefined || !openapi.startsWith('/'))) {
    throw new UsageError(`--openapi ${openapi}: the file cannot be read`, HINT);
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
  throw new UsageError(`--openapi ${redactUrl(address)}: ${problem}`, HINT);
}
