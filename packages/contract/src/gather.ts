import { readFileSync } from 'node:fs';
import { loaded } from './clients.ts';

/** The timeout of the upstream, for its headers and for its body, in ms. */
const TIMEOUT_MS = 10_000;

/** The answer to `GET /data`. */
interface Gathered {
  status: number;
  /** The value of `Server-Timing`; absent if nothing was gathered. */
  timing?: string;
  body: unknown;
}

/**
 * Returns the work behind `GET /data`: it fetches all fixtures of the upstream at once, parses and joins them.
 * Never rejects: a failure becomes the status. Loads the HTTP client here, so that servers of other workloads do
 * not load it.
 */
export async function openGather(): Promise<() => Promise<Gathered>> {
  const upstream = process.env['BENCH_UPSTREAM'];
  if (upstream === undefined)
    return async () => ({ status: 503, body: { error: 'BENCH_UPSTREAM is not set' } });
  const paths = JSON.parse(readFileSync(process.env['BENCH_FIXTURES'] ?? '', 'utf8')) as string[];
  const { Pool } = await import('undici');
  loaded.add('undici');
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
