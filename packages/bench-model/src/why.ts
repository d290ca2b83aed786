/** The stored profiles of a run: `why.json`. They were taken after its trials, and their figures are in no other file. */
import { Type, type Static } from 'typebox';
import { amount, count, flag, id, list, oneOf, ordinal, shape, span, text } from './definitions.ts';
import { WHY_SCHEMA } from './versions.ts';

const frame = shape({
  name: text('The function.'),
  file: text('Its file, relative to the project or to the packages; for a binary, its program or library.'),
  module: text('What it belongs to: a package, a module of the language, or the file of the project.'),
  from: Type.Optional(
    oneOf(['project', 'package'], 'Whose code it is; absent for the language and its runtime.'),
  ),
  isWhole: flag('Its line is not known: lines has the first one of the function.'),
});

/** A function in a stack. */
export type Frame = Static<typeof frame>;

const calls = shape('Counted while strace slowed the server down. Absent if it may not.', {
  all: amount('count: all system calls'),
  writes: amount('count: writes to files and sockets'),
  bytes: Type.Optional(amount('bytes: written to files and sockets')),
});

/** The system calls of a server. */
export type Calls = Static<typeof calls>;

const garbage = shape('Told by the runtime: CPython, Node or Go. Absent if it does not tell.', {
  collections: amount('count: garbage collections in 1,000 answers'),
  us: amount('µs: their time for each answer; in Go, CPU'),
});

const statement = shape({
  text: text('The statement with ? for its values.'),
  count: amount('count: of them'),
  ms: Type.Optional(amount('ms: their time in the database; absent for SQLite')),
});

/** A statement that requests send, of each answer. */
export type Statement = Static<typeof statement>;

const wait = shape({
  file: text('The file, relative to the project.'),
  line: ordinal('index: of its line, from 1'),
  name: text('The function.'),
  code: text('The text of the line; the function if it cannot be read.'),
  in: Type.Optional(text('The first and the last function that the line has called.')),
  for: Type.Optional(oneOf(['a timer', 'a lock', 'a pool', 'a channel', 'I/O'], 'Absent for Python.')),
  ms: amount('ms: the wait'),
});

/** A line of the user at which requests wait, of each answer. */
export type Wait = Static<typeof wait>;

/** A line of the user, and how long all that waited there did, in ms. */
export type Waited = Omit<Wait, 'code'>;

const perRequest = shape('What a request causes, without a profiler.', {
  connections: Type.Optional(amount('count: connections that the load opened')),
  calls: Type.Optional(calls),
  garbage: Type.Optional(garbage),
  threads: amount('count: threads of the server, not of a request'),
  fetches: Type.Optional(amount('count: requests to the upstream')),
  statements: Type.Optional(
    list('Told by a database that Bench starts, and by SQLite in Python.', statement),
  ),
  places: Type.Optional(list('Where requests wait. Told by Python, Node and Go; absent for others.', wait)),
});

export type RequestUse = Static<typeof perRequest>;

const profile = shape({
  cpuUs: amount('µs: CPU per request, before the profiler was attached'),
  perRequest: Type.Optional(perRequest),
  profiledUs: Type.Optional(amount('µs: CPU per request while the profiler was attached')),
  nodes: list(
    'Empty without a profiler.',
    count('index: of a node in the tree, the innermost function of a stack'),
  ),
  samples: Type.Array(ordinal('count: samples of the stack at the same index of nodes')),
});

/** One profile of one fresh server. */
export type Profile = Static<typeof profile>;

const side = shape({
  target: text('The id of the target.'),
  profiler: Type.Optional(text('The profiler and its version; absent if the target has none.')),
  profiles: list('One for each fresh server, in the order of the rounds.', profile),
  lines: Type.Optional(
    list(
      'One for each of frames.',
      count('index: the line of the frame in its file on this side; 0 if it has none'),
    ),
  ),
});

/** The profiles of a target. */
export type ProfiledSide = Static<typeof side>;

const hunk = shape({
  file: text('Relative to the project.'),
  before: count('index: the first line in the baseline that differs, or the one below'),
  removed: count('count: lines of the baseline that differ'),
  after: count('index: the first line in the candidate that differs, or the one below'),
  added: count('count: lines of the candidate that differ'),
});

/** A stretch in which two versions of a file differ. Lines count from 1. */
export type Hunk = Static<typeof hunk>;

const comparedPair = shape({
  baseline: text(),
  candidate: text(),
  times: Type.Optional(
    shape('The ratio of CPU per request by the rounds, with its 95 % interval.', {
      estimate: amount('ratio: the estimate'),
      low: amount('ratio: the lower end'),
      high: amount('ratio: the upper end'),
    }),
  ),
  hunks: Type.Optional(list('Where the code of the two projects differs.', hunk)),
});

/** Two targets that are compared. */
export type ComparedPair = Static<typeof comparedPair>;

export const whyFile = shape({
  schema: Type.Literal(WHY_SCHEMA, { description: 'version: of this schema' }),
  run: id('The id of the run.'),
  connections: ordinal('count: connections to each server'),
  seconds: span('s: the length of a profile'),
  requests: Type.Optional(ordinal('count: different requests, which were sent in equal parts')),
  pairs: list('The targets that are compared.', comparedPair),
  frames: list('Every function once.', frame),
  tree: shape('The call tree of all profiles. A node comes after the one that called it.', {
    parents: Type.Array(
      Type.Integer({
        description: 'index: of the node that called it; -1 for an outermost one',
        minimum: -1,
      }),
    ),
    frames: Type.Array(count('index: of the function in frames')),
  }),
  sides: Type.Array(side),
  missing: list(
    'Targets whose functions are not known, and the reason.',
    shape({ target: text(), reason: text() }),
  ),
});

/** The profiles of a run. */
export type WhyFile = Static<typeof whyFile>;

/** A function in a stack, with its line in the file of the project; of a whole function, with its first one. */
export interface Sampled extends Frame {
  line?: number;
}

/** A stack, outermost function first, and its samples on a CPU. */
export interface Stack {
  frames: Sampled[];
  samples: number;
}

/** The output of a profiler for one process. */
export interface Profiled {
  /**
   * `collapsed`: a line for each stack, as `outer (file:3);inner (file:4) 12`. `cpuprofile`: that of V8. `perf`: the output of
   * `perf script -F ip,sym,dso`, with file and line behind a frame of Go.
   */
  format: 'collapsed' | 'cpuprofile' | 'perf';
  text: string;
}
