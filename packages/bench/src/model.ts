/**
 * The nouns that plans and records share, each defined once: the type is the `Static` of its definition. Every room may
 * import the types; only definitions import the values.
 */
import { Type, type Static, type TBoolean, type TOptional } from 'typebox';
import { UPSTREAMS } from './upstreams.ts';
import {
  amount,
  count,
  flag,
  mapOf,
  named,
  oneOf,
  ordinal,
  shape,
  span,
  text,
  texts,
} from './definitions.ts';

const STACK_CLASSES = ['raw', 'framework', 'tuned'] as const;

/** The framework's share of the work: no framework, as documented, or hand-optimised. */
export type StackClass = (typeof STACK_CLASSES)[number];

export const runtimeKind = oneOf(
  ['node', 'python', 'none'] as const,
  'The kind of runtime: none is a compiled binary.',
);

/** The kind of runtime that a stack needs: `none` is a compiled binary. */
export type RuntimeKind = Static<typeof runtimeKind>;

/** A program that can be the upstream of a workload. */
export type UpstreamKind = (typeof UPSTREAMS)[number];

export const upstreamKind = oneOf(UPSTREAMS, 'The upstream that was asked for.');

export const attestation = Type.Unsafe<Record<string, string | number | boolean | null>>({
  type: 'object',
  additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
});

/** Properties that must be true of the live server, or that it reports: one JSON value each. */
export type Attestation = Static<typeof attestation>;

export const runtimeSpec = shape(
  { kind: runtimeKind, spec: text('As written: 3.13, 3.14t, 3.14+jit, 22, bun, or a path.') },
  { description: 'The runtime as asked for; absent for a binary and for a server that was already running.' },
);

/** A runtime as asked for on the command line. */
export type RuntimeSpec = Static<typeof runtimeSpec>;

export const resolvedRuntime = named(
  'resolvedRuntime',
  shape(
    {
      ...runtimeSpec.properties,
      version: text(),
      build: mapOf(Type.String(), 'The build in its own words: compiler, configure flags, engine version.'),
    },
    { description: 'The runtime as found; absent for a binary and for a server that was already running.' },
  ),
);

/** A runtime as found on this machine. */
export type ResolvedRuntime = Static<typeof resolvedRuntime>;

const BUILD_OPTIONS = {
  pgo: 'Profile-guided optimisation.',
  lto: 'Link-time optimisation.',
  bolt: 'The binary was optimised by BOLT.',
  tailCalls: 'Bytecodes are dispatched by tail calls.',
  pointerCompression: 'V8 compresses pointers.',
  assertions: 'Internal assertions are compiled in.',
  debug: 'A debug build.',
};

/** A build option that is on or off. */
export type BuildOption = keyof typeof BUILD_OPTIONS;

export const interpreter = named(
  'interpreter',
  shape(
    {
      implementation: text('Its name: CPython, node.'),
      version: text(),
      compiler: Type.Optional(text('The compiler and its version.')),
      optimisation: Type.Optional(text('The optimisation level of the compiler: -O3.')),
      ...(Object.fromEntries(
        Object.entries(BUILD_OPTIONS).map(([name, description]) => [
          name,
          Type.Optional(Type.Boolean({ description })),
        ]),
      ) as Record<BuildOption, TOptional<TBoolean>>),
    },
    {
      description:
        'The interpreter that the live server ran, and its build as that interpreter reports it. An option that it does not report is absent.',
    },
  ),
);

/** The interpreter that a live server ran, and its build. An option that it does not report is absent. */
export type Interpreter = Static<typeof interpreter>;

const REPETITIONS = ['a/a', 'background', 'cross-check'] as const;

/** The difference of a target from the one that it repeats: none, a background request, or its engine. */
export type Repetition = (typeof REPETITIONS)[number];

export const repeats = named(
  'repeats',
  shape(
    {
      of: text('Id of the repeated target, which may itself repeat another one.'),
      as: oneOf(
        REPETITIONS,
        'The only difference from that target: a/a is none, so that figures differ by noise alone (--aa); background is a request kept in flight beside the load (--background); cross-check is another engine (--cross-check).',
      ),
    },
    { description: 'The target that this one repeats, and the difference between them.' },
  ),
);

/** The target that another one repeats, and the difference between them. */
export type Repeats = Static<typeof repeats>;

export const scale = named(
  'scale',
  shape(
    {
      of: text('Id of the target with one worker of one thread on one core; its own id if it is that.'),
      workers: ordinal('count: workers of its server'),
      threads: Type.Optional(ordinal('count: threads of each worker; absent if the stack chooses')),
      cores: ordinal('count: cores that its server may use'),
    },
    { description: 'The resources of its server, instead of those of the plan (--scale).' },
  ),
);

/** The resources of one server in a run that scales them. */
export type Scale = Static<typeof scale>;

export const copy = named(
  'copy',
  shape(
    {
      kind: oneOf(
        ['revision', 'working-tree', 'folder'] as const,
        'A commit (--rev main); the files of the project with their uncommitted changes (--rev .); another folder (--copy).',
      ),
      name: text('As typed: main, HEAD, ., ./a.'),
      commit: Type.Optional(
        text('Hash of the commit; for a working tree, of the commit that it is based on.'),
      ),
      subject: Type.Optional(text('First line of the message of that commit.')),
    },
    { description: 'The copy of the project that is measured; absent if it is measured where it is.' },
  ),
);

/** A copy of a user's project: a commit, the working tree, or another folder. */
export type Copy = Static<typeof copy>;

export const target = named(
  'target',
  shape(
    {
      id: text(
        'As written in tables: without a default variant, and without a runtime that was not asked for.',
      ),
      stack: text(),
      variant: text(),
      class: oneOf(
        [...STACK_CLASSES, 'unknown'],
        "How much of the work is the framework's; unknown of a server that was already running.",
      ),
      language: Type.String(),
      framework: Type.String(),
      runtime: Type.Optional(runtimeSpec),
      packages: Type.Optional(texts('Package versions or checkouts on top of the lock (--with).')),
      resolved: flag(
        'Locked versions without a wheel for the runtime were replaced by the newest that have one (--resolve); runtime.build.resolved names them.',
      ),
      copy: Type.Optional(copy),
      repeats: Type.Optional(repeats),
      scale: Type.Optional(scale),
      engine: Type.Optional(text('The engine that loads it, if it is not the engine of the plan.')),
    },
    { description: 'The measured target: stack[/variant][@runtime].' },
  ),
);

/** `stack[/variant][@runtime]`, resolved: one thing to be measured. */
export type Target = Static<typeof target>;

export const params = named(
  'params',
  mapOf(
    count('count: the workload says what it counts'),
    'Parameters of the workload by name, all of them; absent if it has none.',
  ),
);

export const backgroundRequest = named(
  'backgroundRequest',
  shape(
    { method: text(), path: Type.String({ pattern: '^/' }) },
    { description: 'A request that is kept in flight beside the load, to the same server.' },
  ),
);

/** A request that is kept in flight beside the load, to the same server. */
export type BackgroundRequest = Static<typeof backgroundRequest>;

export const loadMode = named(
  'loadMode',
  Type.Union(
    [
      shape({ mode: Type.Literal('closed') }),
      shape({
        mode: Type.Literal('open'),
        perSecond: ordinal('per second: starts over all generators'),
      }),
      shape({
        mode: Type.Literal('amount'),
        requests: ordinal('count: requests over all generators, instead of a window'),
      }),
    ],
    {
      description:
        'The load mode of the engine: each connection waits for its answer, at a rate, or an exact number of requests.',
    },
  ),
);

/** The load mode of an engine: each connection sends on its answer, at a rate whatever the server does, or an exact number of requests. */
export type LoadMode = Static<typeof loadMode>;

export const counts = named(
  'counts',
  shape(
    {
      sent: count('count: requests, including those in flight at the start'),
      ok: count('count: right answers'),
      non2xx: count(
        'count: answers with a wrong status: another than 2xx, unless the request expects another',
      ),
      mismatch: count('count: answers with a wrong body'),
      timeout: count('count: requests without an answer in time'),
      reset: count('count: requests lost to a connection that was reset'),
      closedEarly: count('count: requests lost to a connection that was closed'),
      inFlight: count('count: requests still in flight at the end'),
    },
    { description: 'The outcome of requests: sent is exactly the sum of all the others.' },
  ),
);

/** The outcome of requests. `sent` is exactly the sum of all the others. */
export type Counts = Static<typeof counts>;

const PERCENTILES = ['p50', 'p75', 'p90', 'p97_5', 'p99', 'p99_9'] as const;

export const latency = named(
  'latency',
  shape(
    {
      mean: amount('µs: of the answered requests'),
      p50: Type.Optional(amount('µs: 50th percentile')),
      p75: Type.Optional(amount('µs: 75th percentile')),
      p90: Type.Optional(amount('µs: 90th percentile')),
      p97_5: Type.Optional(amount('µs: 97.5th percentile')),
      p99: Type.Optional(amount('µs: 99th percentile')),
      p99_9: Type.Optional(amount('µs: 99.9th percentile')),
      max: amount('µs: the slowest answer; with an older request or a timeout, the longest wait'),
      atLeast: Type.Optional(
        Type.Unsafe<string[]>(
          Type.Array(oneOf([...PERCENTILES, 'max']), {
            description:
              'Percentiles that fell among requests without an answer. The figure is a lower bound: the timeout, or the age of the request when the window closed.',
            minItems: 1,
            uniqueItems: true,
          }),
        ),
      ),
    },
    {
      description:
        'Latency of right answers as the client saw it, or a part of it. A percentile with fewer than ten answers beyond it is absent.',
    },
  ),
);

/** Percentiles in µs; one that its sample cannot support is absent, one beyond the timeout is a lower bound. */
export type LatencyUs = Static<typeof latency>;

const processUse = shape({
  pid: count('process: its id, as attested'),
  cores: amount('cores: CPU of its threads that were alive at the end of the window'),
  threads: Type.Array(amount('cores: CPU of one thread'), {
    description: 'Its busiest threads, most first.',
  }),
});

/** CPU of one process over the window, of the threads that were alive at its end. */
export type ProcessUse = Static<typeof processUse>;

const memoryReading = shape({
  seconds: amount('s: since the window opened'),
  bytes: amount('bytes: of the process tree then'),
});

/** Memory at a moment of a window. */
export type MemoryReading = Static<typeof memoryReading>;

export const companionHost = named(
  'companionHost',
  shape(
    {
      name: text('As reports show it.'),
      cpuModel: Type.Optional(text()),
      cores: ordinal('cores: logical ones'),
      release: text('Of the kernel.'),
    },
    { description: 'The host of a cluster that a companion ran on; absent if it ran beside the server.' },
  ),
);

/** The host of a cluster that a companion ran on. */
export type CompanionHost = Static<typeof companionHost>;

export const resources = named(
  'resources',
  shape(
    {
      source: text('Where CPU was read: cgroup v1, proc stat ticks, self.'),
      scope: text('The processes that it covers.'),
      seconds: span('s: length of the sampled span'),
      cpuUserUs: amount('µs: CPU in user mode'),
      cpuSystemUs: amount('µs: CPU in the kernel'),
      coresUsed: amount('cores: CPU divided by the length of the span'),
      memorySource: Type.Optional(text('The kind of memory figures: pss, footprint.')),
      idleBytes: Type.Optional(span('bytes: before the load')),
      loadedBytes: Type.Optional(span('bytes: at the end of the window')),
      peakBytes: Type.Optional(span('bytes: the most seen in the window')),
      contextSwitches: Type.Optional(count('count: voluntary and involuntary')),
      processes: Type.Optional(count('count: processes alive at the end of the window')),
      busiest: Type.Optional(
        Type.Array(processUse, {
          description: 'The processes that used most CPU, most first; absent if threads cannot be read.',
        }),
      ),
      memoryOverTime: Type.Optional(
        Type.Array(memoryReading, {
          description: 'Memory while the window was open, oldest first: at most 120 readings.',
          maxItems: 120,
        }),
      ),
    },
    {
      description:
        'Resources of the server or of a companion over the window. An absent field was not measured.',
    },
  ),
);

/** Resources of one side over the window. Absent fields were not measured on this platform. */
export type Resources = Static<typeof resources>;
