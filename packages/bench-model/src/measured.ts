/** Everything that a window gives: its definition, and the types derived from it. */
import { Type, type Static } from 'typebox';
import { COMPANION_LIMITS, companionUses } from './companions.ts';
import { amount, as, count, list, named, namedShape, oneOf, optional, shape, span } from './definitions.ts';
import { resources } from './figures.ts';
import { promise } from './settings.ts';
import { load } from './load.ts';

export const limit = named(
  'limit',
  oneOf(
    ['server', 'generator', 'others', 'waiting', 'unknown', ...COMPANION_LIMITS],
    'The side that was saturated; waiting if none was.',
  ),
);

export type Limit = Static<typeof limit>;

export const budget = namedShape(
  'budget',
  'The cores that it could use: all, one for each event loop, or for each process under a GIL.',
  {
    by: oneOf(['cores', 'threads', 'gil'] as const),
    usedCores: amount('cores: CPU of the server, of its loops, or of its processes'),
    usableCores: amount('cores: the most that these could use'),
  },
);

export type ServerBudget = Static<typeof budget>;

const step = {
  perSecond: amount('per second: requests that were due'),
  seconds: span('s: length of its window'),
  servedPerSecond: amount('per second: correct responses in it'),
  p50Us: Type.Optional(amount('µs: median latency; percentiles are absent as in `latency`')),
  p99Us: Type.Optional(amount('µs: p99 latency')),
  p99_9Us: Type.Optional(amount('µs: p99.9 latency')),
  maxUs: Type.Optional(amount('µs: the slowest response, or the longest wait')),
  failedShare: amount('share: of its requests that failed'),
  cpuUsPerRequest: Type.Optional(amount('µs: CPU of the server for each correct response')),
  limit,
  generatorBusy: amount('share: of its busiest process, over the window'),
};

const openLoop = shape('One open loop.', step);

export type OpenLoop = Static<typeof openLoop>;

const searchStep = shape('One open loop of a search.', {
  ...step,
  requests: count('count: requests in it that met or violated the SLO that decides'),
  brokenShare: amount('share: of these, those that broke it'),
});

export type Step = Static<typeof searchStep>;

const curve = named(
  'curve',
  list(
    'Open loops at other loads (several of --rate).',
    shape({ share: Type.Optional(span('share: of the capacity; absent for a rate')), ...step }),
  ),
);

const capacity = namedShape('capacity', 'The highest rate that meets SLOs (--slo).', {
  perSecond: span('per second: the highest rate of requests that meets the SLOs'),
  bound: Type.Optional(oneOf(['at least', 'at most'] as const, 'The figure is only a bound.')),
  by: as(promise, 'The SLO that is violated first.'),
  pacePerSecond: span('per second: correct responses in the closed loop of the warm-up'),
  steps: list('In the order of time.', searchStep, { minItems: 1 }),
});

export type FoundCapacity = Static<typeof capacity>;

const steadiness = oneOf(
  ['flat', 'warm-up', 'slowdown', 'erratic'] as const,
  'The course of goodput in a window that is long enough.',
);

/** The shape of a window: the course of goodput in it. */
export type Shape = Static<typeof steadiness>;

const hostWindow = namedShape('hostWindow', 'The machine during the window.', {
  otherProcessesCores: Type.Optional(amount('cores: of processes other than server, load and harness')),
  stealCores: Type.Optional(amount('cores: CPU that the hypervisor gave to others')),
  listenOverflows: Type.Optional(count('count: connects that found the accept queue full')),
  lostSegments: Type.Optional(count('count: TCP segments sent again, but for those reported as duplicates')),
  sentSegments: Type.Optional(count('count: TCP segments sent by the whole machine')),
  throttled: Type.Optional(count('count: thermal throttles of cores and exhausted CPU quotas')),
  harnessCores: Type.Optional(amount('cores: CPU of the harness itself')),
});

export type HostWindow = Static<typeof hostWindow>;

const age = namedShape('age', 'The age of a server that Bench started when its first window opened.', {
  secondsSinceStart: amount('s: since its launch'),
  answers: Type.Optional(count('count: complete responses of any kind, right or wrong, by then')),
  collected: Type.Optional(count('count: Node processes that collected all garbage before the load')),
});

export type Age = Static<typeof age>;

const alone = namedShape(
  'alone',
  'Median times of one request at a time, after the load. Only of an idle server that was slow.',
  {
    freshUs: amount('µs: a response on a new connection, the connect included'),
    keptUs: amount('µs: a response on a connection that had responded before'),
    bodyUs: amount('µs: the part of it from the head of the response to the end of its body'),
  },
);

/** What answers took one at a time, without a load. */
export type Alone = Static<typeof alone>;

export const turns = namedShape(
  'turns',
  'The short turns of a server, oldest first. A baseline may have more than the others.',
  {
    answers: Type.Array(count('count: correct responses of the whole turn, from silence to silence')),
    cpuUs: Type.Optional(
      list(
        'Absent if the process of the server is not known.',
        amount("µs: CPU of the server's tree in this turn"),
      ),
    ),
    restsCpuUs: Type.Optional(amount("µs: CPU of the server's tree between its turns, all rests together")),
    upkeepUsPerSecond: Type.Optional(amount("µs: CPU of the server's tree without load, for each second")),
    deferred: Type.Optional(
      amount('share: CPU between the turns above the upkeep, of all CPU of the responses'),
    ),
    goodputPerSecond: Type.Array(
      amount('per second: correct responses, from first request to last response'),
    ),
    memoryBytes: Type.Optional(list('Absent if it was not read.', amount('bytes: memory after the turn'))),
    places: Type.Optional(Type.Array(count('count: turns of all servers before it in this round'))),
  },
);

export type Turns = Static<typeof turns>;

const controlPart = shape({
  plainUs: Type.Number({ description: 'µs: CPU for each correct response in turns without it' }),
  plantedUs: Type.Number({ description: 'µs: the same in turns with it' }),
  burntUs: amount('µs: what the helper burnt for each of these responses, by its own clock'),
});

const control = namedShape(
  'control',
  'A known cost that was burnt in the accounting of the server. No other figure includes it.',
  { turns: controlPart, between: as(controlPart, 'After the turns. Negative below the upkeep.') },
);

export type Control = Static<typeof control>;

/** The fields of a window that was measured to its end. */
const whole = { load, limit, host: hostWindow };
const seen = {
  ...whole,
  server: Type.Optional(resources),
  companions: Type.Optional(named('companionRecords', companionUses)),
  cpuUsPerRequest: Type.Optional(
    amount("µs: CPU of the server's tree for each correct response, with all that they caused"),
  ),
  contextSwitchesPerRequest: Type.Optional(amount("count: of the server's tree for each correct response")),
  budget: Type.Optional(budget),
  shape: Type.Optional(steadiness),
  startupSeconds: Type.Optional(span('s: from launch to the first correct response')),
  age: Type.Optional(age),
  alone: Type.Optional(alone),
  capacity: Type.Optional(as(capacity, 'Of a search (--slo). `load` is one of its steps near it.')),
  curve: Type.Optional(curve),
  turns: Type.Optional(as(turns, 'Of servers that took short turns.')),
  control: Type.Optional(as(control, 'Of a baseline in a run until decided.')),
};
const complete = shape(seen);
export const partial = named('partial', shape(optional(seen)));

/** Everything that a window gave. */
export type Measured = Static<typeof complete>;

export const measured = named(
  'measured',
  Type.Unsafe<Measured>({
    description: 'Everything that the window gave.',
    allOf: [partial, { type: 'object', required: Object.keys(whole) }],
  }),
);
