/** Everything that a window gives: its definition, and the types derived from it. */
import { Type, type Static } from 'typebox';
import {
  COMPANION_LIMITS,
  COMPANION_PARTS,
  forEachCompanion,
  type CompanionName,
  type PartOf,
} from './companions.ts';
import { amount, as, count, named, oneOf, shape, span } from './definitions.ts';
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

/** The side that was saturated. */
export type Limit = Static<typeof limit>;

export const budget = named(
  'budget',
  shape(
    {
      by: oneOf(['cores', 'threads', 'gil'] as const),
      usedCores: amount('cores: CPU of the server, of its loops, or of its processes'),
      usableCores: amount('cores: the most that these could use'),
    },
    {
      description:
        'The budget that the server was judged by: all its cores, one core for each of its event loops, or for each process under a GIL. Absent if its CPU was not measured.',
    },
  ),
);

/** The most that a server could use: all its cores, one core for each of its event loops, or for each process under a GIL. */
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
  budget: Type.Optional(budget),
  generatorBusy: amount('share: of its busiest process, over the window'),
  meanOpen: Type.Optional(amount('count: mean number of requests that were due and had no outcome')),
  listenOverflows: Type.Optional(count('count: connects that found the accept queue full')),
};

const openLoop = shape(step, { description: 'One open loop.' });

/** One open loop beside others on the same server. */
export type OpenLoop = Static<typeof openLoop>;

const searchStep = shape(
  {
    ...step,
    requests: count('count: requests in it that kept or broke the promise that decides'),
    brokenShare: amount('share: of these, those that broke it'),
  },
  { description: 'One open loop of a search.' },
);

/** One open loop of a search. */
export type Step = Static<typeof searchStep>;

const curve = named(
  'curve',
  Type.Array(shape({ share: Type.Optional(span('share: of the capacity; absent for a rate')), ...step }), {
    description: 'Open loops at other loads (several of --rate).',
  }),
);

const capacity = named(
  'capacity',
  shape(
    {
      perSecond: span('per second: the highest rate of requests that keeps the promises'),
      bound: Type.Optional(
        oneOf(
          ['at least', 'at most'] as const,
          'The capacity is not lower, or not higher, than the figure; absent if it was found.',
        ),
      ),
      by: as(promise, 'The promise that breaks first.'),
      pacePerSecond: span('per second: correct responses in the closed loop of the warm-up'),
      steps: Type.Array(searchStep, { description: 'In the order of time.', minItems: 1 }),
    },
    { description: 'The result of a search of the highest rate that keeps promises (--slo).' },
  ),
);

/** The highest rate that keeps promises, and the steps of its search. */
export type FoundCapacity = Static<typeof capacity>;

const steadiness = oneOf(
  ['flat', 'warm-up', 'slowdown', 'erratic'] as const,
  'The course of goodput in the window; absent if it was too short to judge.',
);

/** The shape of a window: the course of goodput in it. */
export type Shape = Static<typeof steadiness>;

const hostWindow = named(
  'hostWindow',
  shape(
    {
      otherProcessesCores: Type.Optional(
        amount(
          'cores: CPU of processes other than server, load and harness; absent if the server is not known',
        ),
      ),
      stealCores: Type.Optional(amount('cores: CPU that the hypervisor gave to others')),
      listenOverflows: Type.Optional(count('count: connects that found the accept queue full')),
      lostSegments: Type.Optional(
        count('count: TCP segments sent again, without those that their receivers reported as duplicates'),
      ),
      sentSegments: Type.Optional(count('count: TCP segments sent by the whole machine')),
      throttled: Type.Optional(count('count: thermal throttles of cores and exhausted CPU quotas')),
      harnessCores: Type.Optional(amount('cores: CPU of the harness itself')),
    },
    { description: 'The machine during the window.' },
  ),
);

/** The machine during the window. */
export type HostWindow = Static<typeof hostWindow>;

const age = named(
  'age',
  shape(
    {
      secondsSinceStart: amount('s: since its launch'),
      answers: Type.Optional(
        count(
          'count: complete responses, right or wrong, that all its processes had given by then: before the load, to the load, and to a background request; absent if the engine does not report its own part',
        ),
      ),
      collected: Type.Optional(
        count(
          'count: Node processes that collected all garbage in an idle moment before the load, as in production sooner or later; 0 if none could be asked to; absent for other runtimes and with --no-initial-gc',
        ),
      ),
    },
    {
      description:
        'The age of the server when its window opened; in turns, when the first of its windows opened. Absent for a server that was already running.',
    },
  ),
);

/** The age of a server when its window opened, or the first of its windows in turns. */
export type Age = Static<typeof age>;

const alone = named(
  'alone',
  shape(
    {
      freshUs: amount('µs: a response on a new connection, the connect included'),
      keptUs: amount('µs: a response on a connection that had responded before'),
      bodyUs: amount('µs: the part of it from the head of the response to the end of its body'),
    },
    {
      description:
        'Medians of responses to one request at a time, asked after the load; of mixed requests, their means. Only of an idle server whose responses were slow, in the first round.',
    },
  ),
);

/** What answers took one at a time, without a load. */
export type Alone = Static<typeof alone>;

export const turns = named(
  'turns',
  shape(
    {
      answers: Type.Array(count('count: correct responses of the whole turn, from silence to silence')),
      cpuUs: Type.Optional(
        Type.Array(
          amount(
            "µs: CPU of the server's tree in this turn; in records without `restsCpuUs`, from the end of its previous turn to the end of this one",
          ),
          { description: 'Absent if the process of the server is not known.' },
        ),
      ),
      restsCpuUs: Type.Optional(amount("µs: CPU of the server's tree between its turns, all rests together")),
      restsSeconds: Type.Optional(
        amount('s: the rests together, with the time after the last turn in which deferred work is awaited'),
      ),
      upkeepUsPerSecond: Type.Optional(amount("µs: CPU of the server's tree without load, for each second")),
      deferred: Type.Optional(
        amount(
          'share: CPU between the turns above the upkeep, of all CPU that the responses caused; `cpuUsPerRequest` includes it. Absent in records whose `cpuUsPerRequest` does not',
        ),
      ),
      goodputPerSecond: Type.Array(
        amount('per second: correct responses, each connection from its first request to its last response'),
      ),
      memoryBytes: Type.Optional(
        Type.Array(amount('bytes: memory after the turn'), { description: 'Absent if it was not read.' }),
      ),
      places: Type.Optional(
        Type.Array(count('count: turns of all servers before it in this round'), {
          description: 'The order of time.',
        }),
      ),
    },
    {
      description:
        'The short turns of a server, oldest first. A baseline may have more turns than the others. Without `places`, turns with the same index of two servers are neighbours in time.',
    },
  ),
);

/** The short turns of a server, oldest first. */
export type Turns = Static<typeof turns>;

const controlPart = shape({
  plainUs: Type.Number({ description: 'µs: CPU for each correct response in turns without it' }),
  plantedUs: Type.Number({ description: 'µs: the same in turns with it' }),
  burntUs: amount('µs: what the helper burnt for each of these responses, by its own clock'),
});

const control = named(
  'control',
  shape(
    { turns: controlPart, between: as(controlPart, 'After the turns. Negative below the upkeep.') },
    {
      description:
        'The control: a cost that a helper burnt in the accounting of the server, half of it in some turns and half after them. No other figure includes the turns of a control.',
    },
  ),
);

/** What was planted into turns of a server, and what was read of them. */
export type Control = Static<typeof control>;

/** The fields of a window that was measured to its end. */
const whole = { load, limit, host: hostWindow };
const seen = {
  ...whole,
  server: Type.Optional(resources),
  companions: Type.Optional(
    named(
      'companionRecords',
      forEachCompanion<{ [Name in CompanionName]: PartOf<Name, 'use'> }>(
        (name) => COMPANION_PARTS[name].use,
        'The parts of the companions of the trial, by name.',
      ),
    ),
  ),
  cpuUsPerRequest: Type.Optional(
    amount(
      "µs: user and system CPU of the server's tree for each correct response to the load, including the CPU for a background request",
    ),
  ),
  contextSwitchesPerRequest: Type.Optional(amount("count: of the server's tree for each correct response")),
  budget: Type.Optional(budget),
  shape: Type.Optional(steadiness),
  startupSeconds: Type.Optional(span('s: from launch to the first correct response')),
  age: Type.Optional(age),
  alone: Type.Optional(alone),
  capacity: Type.Optional(
    as(
      capacity,
      'Of a search (--slo); `load` is then one of its steps near it, if possible one that kept the promises.',
    ),
  ),
  curve: Type.Optional(curve),
  turns: Type.Optional(
    as(turns, 'Of servers that took turns. Absent if the engine or the companions need long windows.'),
  ),
  control: Type.Optional(
    as(control, 'Of a baseline in a run until decided. Absent if nothing could be planted.'),
  ),
};
const complete = shape(seen);
export const partial = named('partial', shape(Type.Partial(complete).properties));

/** Everything that a window gave. */
export type Measured = Static<typeof complete>;

export const measured = named(
  'measured',
  Type.Unsafe<Measured>({
    description: 'Everything that the window gave.',
    allOf: [partial, { type: 'object', required: Object.keys(whole) }],
  }),
);
