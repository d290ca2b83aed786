/** The stored profiles of a run: `why.json`. They were taken after its trials, and their figures are in no other file. */
import { Type, type Static } from 'typebox';
import { id, amount, count, ordinal, shape, span, text } from './definitions.ts';
import { WHY_SCHEMA } from './versions.ts';

const frame = shape({
  name: text('The function.'),
  file: text('Its file, relative to the project or to the packages; for a binary, its program or library.'),
  module: text('What it belongs to: a package, a module of the language, or the file of the project.'),
});

/** A function in a stack. */
export type Frame = Static<typeof frame>;

const calls = shape(
  {
    all: amount('count: all system calls'),
    reads: amount('count: reads of files and sockets'),
    writes: amount('count: writes to files and sockets'),
    polls: amount('count: calls that wait until sockets are ready'),
    locks: amount('count: calls that wait for a lock, or wake those who do (futex)'),
    yields: amount('count: calls that yield the core (sched_yield), as threads that spin do'),
  },
  { description: 'Counted while strace slowed the server down. Absent if it may not.' },
);

/** The system calls of a server. */
export type Calls = Static<typeof calls>;

const garbage = shape(
  {
    collections: amount('count: garbage collections in 1,000 answers'),
    us: amount('µs: their time for each answer; in Go, CPU'),
  },
  { description: 'Told by the runtime: CPython, Node or Go. Absent if it does not tell.' },
);

/** The garbage that a server collects. */
export type GarbageUse = Static<typeof garbage>;

const perRequest = shape(
  {
    userUs: amount('µs: CPU in its own code'),
    systemUs: amount('µs: CPU in the kernel'),
    faults: amount('count: page faults'),
    waits: amount('count: context switches of threads that waited'),
    connections: Type.Optional(amount('count: connections that the load opened')),
    calls: Type.Optional(calls),
    garbage: Type.Optional(garbage),
  },
  { description: 'What a request takes, without a profiler.' },
);

/** What a request takes from the kernel and the runtime. */
export type RequestUse = Static<typeof perRequest>;

const profile = shape({
  cpuUs: amount('µs: CPU per request, before the profiler was attached'),
  perRequest: Type.Optional(perRequest),
  profiledUs: Type.Optional(
    amount('µs: CPU per request while the profiler was attached; absent without one'),
  ),
  nodes: Type.Array(count('index: of a node in the tree, the innermost function of a stack'), {
    description: 'Empty without a profiler.',
  }),
  samples: Type.Array(ordinal('count: samples of the stack at the same index of nodes')),
});

/** One profile of one fresh server. */
export type Profile = Static<typeof profile>;

const side = shape({
  target: text('The id of the target.'),
  profiler: Type.Optional(text('The profiler and its version; absent if the target has none.')),
  delayed: Type.Optional(
    text('The delayed acknowledgement for which its answers waited in the run, and the cure.'),
  ),
  profiles: Type.Array(profile, { description: 'One for each fresh server, in the order of the rounds.' }),
});

/** The profiles of a target. */
export type ProfiledSide = Static<typeof side>;

const comparedPair = shape({
  baseline: text(),
  candidate: text(),
  times: Type.Optional(
    shape(
      {
        estimate: amount('ratio: the estimate'),
        low: amount('ratio: the lower end'),
        high: amount('ratio: the upper end'),
      },
      {
        description:
          'The CPU per request of the candidate over that of the baseline by the rounds of the run, with its 95 % interval. Absent if they do not tell it.',
      },
    ),
  ),
});

/** Two targets that are compared. */
export type ComparedPair = Static<typeof comparedPair>;

export const whyFile = shape({
  schema: Type.Literal(WHY_SCHEMA, { description: 'version: of this schema' }),
  run: id('The id of the run.'),
  connections: ordinal('count: connections to each server'),
  seconds: span('s: the length of a profile'),
  requests: Type.Optional(
    ordinal(
      'count: different requests, which were sent in equal parts; absent if the run does not tell them apart',
    ),
  ),
  pairs: Type.Array(comparedPair, { description: 'The targets that are compared.' }),
  frames: Type.Array(frame, { description: 'Every function once.' }),
  tree: shape(
    {
      parents: Type.Array(
        Type.Integer({
          description: 'index: of the node that called it; -1 for an outermost one',
          minimum: -1,
        }),
      ),
      frames: Type.Array(count('index: of the function in frames')),
    },
    { description: 'The call tree of all profiles. A node comes after the one that called it.' },
  ),
  sides: Type.Array(side),
  missing: Type.Array(shape({ target: text(), reason: text() }), {
    description: 'Targets whose functions are not known, and the reason.',
  }),
});

/** The profiles of a run. */
export type WhyFile = Static<typeof whyFile>;

export const WHY_HEAD = {
  title: 'Why',
  description:
    'why.json: the sampled stacks of fresh servers of both sides of a comparison, taken after its trials.',
};

/** The output of a profiler for one process. */
export interface Profiled {
  /**
   * `collapsed`: a line for each stack, as `outer (file);inner (file) 12`. `cpuprofile`: that of V8. `perf`: the output of
   * `perf script -F ip,sym,dso`.
   */
  format: 'collapsed' | 'cpuprofile' | 'perf';
  text: string;
}
