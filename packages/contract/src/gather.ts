import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** How long the upstream may take over headers, and over the body. */
const TIMEOUT_MS = 10_000;

/** What `GET /data` is to answer. */
export interface Gathered {
  status: number;
  /** `Server-Timing`; absent where nothing was gathered. */
  timing?: string;
  body: unknown;
}

/**
 * Reads which upstream to ask for what, and gives the work behind `GET /data`: all fixtures fetched at once, parsed and
 * joined. Never rejects: what fails becomes the status. The client is loaded here and not with the module, because a
 * server of another workload does not pay for it.
 */
export async function openGather(): Promise<() => Promise<Gathered>> {
  const upstream = process.env['BENCH_UPSTREAM'];
  if (upstream === undefined)
    return async () => ({ status: 503, body: { error: 'BENCH_UPSTREAM is not set' } });
  const paths = JSON.parse(readFileSync(process.env['BENCH_FIXTURES'] ?? '', 'utf8')) as string[];
  const { Pool } = await import('undici');
  const pool = new Pool(upstream, { headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });

  const fetchItems = async (path: string): Promise<unknown[]> => {
    const { statusCode, body } = await pool.request({ method: 'GET', path });
    if (statusCode !== 200) {
      await body.dump();
      throw new Error(`${path} answered ${statusCode}`);
    }
    const items = await body.json();
    if (!Array.isArray(items)) throw new Error(`${path} is no array`);
    return items as unknown[];
  };

  return async () => {
    const started = performance.now();
    try {
      const body = (await Promise.all(paths.map(fetchItems))).flat();
      const timing = `gather;dur=${(performance.now() - started).toFixed(3)}`;
      return { status: 200, timing, body };
    } catch (error) {
      return { status: 502, body: { error: `upstream: ${(error as Error).message}` } };
    }
  };
}

/** The client with its version, as an attestation has it; undefined where there is no upstream to ask. */
export function describeClient(): string | undefined {
  if (process.env['BENCH_UPSTREAM'] === undefined) return undefined;
  const { version } = createRequire(import.meta.url)('undici/package.json') as { version: string };
  return `undici ${version}`;
}
