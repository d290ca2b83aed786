/** The record of one trial: its definition, and the types derived from it. */
import { Type, type Static, type TNumber, type TObject, type TOptional } from 'typebox';
import {
  amount,
  as,
  count,
  digest,
  flag,
  id,
  list,
  named,
  namedShape,
  oneOf,
  ordinal,
  shape,
  span,
  text,
  when,
} from './definitions.ts';
import { companionHeads, forEachCompanion } from './companions.ts';
import { measured, partial } from './measured.ts';
import { METRIC_IDS } from './metrics.ts';
import { REASON_CODES, type Bounds } from './reasons.ts';
import { plannedTrial } from './plan.ts';
import { sent } from './requests.ts';
import { loadMode, params } from './settings.ts';
import { attestation, interpreter, resolvedRuntime, target } from './target.ts';
import { RECORD_SCHEMA } from './versions.ts';
import { TIME_FIELD_NAMES, TIME_FIELDS, type TimeField } from './time-fields.ts';

const ends = {
  low: Type.Optional(amount('ratio: the least that the truth can be')),
  high: Type.Optional(amount('ratio: the most that the truth can be')),
};
const bounds = Type.Unsafe<Bounds>(
  shape(
    'The factors of its figures between which the true ones lie.',
    Object.fromEntries(
      METRIC_IDS.map((metric) => [
        metric,
        Type.Optional(namedShape('ends', 'The bounds of a figure.', ends, { minProperties: 1 })),
      ]),
    ),
    { minProperties: 1 },
  ),
);

export const reason = named(
  'reason',
  shape({
    code: oneOf(REASON_CODES),
    text: text('The observation, in words and figures.'),
    invalidates: list(
      'The metrics that it invalidates: only those leave their ranking.',
      named('metric', oneOf(METRIC_IDS)),
      { uniqueItems: true },
    ),
    bounds: Type.Optional(bounds),
  }),
);

const code = shape('The code that a live server had loaded from a copy.', {
  from: text('The folder or the revision as typed.'),
  files: Type.Optional(ordinal('count: files')),
  sha256: Type.Optional(digest('Of the names and contents of those files.')),
  unknown: Type.Optional(text('The reason why it is unknown.')),
});

export type RunningCode = Static<typeof code>;

const driver = namedShape('driver', 'The program that sent the load.', {
  name: text('Its engine.'),
  version: text('version: of what sent the load'),
});

const cores = named('cores', Type.Array(count("count: a core's number, from 0 on"), { minItems: 1 }));

export const serverProcess = shape('The process of a server that was already running.', {
  pid: ordinal('process: its id'),
  executable: Type.Optional(text()),
  version: Type.Optional(text('version: as the executable prints it, if it is a known runtime')),
  command: Type.Optional(list('Without secrets.', Type.String())),
  cores: Type.Optional(as(cores, 'The cores that it may use.')),
});

export type ServerProcess = Static<typeof serverProcess>;

export const placement = shape('The cores that each side could use; a side that was not pinned is absent.', {
  kind: oneOf(['separate', 'shared', 'unpinned'] as const),
  server: Type.Optional(cores),
  generator: Type.Optional(cores),
  beside: Type.Optional(forEachCompanion('Cores of each companion with processes on this machine.', cores)),
});

export type Placement = Static<typeof placement>;

const timeFields = Object.fromEntries(
  TIME_FIELD_NAMES.map((name) => {
    const { label, unit, scope } = TIME_FIELDS[name];
    return [name, Type.Optional((unit === 's' ? amount : count)(`${unit}: ${label}, of the ${scope}`))];
  }),
) as Record<TimeField, TOptional<TNumber>>;

export const time = shape("The report of /usr/bin/time over the server's whole life.", {
  format: oneOf(['gnu', 'bsd'] as const),
  ...timeFields,
  exitStatus: Type.Optional(count('status: as the shell gives it')),
  terminatedBySignal: Type.Optional(ordinal('signal: its number')),
});

export type TimeReport = Static<typeof time>;

const head = shape({
  schema: Type.Unsafe<number>({
    description: 'version: of this schema',
    type: 'integer',
    const: RECORD_SCHEMA,
  }),
  id: id("Unique in its run; names the trial's files."),
  run: id('Id of the run, and name of its folder.'),
  target,
  runtime: Type.Optional(resolvedRuntime),
  attested: list('Those of the live server, one for each of `workers`.', attestation),
  interpreter: Type.Optional(as(interpreter, 'Absent for a binary, and if it is not known.')),
  workload: text(),
  params: Type.Optional(params),
  requests: Type.Optional(sent),
  process: Type.Optional(serverProcess),
  code: Type.Optional(code),
  ...Type.Omit(plannedTrial, ['id', 'target']).properties,
  host: Type.Optional(text('The host of a cluster that ran its round.')),
  startedAt: text('When the trial began: ISO 8601, UTC.', {
    pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
  }),
  engine: text('The engine that sent the load.'),
  driver: Type.Optional(as(driver, 'Absent if the engine does not report its version.')),
  load: as(loadMode, 'The load mode of the engine.'),
  workers: ordinal('count: processes that the server was asked to serve with'),
  threads: Type.Optional(ordinal('count: threads that each process was asked to serve with')),
  cores: Type.Optional(ordinal('count: cores that the server was asked to use')),
  companions: Type.Optional(companionHeads),
  placement,
  warmupSeconds: amount('s: of load before the window'),
  timeoutSeconds: span('s: after which a request counts as timed out'),
  quick: flag('A first impression (--quick): never published, never compared.'),
});

/** The part of a trial's record that is known before its outcome. */
export type TrialHead = Static<typeof head>;

const tail = shape({
  time: Type.Optional(time),
  files: list(
    "The log and the raw time(1) report, in the run's folder.",
    Type.String({ pattern: '^(\\w[\\w.@+~-]*/)*\\w[\\w.@+~-]*$' }),
  ),
  logTail: Type.Optional(list('The last lines of its log, if there are reasons.', Type.String())),
});

/** The part of a trial's record about the end of the server, whatever the outcome. */
export type TrialTail = Static<typeof tail>;

/** The fields that depend on the status of a trial. */
const OUTCOMES = {
  ok: { reasons: list('Findings only: they take no figure away.', reason), measured },
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
    const fields = { ...properties, ...Object.fromEntries(others.map((name) => [name, false])) };
    const own = { properties: { status: { const: status } }, required: ['status'] };
    return when(own, { type, required, properties: fields });
  }),
});
