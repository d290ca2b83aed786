import { fileURLToPath } from 'node:url';
import type { PercentileName } from 'bench-statistics/histogram';
import type { Tool } from './tool.ts';

const SCRIPT = fileURLToPath(new URL('wrk.lua', import.meta.url));

/** The output of `wrk.lua`; times in µs. */
interface Printed {
  duration: number;
  /** Answers of any status, including those after the timeout. */
  requests: number;
  errors: Record<'connect' | 'read' | 'write' | 'status' | 'timeout', number>;
  latency: { mean: number; max: number; percentiles: Record<string, number> };
}

const MARK = 'bench-wrk ';

/**
 * wrk 4. Its `status` counts answers above 399, so a redirect counts as right. Open requests at the end and lost requests
 * are not counted. Its latencies are corrected for coordinated omission and exclude late responses.
 */
export const wrk: Tool = {
  name: 'wrk',
  argv: ({ url, headers, connections, threads, seconds, timeoutSeconds }) => [
    'wrk',
    '--threads',
    String(threads),
    '--connections',
    String(connections),
    '--duration',
    `${seconds}s`,
    '--timeout',
    `${Math.ceil(timeoutSeconds)}s`,
    ...Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
    '--script',
    SCRIPT,
    url,
  ],
  read(stdout) {
    const line = stdout.split('\n').find((one) => one.startsWith(MARK)) ?? '';
    const { duration, requests, errors, latency } = JSON.parse(line.slice(MARK.length)) as Printed;
    const { status: non2xx, timeout, read, write, connect } = errors;
    return {
      windowSeconds: duration / 1e6,
      counts: { ok: requests - non2xx - timeout, non2xx, timeout, failed: connect + read + write },
      latency: {
        answered: requests - timeout,
        mean: latency.mean,
        max: latency.max,
        at: (name) => latency.percentiles[percentOf(name)],
      },
    };
  },
};

/** `p97_5` as a number: `97.5`. */
export function percentOf(name: PercentileName): string {
  return name.slice(1).replace('_', '.');
}
