import { percentOf } from './wrk.ts';
import type { Tool } from './tool.ts';
import { sum } from 'bench-statistics/numbers';

/** The fields that are read from `--output-format json`; times in s. */
interface Printed {
  summary: { total: number; average: number | null; slowest: number | null };
  latencyPercentiles: Record<string, number | null>;
  statusCodeDistribution: Record<string, number>;
  /** By the messages of oha. */
  errorDistribution: Record<string, number>;
}

/** The name of a request that was open when the time was up. */
const DEADLINE = 'aborted due to deadline';

const TIMEOUT = /\btime(d )?-?out\b/i;

/** oha 1. Its latencies are those of all answers. */
export const oha: Tool = {
  name: 'oha',
  argv: ({ url, isInsecure, headers, connections, seconds, timeoutSeconds }) => [
    'oha',
    ...(isInsecure ? ['--insecure'] : []),
    '--no-tui',
    '--output-format',
    'json',
    '--redirect',
    '0',
    '-c',
    String(connections),
    '-z',
    `${Math.round(seconds * 1000)}ms`,
    '-t',
    `${Math.round(timeoutSeconds * 1000)}ms`,
    ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
    url,
  ],
  read(stdout) {
    const { summary, latencyPercentiles, statusCodeDistribution, errorDistribution } = JSON.parse(
      stdout,
    ) as Printed;
    const answered = countAll(statusCodeDistribution);
    const ok = countAll(statusCodeDistribution, (status) => status.startsWith('2'));
    const { [DEADLINE]: inFlight = 0, ...errors } = errorDistribution;
    const timeout = countAll(errors, (words) => TIMEOUT.test(words));
    return {
      windowSeconds: summary.total,
      counts: { ok, non2xx: answered - ok, timeout, failed: countAll(errors) - timeout, inFlight },
      statusCodes: statusCodeDistribution,
      latency: {
        answered,
        mean: (summary.average ?? 0) * 1e6,
        max: (summary.slowest ?? 0) * 1e6,
        at(name) {
          const seconds = latencyPercentiles[`p${percentOf(name)}`] ?? undefined;
          return seconds === undefined ? undefined : seconds * 1e6;
        },
      },
    };
  },
};

function countAll(counts: Record<string, number>, isMeant: (key: string) => boolean = () => true): number {
  return sum(Object.entries(counts).map(([key, count]) => (isMeant(key) ? count : 0)));
}
