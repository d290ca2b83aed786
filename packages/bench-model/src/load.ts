/** The load side of a window: its definition, and the types derived from it. */
import { Type, type Static } from 'typebox';
import {
  amount,
  as,
  count,
  list,
  mapOf,
  namedShape,
  optional,
  ordinal,
  shape,
  span,
  text,
  when,
} from './definitions.ts';
import { counts, latency } from './figures.ts';

const connected = {
  planned: ordinal('count: connections planned'),
  established: count('count: connections that responded at least once before the window'),
  seconds: amount('s: from the first connect to the last first response, or the deadline'),
  refused: count('count: connects that were refused or failed'),
  retried: count('count: connects that were made again'),
};
const connect = shape('Counts of the connections, and the time to establish them.', connected);

export type Connect = Static<typeof connect>;

const opened = shape('The connections that were opened in the window.', {
  count: count('count: connections'),
  connectUs: Type.Optional(as(latency, 'From the connect until the first request could be sent.')),
});

const tls = shape('The TLS of the connections.', {
  protocol: text('Of the first connection: TLSv1.3.'),
  cipher: text('Of the first connection.'),
});

export type TlsUse = Static<typeof tls>;

const firstWrong = shape('The first response with a wrong body; absent if there was none.', {
  seconds: amount('s: after the window opened'),
  bytes: count('bytes: length of its body'),
  rightBytes: Type.Optional(count('bytes: length of the right body; absent if it is not known')),
});

export type FirstWrong = Static<typeof firstWrong>;

export const idleCloses = namedShape(
  'idleCloses',
  'The idle connections that the server closed since the first connect.',
  {
    count: ordinal('count: connections'),
    sentAgain: count('count: requests that met such a close, and were sent again; they count once'),
    leastSeconds: amount('s: the shortest silence before a close'),
    mostSeconds: amount('s: the longest silence before a close'),
  },
);

export type IdleCloses = Static<typeof idleCloses>;

export const toldCounts = shape(
  'The requests in the window. If every count is there, sent is the sum of all the others.',
  {
    ...optional(counts.properties),
    ok: counts.properties.ok,
    failed: Type.Optional(count('count: requests that failed in an unknown way')),
  },
);

const slices = shape({
  milliseconds: span('ms: length of a slice'),
  ok: list('Correct responses in consecutive slices of the window.', count('count: correct responses')),
  cpuUs: Type.Optional(list('CPU of the generators in the same slices.', amount('µs: user and system CPU'))),
});

/** The course of a window. */
export type Slices = Static<typeof slices>;

/** The counts of an engine from outside; a count that it does not report is absent. */
export type ToldCounts = Static<typeof toldCounts>;

const generatorUse = shape('The cost of one generator process in the window.', {
  cpuUs: amount('µs: user and system CPU'),
  seconds: span('s: length of its window'),
  utilisation: Type.Optional(
    Type.Number({
      description: 'share: of the window in which its event loop was busy, 0 to 1',
      minimum: 0,
      maximum: 1,
    }),
  ),
  cores: Type.Optional(ordinal('count: cores that it can use; absent if that is one')),
});

export type GeneratorUse = Static<typeof generatorUse>;

const schedule = shape('The starts of an open loop (--rate). Latency counts from the intended start.', {
  intended: count('count: starts that were due in the window'),
  late: count('count: left more than 1 ms after their time'),
  dropped: count('count: still waiting for a connection when the window closed'),
  started: Type.Optional(count('count: requests that were sent in the window, whenever they were due')),
  meanOpen: Type.Optional(amount('count: mean number of requests that were due and had no outcome')),
  sinceSentUs: Type.Optional(
    as(latency, 'Without the waits of requests while a connection was free: a lower bound.'),
  ),
});

export type ScheduleReport = Static<typeof schedule>;

const timing = shape('The time that correct responses report (Server-Timing).', {
  metric: text('Its name there.'),
  toldUs: latency,
  restUs: as(latency, 'The latency of each response without the time that it reports.'),
});

/** The fields that the engines of Bench always have: they account for every request. */
const accounted = {
  lifetime: as(counts, 'From the first connect to the end of the drain.'),
  statusCodes: mapOf(count('count: responses'), 'Responses in the window by their status.'),
  silentConnections: count('count: connections that completed nothing in the window'),
  slices,
  bodiesHashed: count('count: bodies of which every byte was checked'),
};

const warmup = namedShape(
  'warmup',
  'The load before the window; in turns, before the first window of the server.',
  {
    milliseconds: span('ms: length of a slice'),
    ok: list('Correct responses in consecutive slices.', count('count: correct responses')),
    answers: count('count: responses to the load, right or wrong'),
  },
);

export type Warmup = Static<typeof warmup>;

const hostUse = shape('A host that generated load.', {
  name: text('As reports show it.'),
  cpuModel: Type.Optional(text()),
  cores: Type.Optional(ordinal('cores: logical ones')),
  release: Type.Optional(text('Of the kernel.')),
  offsetMs: Type.Number({ description: "ms: its clock minus that of the server's host" }),
  clockErrorMs: amount('ms: the most by which that can be wrong, with what changed during the load'),
});

export type HostUse = Static<typeof hostUse>;

const hostPart = shape('The part of one generator process.', {
  host: text('The name of its host.'),
  connections: ordinal('count: connections planned'),
  established: count('count: connections that responded at least once before the window'),
  counts,
  goodputPerSecond: amount('per second: correct responses over its own window'),
  completionsPerSecond: amount('per second: requests that ended, over its own window'),
  meanCycleUs: Type.Optional(amount('µs: mean time from one completion of a connection to its next')),
  silentConnections: count('count: connections that completed nothing in the window'),
  skewMs: Type.Number({
    description: "ms: when its window opened minus the plan, on the clock of the server's host",
  }),
});

export type HostPart = Static<typeof hostPart>;

const cluster = namedShape('cluster', 'The hosts of a cluster that sent the load.', {
  planned: ordinal('count: generator processes that the trial needed'),
  hosts: Type.Array(hostUse, { minItems: 1 }),
  parts: list('One for each process that reported, in the order of `generators`.', hostPart, {
    minItems: 1,
  }),
  missing: list('The processes whose report did not arrive.', shape({ host: text(), why: text() })),
  overlapSeconds: amount('s: the part of the window in which all processes fired'),
  allowedSkewMs: span('ms: the largest skew that a trial may have, the error of the clocks included'),
});

export type ClusterLoad = Static<typeof cluster>;

const owned = Type.Object({ ...accounted, connect, counts });

export const load = namedShape(
  'load',
  'The load side of the window, all generator processes merged, as far as the engine knows.',
  {
    engine: text(),
    connect: shape('The same as far as the engine reports it.', {
      ...optional(connect.properties),
      planned: connected.planned,
    }),
    windowSeconds: span('s: of a monotonic clock, the mean over the processes'),
    openedAtMs: span('ms since the epoch: when the first process opened its window'),
    closedAtMs: span('ms since the epoch: when the last process closed its window'),
    warmup: Type.Optional(warmup),
    schedule: Type.Optional(schedule),
    counts: toldCounts,
    ...optional(accounted),
    goodputPerSecond: amount('per second: correct responses, summed over the processes'),
    completionsPerSecond: amount('per second: requests that ended, whatever the outcome'),
    opened: Type.Optional(opened),
    tls: Type.Optional(tls),
    idleCloses: Type.Optional(as(idleCloses, 'Absent without any.')),
    latencyUs: Type.Optional(latency),
    latencyAtLeastUs: Type.Optional(
      as(latency, 'If every response had arrived as early as possible: a lower bound.'),
    ),
    latencyHistogram: Type.Optional(
      text('HDR histogram of the latencies in µs: compressed V2, base64.', { pattern: '^[A-Za-z0-9+/]+=*$' }),
    ),
    censoredHistogram: Type.Optional(
      text(
        'The same of the ages of requests that were older at the end of the window than the slowest response.',
        { pattern: '^[A-Za-z0-9+/]+=*$' },
      ),
    ),
    unanswered: Type.Optional(
      shape('The requests that had no response until they were older than the slowest one.', {
        count: ordinal('count: requests'),
        leastUs: amount('µs: age of the youngest when the wait for responses ended'),
      }),
    ),
    timing: Type.Optional(timing),
    meanCycleUs: Type.Optional(amount('µs: mean time from one completion of a connection to its next')),
    bodyBytes: Type.Optional(count("bytes: length of a correct response's body")),
    routes: Type.Optional(
      list(
        'Each request of a user, in the order of `requests`; absent if there is one.',
        shape({
          counts: as(counts, 'The requests of the window.'),
          lifetime: as(counts, 'The requests from the first connect to the end of the drain.'),
          latencyUs: Type.Optional(as(latency, 'The latency of its correct responses.')),
        }),
      ),
    ),
    firstWrong: Type.Optional(firstWrong),
    crossed: Type.Optional(count('count: of the mismatches, responses with the id of another request')),
    unsolicited: Type.Optional(count('count: responses without a request, from the first connect on')),
    generators: Type.Array(generatorUse, { minItems: 1 }),
    cluster: Type.Optional(cluster),
  },
  {
    allOf: [
      when(
        { required: ['lifetime'] },
        {
          type: 'object',
          required: owned.required,
          properties: { connect: { type: 'object', required: connect.required }, counts },
        },
      ),
    ],
  },
);

export type LoadResult = Static<typeof load>;

/** The result of an engine of Bench: every request is accounted for. */
export type OwnLoadResult = LoadResult & Static<typeof owned>;
