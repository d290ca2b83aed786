/** The counts, latencies and resources of a window: their definitions, and the types derived from them. */
import { Type, type Static } from 'typebox';
import { amount, count, list, namedShape, oneOf, shape, span, text } from './definitions.ts';

export const counts = namedShape(
  'counts',
  'The outcome of requests: sent is exactly the sum of all the others.',
  {
    sent: count('count: requests, including those in flight at the start'),
    ok: count('count: correct responses'),
    non2xx: count('count: responses with a wrong status'),
    mismatch: count('count: responses with a wrong body'),
    timeout: count('count: requests without a response in time'),
    reset: count('count: requests lost to a connection that was reset or could not be opened'),
    closedEarly: count('count: requests lost to a connection that was closed'),
    inFlight: count('count: requests still in flight at the end'),
  },
);

export type Counts = Static<typeof counts>;

const PERCENTILES = ['p50', 'p75', 'p90', 'p97_5', 'p99', 'p99_9'] as const;

export const latency = namedShape(
  'latency',
  'Latency of correct responses. A percentile has ten responses beyond it.',
  {
    mean: amount('µs: of the requests with a response'),
    p50: Type.Optional(amount('µs: 50th percentile')),
    p75: Type.Optional(amount('µs: 75th percentile')),
    p90: Type.Optional(amount('µs: 90th percentile')),
    p97_5: Type.Optional(amount('µs: 97.5th percentile')),
    p99: Type.Optional(amount('µs: 99th percentile')),
    p99_9: Type.Optional(amount('µs: 99.9th percentile')),
    max: amount('µs: the slowest response; with an older request or a timeout, the longest wait'),
    atLeast: Type.Optional(
      Type.Unsafe<string[]>(
        list(
          'Percentiles that fell among requests without a response: lower bounds.',
          oneOf([...PERCENTILES, 'max']),
          { minItems: 1, uniqueItems: true },
        ),
      ),
    ),
  },
);

/** Percentiles in µs; one that its sample cannot support is absent, one beyond the timeout is a lower bound. */
export type LatencyUs = Static<typeof latency>;

const processUse = shape({
  pid: count('process: its id, as attested'),
  cores: amount('cores: CPU of its threads that were alive at the end of the window'),
  threads: list('Its busiest threads, most first.', amount('cores: CPU of one thread')),
});

/** CPU of one process over the window, of the threads that were alive at its end. */
export type ProcessUse = Static<typeof processUse>;

const memoryReading = shape({
  seconds: amount('s: since the window opened'),
  bytes: amount('bytes: of the process tree then'),
});

/** Memory at a moment of a window. */
export type MemoryReading = Static<typeof memoryReading>;

export const resources = namedShape(
  'resources',
  'Resources of the server or of a companion over the window.',
  {
    source: text('Where CPU was read: cgroup v1, proc stat ticks, self.'),
    scope: text('The processes that it covers.'),
    seconds: span('s: length of the sampled span'),
    cpuUserUs: amount('µs: CPU in user mode'),
    cpuSystemUs: amount('µs: CPU in the kernel'),
    coresUsed: amount('cores: CPU divided by the length of the span'),
    idleBytes: Type.Optional(span('bytes: before the load')),
    loadedBytes: Type.Optional(span('bytes: at the end of the window')),
    peakBytes: Type.Optional(span('bytes: the most seen in the window')),
    contextSwitches: Type.Optional(count('count: voluntary and involuntary')),
    processes: Type.Optional(count('count: processes alive at the end of the window')),
    turnover: Type.Optional(
      shape('The processes that came and went in the window, of those that lived for at least 0.1 s.', {
        began: count('count: processes that began'),
        ended: count('count: processes that ended'),
      }),
    ),
    busiest: Type.Optional(list('The processes that used most CPU, most first.', processUse)),
    memoryOverTime: Type.Optional(
      list('Memory while the window was open, oldest first: at most 120 readings.', memoryReading, {
        maxItems: 120,
      }),
    ),
  },
);

export type Resources = Static<typeof resources>;
