/** The OpenAPI document of a run: from a file, or an address. */
import type { BenchOptions } from 'bench-model/options';
import type { BenchRequest } from '../plan/request.ts';
import { readFileSync } from 'node:fs';
import type { Draft } from 'bench-model/requests';
import { orUndefined, UsageError } from 'bench-model/errors';
import { endpointOf } from 'bench-machine/ports';
import { redactUrl } from 'bench-machine/redact';
import { tlsOf } from 'bench-machine/tls';
import { sendRequest } from 'bench-targets/catalogue/workloads/send';
import { nameStatus } from 'bench-targets/catalogue/workloads/workload';

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
    const server = { ...endpointOf(url), tls: await tlsOf(url), ended: () => undefined, logTail: () => [] };
    const asked = { method: 'GET', path: url.pathname + url.search, headers };
    const answer = await sendRequest(server, asked, FETCH_SECONDS);
    if (answer.status >= 200 && answer.status < 300) return answer.body.toString();
    problem = nameStatus(answer);
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    // That of several addresses has no message.
    problem = message || String(code);
  }
  throw new UsageError(`--openapi ${redactUrl(address)}: ${problem}`, HINT);
}
