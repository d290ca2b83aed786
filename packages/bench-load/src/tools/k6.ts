import { fileURLToPath } from 'node:url';
import { percentOf } from './wrk.ts';
import type { Tool } from './tool.ts';

const SCRIPT = fileURLToPath(new URL('k6-script.js', import.meta.url));

/** The fields that are read from the input of `handleSummary`; times in ms. */
interface Printed {
  state: { testRunDurationMs: number };
  metrics: Record<string, { values: Record<string, number> } | undefined>;
}

/**
 * k6 1. A failed request has a status above 399 or none; k6 does not distinguish them. Open requests at the end are not
 * counted. Its latencies are those of correct responses.
 */
export const k6: Tool = {
  name: 'k6',
  argv: ({ url, isInsecure, headers, connections, seconds, timeoutSeconds }) => [
    // Like every engine, it sends HTTP/1.1, also to a server that offers HTTP/2.
    'env',
    'GODEBUG=http2client=0',
    'k6',
    'run',
    '--quiet',
    '--no-usage-report',
    ...(isInsecure ? ['--insecure-skip-tls-verify'] : []),
    ...Object.entries({
      URL: url,
      HEADERS: JSON.stringify(headers),
      CONNECTIONS: connections,
      SECONDS: seconds,
      TIMEOUT: timeoutSeconds,
    }).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
    SCRIPT,
  ],
  read(stdout) {
    const { state, metrics } = JSON.parse(stdout) as Printed;
    const valuesOf = (metric: string): Record<string, number> => metrics[metric]?.values ?? {};
    const requests = valuesOf('http_reqs')['count'] ?? 0;
    // A rate of failures: a pass is a failed request.
    const failed = valuesOf('http_req_failed')['passes'] ?? 0;
    const durations = valuesOf('http_req_duration{expected_response:true}');
    return {
      windowSeconds: state.testRunDurationMs / 1000,
      counts: { ok: requests - failed, failed },
      latency: {
        answered: requests - failed,
        mean: (durations['avg'] ?? 0) * 1000,
        max: (durations['max'] ?? 0) * 1000,
        at(name) {
          const milliseconds = durations[`p(${percentOf(name)})`];
          return milliseconds === undefined ? undefined : milliseconds * 1000;
        },
      },
    };
  },
};
