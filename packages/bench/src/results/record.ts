/** The record of one trial: its definition, and the types derived from it. */
import { Type, type Static, type TObject, type TOptional } from 'typebox';
import {
  amount,
  as,
  count,
  digest,
  flag,
  mapOf,
  maybe,
  named,
  oneOf,
  ordinal,
  shape,
  span,
  text,
} from '../definitions.ts';
import { sent } from '../catalogue/workloads/requests/definition.ts';
import { METRIC_IDS, type MetricId } from '../metrics.ts';
import type { Interval } from '../numbers.ts';
import {
  attestation,
  counts,
  interpreter,
  latency,
  loadMode,
  params,
  resolvedRuntime,
  resources,
  target,
} from '../model.ts';
import { REASON_CODES } from '../reasons.ts';
import { COMPANIONS } from '../services/index.ts';
import { RECORD_SCHEMA } from '../versions.ts';

/** The name of a possible companion of a server during a trial. */
export type CompanionName = keyof typeof COMPANIONS;

type Parts = { [Name in CompanionName]: Awaited<ReturnType<(typeof COMPANIONS)[Name]['record']>> };
type PartOf<Name extends CompanionName, Part extends 'head' | 'use'> = Parts[Name][Part];

/** The part of each companion in a record's head. */
export type CompanionHeads = { [Name in CompanionName]: Static<PartOf<Name, 'head'>> };

/** The part of each companion in the measurements. */
export type CompanionRecords = { [Name in CompanionName]: Static<PartOf<Name, 'use'>> };

const COMPANION_NAMES = Object.keys(COMPANIONS) as CompanionName[];

const PARTS = Object.fromEntries(
  await Promise.all(COMPANION_NAMES.map(async (name) => [name, await COMPANIONS[name].record()])),
) as Parts;

/** The name of a companion that can be saturated. */
export type CompanionLimit = {
  [Name in CompanionName]: Parts[Name] extends { canBeLimit: true } ? Name : never;
}[CompanionName];

const COMPANION_LIMITS = COMPANION_NAMES.filter(
  (name): name is CompanionLimit => 'canBeLimit' in PARTS[name],
);

/** One optional field for each companion. */
function forEachCompanion<Fields extends Record<CompanionName, unknown>>(
  make: (name: CompanionName) => object,
  description: string,
): TObject<{ [Name in CompanionName]: TOptional<Extract<Fields[Name], object>> }> {
  const fields = Object.fromEntries(COMPANION_NAMES.map((name) => [name, Type.Optional(make(name))]));
  return shape(fields, { description, minProperties: 1 }) as never;
}

const ends = {
  low: Type.Optional(amount('ratio: the least that the truth can be; absent if it has no lower bound')),
  high: Type.Optional(amount('ratio: the most that the truth can be; absent if it has no upper bound')),
};
const bounds = Type.Unsafe<Partial<Record<MetricId, Partial<Interval>>>>(
  shape(Object.fromEntries(METRIC_IDS.map((id) => [id, Type.Optional(shape(ends, { minProperties: 1 }))])), {
    description:
      'The factors of its figures between which the true ones lie. An invalidated metric that is absent has no bounds.',
    minProperties: 1,
  }),
);

/** The factors between which the true figures lie, relative to those of a trial; a metric or an end that is absent has no bound. */
export type Bounds = Static<typeof bounds>;

export const reason = named(
  'reason',
  shape({
    code: oneOf(REASON_CODES),
    text: text('The observation, in words and figures.'),
    invalidates: Type.Array(named('metric', oneOf(METRIC_IDS)), {
      description: 'The metrics that it invalidates: only those leave their ranking.',
      uniqueItems: true,
    }),
    bounds: Type.Optional(bounds),
  }),
);

/** The reason why a trial is not simply `ok`: the observation, in words and figures, and the metrics that it invalidates. */
export type Reason = Static<typeof reason>;

const connected = {
  asked: ordinal('count: connections asked for'),
  stood: count('count: connections that answered at least once before the window'),
  seconds: amount('s: from the first connect to the last first answer, or the deadline'),
  refused: count('count: connects that were refused or failed'),
  retried: count('count: connects that were made again'),
};
const connect = shape(connected, {
  description: 'Counts of the connections, and the time to establish them.',
});

/** Counts of the connections, and the time to establish them. */
export type Connect = Static<typeof connect>;

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
    meanOpen: Type.Optional(
      amount('count: mean number of requests that were due and had no outcome; absent in older records'),
    ),
    lateUs: Type.Optional(
      shape(
        {
          p50: amount('µs: half of the requests waited for no longer'),
          p90: amount('µs: 90 % of them waited for no longer'),
          p99: amount('µs: 99 % of them waited for no longer'),
          max: amount('µs: the longest wait'),
        },
        {
          description:
            'The time that requests waited although a connection was free: a delay by the load generator. Latencies include it.',
        },
      ),
    ),
    sinceSentUs: Type.Optional(
      as(latency, 'The latency without that time: true percentiles lie between it and `latencyUs`.'),
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
    restUs: as(latency, 'The latency of each answer without the time that it reports.'),
  },
  { description: 'The time that right answers report (Server-Timing), of those whose latency was taken.' },
);

/** The time that answers report (`Server-Timing`), of those whose latency was taken. */
export type ServerTiming = Static<typeof timing>;

/** The fields that the engines of Bench always have: they account for every request. */
const accounted = {
  lifetime: as(
    counts,
    "From the first connect to the end of the drain: a server's own account is compared with it.",
  ),
  statusCodes: mapOf(count('count: answers'), 'Answers in the window by their status.'),
  silentConnections: count('count: connections that completed nothing in the window'),
  slices: shape({
    milliseconds: span('ms: length of a slice'),
    ok: Type.Array(count('count: right answers'), {
      description: 'Right answers in consecutive slices of the window.',
    }),
  }),
  bodiesHashed: count(
    'count: bodies of which every byte was checked, by a hash or, if requests have an id, whole; absent if the engine checks none',
  ),
};

const warmup = named(
  'warmup',
  shape(
    {
      milliseconds: span('ms: length of a slice'),
      ok: Type.Array(count('count: right answers'), {
        description:
          'Right answers in consecutive slices of the time under load before the window; in a duel, before the first window of the server.',
      }),
      answers: count(
        'count: answers to the load, right or wrong, from the first connect until that window opened',
      ),
    },
    { description: 'The load before the window. Absent if the engine does not report it.' },
  ),
);

/** The load before the window, or before the first window of a server in a duel. */
export type Warmup = Static<typeof warmup>;

const hostUse = shape(
  {
    name: text('As reports show it.'),
    cpuModel: Type.Optional(text()),
    cores: Type.Optional(ordinal('cores: logical ones')),
    release: Type.Optional(text('Of the kernel.')),
    offsetMs: Type.Number({ description: "ms: its clock minus that of the server's host" }),
    clockErrorMs: amount('ms: the most by which that can be wrong, with what changed during the load'),
    roundTripMs: amount('ms: the shortest round trip to its agent'),
    busyCores: Type.Optional(amount('cores: CPU of the whole host from the warm-up to the last report')),
    agentCores: Type.Optional(amount('cores: CPU of its agent in the same time')),
  },
  { description: 'A host that generated load.' },
);

/** A host that generated load. */
export type HostUse = Static<typeof hostUse>;

const hostPart = shape(
  {
    host: text('The name of its host.'),
    connections: ordinal('count: connections asked for'),
    stood: count('count: connections that answered at least once before the window'),
    counts,
    goodputPerSecond: amount('per second: right answers over its own window'),
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
      asked: ordinal('count: generator processes that the trial needed'),
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

const load = named(
  'load',
  shape(
    {
      engine: text(),
      connect: shape(
        { ...Type.Partial(connect).properties, asked: connected.asked },
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
      goodputPerSecond: amount('per second: right answers, summed over the processes'),
      completionsPerSecond: amount('per second: requests that ended, whatever the outcome'),
      latencyUs: maybe(latency),
      latencyAtLeastUs: maybe(
        as(
          latency,
          'The latency if every answer had arrived as early as possible: a busy generator reads answers later than they arrive, and true percentiles lie between the two. Absent if the engine cannot determine it.',
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
            'HDR histogram of ages in µs, as latencyHistogram: the requests that were older when the window closed than the slowest right answer. Each enters every percentile with its age as a lower bound. Absent if there were none, or the engine does not report them.',
          pattern: '^[A-Za-z0-9+/]+=*$',
        }),
      ),
      unanswered: Type.Optional(
        shape(
          {
            count: ordinal('count: requests'),
            leastUs: amount('µs: age of the youngest when the wait for answers ended'),
          },
          {
            description:
              'The requests without an answer after the window either, once they were older than the slowest right answer. Absent if there were none, or the engine does not report them.',
          },
        ),
      ),
      timing: Type.Optional(timing),
      meanCycleUs: maybe(amount('µs: mean time from one completion of a connection to its next')),
      bodyBytes: maybe(count("bytes: length of a right answer's body")),
      routes: Type.Optional(
        Type.Array(
          shape({
            counts: as(counts, 'The requests of the window.'),
            lifetime: as(counts, 'The requests from the first connect to the end of the drain.'),
            latencyUs: Type.Optional(as(latency, 'The latency of its right answers.')),
          }),
          {
            description:
              'The account of each request of a user, in the order of `requests`; absent if there is one.',
          },
        ),
      ),
      crossed: Type.Optional(
        count(
          'count: of the mismatches, answers with the id of another request; absent if requests have none',
        ),
      ),
      unsolicited: Type.Optional(
        count(
          'count: answers that no request had asked for, from the first connect on; absent if the engine cannot detect them',
        ),
      ),
      printedByAutocannon: maybe(
        amount(
          'per second: the average Req/Sec that autocannon itself would have printed; absent from load driver 3 on',
        ),
      ),
      generators: Type.Array(generatorUse, { minItems: 1 }),
      cluster: Type.Optional(cluster),
    },
    {
      description:
        'The load side of the window, all generator processes merged. A field that the engine cannot determine is absent.',
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      allOf: [{ if: { required: ['lifetime'] }, then: owned }],
    },
  ),
);

/** The load side of one window, all generator processes merged. A field that its engine cannot determine is absent. */
export type LoadResult = Static<typeof load>;

/** The result of an engine of Bench: every request is accounted for. */
export type OwnLoadResult = LoadResult & Static<typeof owned>;

export const limit = oneOf(
  ['server', 'generator', 'others', 'waiting', 'unknown', ...COMPANION_LIMITS],
  'The side that was saturated; waiting if none was.',
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
        amount('cores: CPU of processes other than server, load and harness'),
      ),
      unattributedCores: Type.Optional(
        amount('cores: CPU of all other processes and the server, because its process is not known'),
      ),
      otherProcessesSource: Type.Optional(
        text('Where that was read: the cgroup root, a sum over processes, ticks of /proc/stat.'),
      ),
      stealCores: Type.Optional(amount('cores: CPU that the hypervisor gave to others')),
      listenOverflows: Type.Optional(count('count: connects that found the accept queue full')),
      retransmits: Type.Optional(count('count: TCP segments sent again, without tail loss probes')),
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
      secondsSinceAnswer: amount('s: since its first right answer'),
      answers: Type.Optional(
        count(
          'count: complete answers, right or wrong, that all its processes had given by then: before the load, to the load, and to a background request; absent if the engine does not report its own part',
        ),
      ),
      collected: Type.Optional(
        count(
          'count: Node processes that collected all garbage in an idle moment before the load, as in production sooner or later; 0 if none could be asked to; absent for other runtimes and with --fresh',
        ),
      ),
    },
    {
      description:
        'The age of the server when its window opened; in a duel, when the first of its windows opened. Absent for a server that was already running.',
    },
  ),
);

/** The age of a server when its window opened, or the first of its windows in a duel. */
export type Age = Static<typeof age>;

export const turns = named(
  'turns',
  shape(
    {
      answers: Type.Array(count('count: right answers of the whole turn, from silence to silence')),
      cpuUs: Type.Optional(
        Type.Array(
          amount(
            "µs: CPU of the server's tree in this turn; in records without `restsCpuUs`, from the end of its previous turn to the end of this one",
          ),
          { description: 'Absent if the process of the server is not known.' },
        ),
      ),
      restsCpuUs: Type.Optional(
        amount("µs: CPU of the server's tree between its turns, all rests together; absent in older records"),
      ),
      goodputPerSecond: Type.Array(
        amount('per second: right answers, each connection from its first request to its last answer'),
      ),
      memoryBytes: Type.Optional(
        Type.Array(amount('bytes: memory after the turn'), { description: 'Absent if it was not read.' }),
      ),
      places: Type.Optional(
        Type.Array(count('count: turns of all servers before it in this round'), {
          description: 'The order of time; absent in older records.',
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

/** The fields of a window that was measured to its end. */
const whole = { load, limit, host: hostWindow };
const seen = {
  ...whole,
  server: Type.Optional(resources),
  companions: Type.Optional(
    named(
      'companionRecords',
      forEachCompanion<{ [Name in CompanionName]: PartOf<Name, 'use'> }>(
        (name) => PARTS[name].use,
        'The parts of the companions of the trial, by name.',
      ),
    ),
  ),
  cpuUsPerRequest: Type.Optional(
    amount(
      "µs: user and system CPU of the server's tree for each right answer to the load, including the CPU for a background request",
    ),
  ),
  contextSwitchesPerRequest: Type.Optional(amount("count: of the server's tree for each right answer")),
  budget: Type.Optional(budget),
  shape: Type.Optional(steadiness),
  startupSeconds: Type.Optional(span('s: from launch to the first right answer')),
  age: Type.Optional(age),
  turns: Type.Optional(as(turns, 'Of a duel. Absent if the engine or the companions need long windows.')),
};
const measured = named('measured', shape(seen, { description: 'Everything that the window gave.' }));
const partial = named('partial', shape(Type.Partial(measured).properties));

/** Everything that a window gave. */
export type Measured = Static<typeof measured>;

const code = shape(
  {
    from: text('The folder or the revision as typed.'),
    files: Type.Optional(ordinal('count: files')),
    sha256: Type.Optional(digest('Of the names and contents of those files.')),
    unknown: Type.Optional(
      text('The reason why the loaded code is unknown; the other fields are then absent.'),
    ),
  },
  { description: 'The code that a live server had loaded from a copy: of --with, --copy or --rev.' },
);

/** The code of a copy that a live server had loaded. */
export type RunningCode = Static<typeof code>;

const driver = named(
  'driver',
  shape(
    { name: text('Its engine.'), version: text('version: of what sent the load') },
    { description: 'The program that sent the load. Figures of two versions are not compared.' },
  ),
);

/** The program that sent the load, and its version. */
export type Driver = Static<typeof driver>;

const cores = named('cores', Type.Array(count("count: a core's number, from 0 on"), { minItems: 1 }));

export const serverProcess = shape(
  {
    pid: ordinal('process: its id'),
    executable: Type.Optional(text()),
    version: Type.Optional(text('version: as the executable prints it, if it is a known runtime')),
    command: Type.Optional(Type.Array(Type.String(), { description: 'Without secrets.' })),
    cores: Type.Optional(as(cores, 'The cores that it may use.')),
  },
  {
    description:
      'The process of a server that was already running, as the system describes it; absent if it is not known.',
  },
);

/** A process as the system describes it. A field that it does not report is absent. */
export type ServerProcess = Static<typeof serverProcess>;

export const placement = shape(
  {
    kind: oneOf(['separate', 'shared', 'unpinned'] as const),
    server: Type.Optional(cores),
    generator: Type.Optional(cores),
    beside: Type.Optional(
      forEachCompanion<Record<CompanionName, typeof cores>>(
        () => cores,
        "Cores of each companion with processes on this machine; the generators' if no core was left for it.",
      ),
    ),
  },
  {
    description:
      'The cores that each side could use, by their number; an absent list means that nothing was pinned.',
  },
);

/** The cores that each side may use; absent lists mean that the platform cannot pin. */
export type Placement = Static<typeof placement>;

export const time = shape(
  {
    format: oneOf(['gnu', 'bsd'] as const),
    elapsedSeconds: Type.Optional(amount('s: wall clock')),
    userSeconds: Type.Optional(amount('s: CPU in user mode, of descendants that were waited for')),
    systemSeconds: Type.Optional(amount('s: CPU in the kernel, of descendants that were waited for')),
    maxResidentBytes: Type.Optional(count('bytes: of the largest single process, not the sum')),
    minorFaults: Type.Optional(count('count: page faults without I/O')),
    majorFaults: Type.Optional(count('count: page faults with I/O')),
    voluntarySwitches: Type.Optional(count('count: context switches, waiting')),
    involuntarySwitches: Type.Optional(count('count: context switches, preempted')),
    fileInputs: Type.Optional(count('count: file system reads')),
    fileOutputs: Type.Optional(count('count: file system writes')),
    messagesSent: Type.Optional(count('count: socket messages; BSD only')),
    messagesReceived: Type.Optional(count('count: socket messages; BSD only')),
    signalsReceived: Type.Optional(count('count: signals; BSD only')),
    instructions: Type.Optional(count('count: instructions retired, direct child only; BSD only')),
    cycles: Type.Optional(count('count: CPU cycles, direct child only; BSD only')),
    peakFootprintBytes: Type.Optional(count('bytes: direct child only; BSD only')),
    exitStatus: Type.Optional(count('status: as the shell gives it')),
    terminatedBySignal: Type.Optional(ordinal('signal: its number')),
  },
  {
    description:
      "The report of /usr/bin/time over the server's whole life; a field that its platform does not keep is absent.",
  },
);

/** One `/usr/bin/time` report, both formats in one shape; a field that its platform does not keep is absent. */
export type TimeReport = Static<typeof time>;

export const companionHeads = forEachCompanion<{ [Name in CompanionName]: PartOf<Name, 'head'> }>(
  (name) => PARTS[name].head,
  'The companions of the server, by name; absent if there were none.',
);

const head = shape({
  schema: Type.Unsafe<number>({
    description: 'version: of this schema',
    type: 'integer',
    const: RECORD_SCHEMA,
  }),
  id: text("Unique in its run; names the trial's files."),
  run: text('Id of the run, and name of its folder.'),
  target,
  runtime: Type.Optional(resolvedRuntime),
  attested: Type.Array(attestation, {
    description:
      'The attestations of the live server, one for each process that serves; a process of several threads counts as `workers` processes.',
  }),
  interpreter: Type.Optional(
    as(interpreter, 'Absent for a binary, if it is not known, and from records before schema 6.'),
  ),
  workload: text(),
  params: Type.Optional(params),
  requests: Type.Optional(sent),
  process: Type.Optional(serverProcess),
  code: Type.Optional(code),
  connections: ordinal('count: connections asked for'),
  round: ordinal('count: from 1 on'),
  order: count('count: position in the run, from 0 on'),
  seed: count('seed: of the random choices of the trial'),
  host: Type.Optional(
    text('The host of a cluster that ran its round; absent if the machine of the command did.'),
  ),
  duel: Type.Optional(text('Trials of one duel, whose servers ran at the same time, have the same.')),
  startedAt: Type.String({
    description: 'When the trial began: ISO 8601, UTC.',
    pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
  }),
  engine: text('The engine that sent the load.'),
  driver: Type.Optional(
    as(
      driver,
      'Absent if the engine does not report its version, and from records of engines other than autocannon before schema 4.',
    ),
  ),
  load: Type.Optional(
    as(loadMode, 'The load mode of the engine; absent only from records of schema 1 that do not have it.'),
  ),
  workers: ordinal('count: processes that the server was asked to serve with'),
  threads: Type.Optional(
    ordinal('count: threads that each process was asked to serve with; absent if the stack chose'),
  ),
  cores: Type.Optional(
    ordinal('count: cores that the server was to use, if asked for; placement has those that it could use'),
  ),
  companions: Type.Optional(companionHeads),
  placement,
  warmupSeconds: amount('s: of load before the window'),
  plannedSeconds: span('s: length of the window as planned'),
  timeoutSeconds: span('s: after which a request counts as timed out'),
  quick: flag('A first impression (--quick): never published, never compared.'),
});

/** The part of a trial's record that is known before its outcome. */
export type TrialHead = Static<typeof head>;

const tail = shape({
  time: Type.Optional(time),
  files: Type.Array(Type.String({ pattern: '^(?!/)(?!.*\\.\\.).' }), {
    description: "The log and the raw time(1) report, relative to the run's folder.",
  }),
  logTail: Type.Optional(
    Type.Array(Type.String(), {
      description: 'The last lines of the log of a server that was started; present whenever a reason is.',
    }),
  ),
});

/** The part of a trial's record about the end of the server, whatever the outcome. */
export type TrialTail = Static<typeof tail>;

/** The fields that depend on the status of a trial. */
const OUTCOMES = {
  ok: { reasons: Type.Unsafe<[]>(Type.Array(reason, { maxItems: 0 })), measured },
  suspect: { reasons: Type.Array(reason, { minItems: 1 }), measured },
  failed: {
    reasons: Type.Array(reason, { minItems: 1 }),
    partial: Type.Optional(as(partial, 'Measured before the trial failed; never ranked.')),
  },
};

type Status = keyof typeof OUTCOMES;
export const STATUSES = Object.keys(OUTCOMES) as Status[];
type TrialOf<Of extends Status> = TrialHead &
  TrialTail & { status: Of } & Static<TObject<(typeof OUTCOMES)[Of]>>;

export type OkTrial = TrialOf<'ok'>;
export type SuspectTrial = TrialOf<'suspect'>;
export type FailedTrial = TrialOf<'failed'>;
/** The record of one trial: figures can only be read where there are some. */
export type Trial = OkTrial | SuspectTrial | FailedTrial;

const varying = [...new Set(STATUSES.flatMap((status) => Object.keys(OUTCOMES[status])))];

/** The definition of a record: head and tail, and the fields that belong to its status and to no other. */
export const record = Type.Unsafe<Trial>({
  ...shape({ ...head.properties, ...tail.properties, status: oneOf(STATUSES) }),
  properties: {
    ...head.properties,
    ...tail.properties,
    status: oneOf(STATUSES),
    ...Object.fromEntries(varying.map((name) => [name, true])),
  },
  allOf: STATUSES.map((status) => {
    const { type, required, properties } = Type.Object(OUTCOMES[status]);
    const others = varying.filter((name) => !(name in properties));
    return {
      if: { properties: { status: { const: status } }, required: ['status'] },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: {
        type,
        required,
        properties: { ...properties, ...Object.fromEntries(others.map((name) => [name, false])) },
      },
    };
  }),
});

export const RECORD_HEAD = {
  title: "The record of one trial: one line of a run's trials.jsonl",
  description:
    "A field that was not measured is absent: never 0, never -1. A figure's description begins with its unit. History: 1 (2026-11-20) first version; 2 (2026-11-22) the load mode is separate from the engine; 3 (2026-11-22) foreign is crossed, foreignCores and foreignSource are otherProcessesCores and otherProcessesSource, shape none is erratic; reasons have a closed list of codes; budget and busiest are new; slices are 50 ms long; the companions of a trial are in one object each of its head, its measurements and its placement; 4 (2026-11-22) repeats replaces aaOf, undisturbed and crossOf of a target; driver, age and warmup are new; 5 (2026-11-22) the request of --url is one of `requests`, whose routes have an account each; the turns of a duel and `collected` are new; 6 (2026-11-23) `interpreter` is new.",
};
