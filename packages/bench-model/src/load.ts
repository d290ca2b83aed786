/** The load side of a window: its definition, and the types derived from it. */
import { Type, type Static } from 'typebox';
import { amount, as, count, mapOf, maybe, named, ordinal, shape, span, text } from './definitions.ts';
import { counts, latency } from './figures.ts';

const connected = {
  planned: ordinal('count: connections planned'),
  established: count('count: connections that responded at least once before the window'),
  seconds: amount('s: from the first connect to the last first response, or the deadline'),
  refused: count('count: connects that were refused or failed'),
  retried: count('count: connects that were made again'),
};
const connect = shape(connected, {
  description: 'Counts of the connections, and the time to establish them.',
});

/** Counts of the connections, and the time to establish them. */
export type Connect = Static<typeof connect>;

const opened = shape(
  {
    count: count('count: connections'),
    connectUs: Type.Optional(
      as(latency, 'The time from the connect until the first request could be sent; absent without any.'),
    ),
  },
  {
    description: 'The connections that were opened in the window. Absent if the engine does not count them.',
  },
);

const tls = shape(
  {
    protocol: text('Of the first connection: TLSv1.3.'),
    cipher: text('Of the first connection.'),
  },
  { description: 'The TLS of the connections. Absent for plain HTTP, and if the engine does not report it.' },
);

/** The TLS of the connections of a load. */
export type TlsUse = Static<typeof tls>;

const firstWrong = shape(
  {
    seconds: amount('s: after the window opened'),
    bytes: count('bytes: length of its body'),
    rightBytes: Type.Optional(count('bytes: length of the right body; absent if it is not known')),
  },
  { description: 'The first response with a wrong body; absent if there was none.' },
);

/** The first answer with a wrong body in a window. */
export type FirstWrong = Static<typeof firstWrong>;

export const idleCloses = named(
  'idleCloses',
  shape(
    {
      count: ordinal('count: connections'),
      sentAgain: count('count: requests that met such a close, and were sent again on a new connection'),
      leastSeconds: amount('s: the shortest silence before a close'),
      mostSeconds: amount('s: the longest silence before a close'),
    },
    {
      description:
        'The connections that the server closed because they were idle. A request that is sent again counts once, and is no failure.',
    },
  ),
);

/** The connections that the server closed because they were idle. */
export type IdleCloses = Static<typeof idleCloses>;

export const toldCounts = shape(
  {
    ...Type.Partial(counts).properties,
    ok: counts.properties.ok,
    failed: Type.Optional(count('count: requests that failed in a way that the engine does not distinguish')),
  },
  {
    description:
      'The requests in the window as far as the engine reports them. The engines of Bench report every count, and sent is then exactly the sum of all the others.',
  },
);

const slices = shape({
  milliseconds: span('ms: length of a slice'),
  ok: Type.Array(count('count: correct responses'), {
    description: 'Correct responses in consecutive slices of the window.',
  }),
  cpuUs: Type.Optional(
    Type.Array(amount('µs: user and system CPU'), {
      description:
        'CPU of the generators in the same slices: what a response costs them follows the pace of the machine.',
    }),
  ),
});

/** The course of a window. */
export type Slices = Static<typeof slices>;

/** The counts of an engine from outside; a count that it does not report is absent. */
export type ToldCounts = Static<typeof toldCounts>;

const generatorUse = shape(
  {
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
  },
  { description: 'The cost of one generator process in the window.' },
);

/** The cost of one generator process in the window. */
export type GeneratorUse = Static<typeof generatorUse>;

const schedule = shape(
  {
    intended: count('count: starts that were due in the window'),
    late: count('count: left more than 1 ms after their time'),
    dropped: count('count: still waiting for a connection when the window closed'),
    started: Type.Optional(count('count: requests that were sent in the window, whenever they were due')),
    meanOpen: Type.Optional(amount('count: mean number of requests that were due and had no outcome')),
    sinceSentUs: Type.Optional(
      as(
        latency,
        'The latency without the time that requests waited although a connection was free: true percentiles lie between it and `latencyUs`.',
      ),
    ),
  },
  {
    description:
      'The starts of an open loop (--rate) over the window; latency then counts from the intended start.',
  },
);

/** The starts of an open loop over a window. */
export type ScheduleReport = Static<typeof schedule>;

const timing = shape(
  {
    metric: text('Its name there.'),
    toldUs: latency,
    restUs: as(latency, 'The latency of each response without the time that it reports.'),
  },
  {
    description: 'The time that correct responses report (Server-Timing), of those whose latency was taken.',
  },
);

/** The fields that the engines of Bench always have: they account for every request. */
const accounted = {
  lifetime: as(
    counts,
    "From the first connect to the end of the drain: a server's own account is compared with it.",
  ),
  statusCodes: mapOf(count('count: responses'), 'Responses in the window by their status.'),
  silentConnections: count('count: connections that completed nothing in the window'),
  slices,
  bodiesHashed: count(
    'count: bodies of which every byte was checked, by a hash or, if requests have an id, whole; absent if the engine checks none',
  ),
};

const warmup = named(
  'warmup',
  shape(
    {
      milliseconds: span('ms: length of a slice'),
      ok: Type.Array(count('count: correct responses'), {
        description:
          'Correct responses in consecutive slices of the time under load before the window; in turns, before the first window of the server.',
      }),
      answers: count(
        'count: responses to the load, right or wrong, from the first connect until that window opened',
      ),
    },
    { description: 'The load before the window. Absent if the engine does not report it.' },
  ),
);

/** The load before the window, or before the first window of a server in turns. */
export type Warmup = Static<typeof warmup>;

const hostUse = shape(
  {
    name: text('As reports show it.'),
    cpuModel: Type.Optional(text()),
    cores: Type.Optional(ordinal('cores: logical ones')),
    release: Type.Optional(text('Of the kernel.')),
    offsetMs: Type.Number({ description: "ms: its clock minus that of the server's host" }),
    clockErrorMs: amount('ms: the most by which that can be wrong, with what changed during the load'),
  },
  { description: 'A host that generated load.' },
);

/** A host that generated load. */
export type HostUse = Static<typeof hostUse>;

const hostPart = shape(
  {
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
  },
  { description: 'The part of one generator process.' },
);

/** The part of one generator process of a cluster. */
export type HostPart = Static<typeof hostPart>;

const cluster = named(
  'cluster',
  shape(
    {
      planned: ordinal('count: generator processes that the trial needed'),
      hosts: Type.Array(hostUse, { minItems: 1 }),
      parts: Type.Array(hostPart, {
        description: 'One for each process that reported, in the order of `generators`.',
        minItems: 1,
      }),
      missing: Type.Array(shape({ host: text(), why: text() }), {
        description: 'The processes whose report did not arrive.',
      }),
      overlapSeconds: amount('s: the part of the window in which all processes fired'),
      allowedSkewMs: span('ms: the largest skew that a trial may have, the error of the clocks included'),
    },
    { description: 'The hosts of a cluster that sent the load; absent if this machine sent it alone.' },
  ),
);

/** The hosts of a cluster that sent the load. */
export type ClusterLoad = Static<typeof cluster>;

const owned = Type.Object({ ...accounted, connect, counts });

export const load = named(
  'load',
  shape(
    {
      engine: text(),
      connect: shape(
        { ...Type.Partial(connect).properties, planned: connected.planned },
        {
          description:
            'Counts of the connections and the time to establish them, as far as the engine reports them.',
        },
      ),
      windowSeconds: span('s: of a monotonic clock, the mean over the processes'),
      openedAtMs: span('ms since the epoch: when the first process opened its window'),
      closedAtMs: span('ms since the epoch: when the last process closed its window'),
      warmup: Type.Optional(warmup),
      schedule: Type.Optional(schedule),
      counts: toldCounts,
      ...Type.Partial(Type.Object(accounted)).properties,
      goodputPerSecond: amount('per second: correct responses, summed over the processes'),
      completionsPerSecond: amount('per second: requests that ended, whatever the outcome'),
      opened: Type.Optional(opened),
      tls: Type.Optional(tls),
      idleCloses: Type.Optional(
        as(
          idleCloses,
          'Idle closes since the first connect. Absent without any, and from engines that do not count them.',
        ),
      ),
      latencyUs: maybe(latency),
      latencyAtLeastUs: maybe(
        as(
          latency,
          'The latency if every response had arrived as early as possible: a busy generator reads responses later than they arrive, and true percentiles lie between the two. Absent if the engine cannot determine it.',
        ),
      ),
      latencyHistogram: maybe(
        Type.String({
          description: 'HDR histogram of the latencies in µs: compressed V2, base64.',
          pattern: '^[A-Za-z0-9+/]+=*$',
        }),
      ),
      censoredHistogram: Type.Optional(
        Type.String({
          description:
            'HDR histogram of ages in µs, as latencyHistogram: the requests that were older when the window closed than the slowest correct response. Each enters every percentile with its age as a lower bound. Absent if there were none, or the engine does not report them.',
          pattern: '^[A-Za-z0-9+/]+=*$',
        }),
      ),
      unanswered: Type.Optional(
        shape(
          {
            count: ordinal('count: requests'),
            leastUs: amount('µs: age of the youngest when the wait for responses ended'),
          },
          {
            description:
              'The requests without a response after the window either, once they were older than the slowest correct response. Absent if there were none, or the engine does not report them.',
          },
        ),
      ),
      timing: Type.Optional(timing),
      meanCycleUs: maybe(amount('µs: mean time from one completion of a connection to its next')),
      bodyBytes: maybe(count("bytes: length of a correct response's body")),
      routes: Type.Optional(
        Type.Array(
          shape({
            counts: as(counts, 'The requests of the window.'),
            lifetime: as(counts, 'The requests from the first connect to the end of the drain.'),
            latencyUs: Type.Optional(as(latency, 'The latency of its correct responses.')),
          }),
          {
            description:
              'The account of each request of a user, in the order of `requests`; absent if there is one.',
          },
        ),
      ),
      firstWrong: Type.Optional(firstWrong),
      crossed: Type.Optional(
        count(
          'count: of the mismatches, responses with the id of another request; absent if requests have none',
        ),
      ),
      unsolicited: Type.Optional(
        count(
          'count: responses that no request had asked for, from the first connect on; absent if the engine cannot detect them',
        ),
      ),
      generators: Type.Array(generatorUse, { minItems: 1 }),
      cluster: Type.Optional(cluster),
    },
    {
      description:
        'The load side of the window, all generator processes merged. A field that the engine cannot determine is absent.',
      allOf: [
        {
          if: { required: ['lifetime'] },
          // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
          then: {
            type: 'object',
            required: owned.required,
            properties: { connect: { type: 'object', required: connect.required }, counts },
          },
        },
      ],
    },
  ),
);

/** The load side of one window, all generator processes merged. A field that its engine cannot determine is absent. */
export type LoadResult = Static<typeof load>;

/** The result of an engine of Bench: every request is accounted for. */
export type OwnLoadResult = LoadResult & Static<typeof owned>;
