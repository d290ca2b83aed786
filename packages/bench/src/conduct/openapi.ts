/** The OpenAPI document of a run: from a file, an address, or the server itself. */
import type { BenchRequest } from '../plan/request.ts';
import { readFileSync } from 'node:fs';
import type { Draft } from 'bench-model/requests';
import { BenchError } from 'bench-model/errors';
import { redactUrl } from 'bench-machine/redact';

/** The hint for a document that cannot be read. */
export const HINT = 'name a file, an address, or a path of the server: --openapi /openapi.json';

/** Returns true if only a server that Bench starts can give the document. */
export function isAskedOfServer({ openapi, servers }: BenchRequest): boolean {
  return openapi?.startsWith('/') === true && servers === undefined && readFile(openapi) === undefined;
}

/**
 * Returns a request with the routes of its OpenAPI document, if it names one. A document that only a server gives, which
 * Bench starts, becomes a request for that document.
 */
export async function addRoutes(asked: BenchRequest): Promise<BenchRequest> {
  const { openapi } = asked;
  if (openapi === undefined || asked.asked === undefined) return asked;
  if (!isAskedOfServer(asked)) return await withRoutes(asked, await readDocument(asked, openapi));
  if (asked.dryRun) {
    throw new BenchError(
      'usage',
      `--openapi ${openapi} is read from the running server, and a dry run starts nothing`,
      'save the document: --openapi openapi.json',
    );
  }
  const { requests: _, ...rest } = asked.asked;
  return { ...asked, asked: { ...rest, requests: [{ method: 'GET', path: openapi }] } };
}

/** The text of a document, and its name in messages. */
interface Document {
  text: string;
  shown: string;
}

/** Returns a request with the routes of a document. */
export async function withRoutes(asked: BenchRequest, { text, shown }: Document): Promise<BenchRequest> {
  const { asked: given } = asked;
  if (given === undefined) return asked;
  // Loaded here, with the parser of YAML: most runs name no document.
  const { readOpenapi } = await import('bench-targets/catalogue/workloads/requests/openapi');
  const { requests, leftOut } = readOpenapi(text, shown, given.headers);
  const draft: Draft = { requests, openapi: shown, ...(leftOut.length === 0 ? {} : { leftOut }) };
  return { ...asked, asked: { ...given, draft } };
}

async function readDocument({ servers, asked }: BenchRequest, openapi: string): Promise<Document> {
  const isAddress = /^https?:\/\//.test(openapi);
  const text = isAddress ? undefined : readFile(openapi);
  if (text !== undefined) return { text, shown: openapi };
  const [server] = servers ?? [];
  if (!isAddress && (server === undefined || !openapi.startsWith('/'))) {
    throw new BenchError('usage', `--openapi ${openapi}: the file cannot be read`, HINT);
  }
  const address = isAddress ? openapi : `${server?.url.origin}${openapi}`;
  // The headers of the requests belong to the server, not to whoever publishes the document.
  const headers = isAddress ? {} : (asked?.headers ?? {});
  return { text: await fetchText(address, headers), shown: redactUrl(address) };
}

async function fetchText(address: string, headers: Record<string, string>): Promise<string> {
  let problem: string;
  try {
    const answer = await fetch(address, { headers });
    if (answer.ok) return await answer.text();
    problem = `status ${answer.status}`;
  } catch (error) {
    const { cause, message } = error as Error;
    problem = cause instanceof Error ? cause.message : message;
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
