/** A stored study of warm-up: `study.json`, and one line of `processes.jsonl` for each process. */
import { Type, type Static } from 'typebox';
import {
  amount,
  as,
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
import { attestation, resolvedRuntime, target } from './target.ts';
import { params } from './settings.ts';
import { REASON_CODES } from './reasons.ts';
import { STUDY_SCHEMA } from './versions.ts';
import { turns } from './measured.ts';
import { leftOut, versions } from './run.ts';

const course = named(
  'course',
  shape(
    {
      seconds: Type.Array(
        amount('s: since the first right answer of the process, at the middle of each of its turns'),
      ),
      answersBefore: count('count: right answers of the process under load before its first turn'),
      fresh: turns,
      reference: turns,
    },
    { description: 'The turns of the fresh process, and those of the reference beside them.' },
  ),
);

/** The turns of a fresh process, and those of the warm reference beside them, on the same core. */
export type RecordedCourse = Static<typeof course>;

export const studiedProcess = shape({
  schema: Type.Literal(STUDY_SCHEMA, { description: 'version: of this schema' }),
  id: text('Unique in the study.'),
  run: text('Id of the study.'),
  target,
  runtime: Type.Optional(resolvedRuntime),
  attested: Type.Array(attestation, { description: 'The attestations of its workers.' }),
  process: ordinal('count: its number among the processes of its target, from 1 on'),
  order: count('count: position in the study, from 0 on'),
  seed: count('seed: of its random choices'),
  startedAt: text('ISO 8601.'),
  connections: ordinal('count: connections, for each of the two servers'),
  status: oneOf(
    ['ok', 'cut', 'failed'] as const,
    'cut: the study was interrupted while this process was measured. Only ok counts in figures.',
  ),
  reasons: Type.Array(
    shape({
      code: oneOf(REASON_CODES),
      text: text('The observation, in words and figures.'),
    }),
    { description: 'The problems of the process.' },
  ),
  startupSeconds: Type.Optional(amount('s: from the start of the process to its first right answer')),
  collected: Type.Optional(
    count('count: Node processes that collected all garbage before the load; absent as in a record'),
  ),
  cpuSource: Type.Optional(text('Where CPU was read: cgroup v1, cgroup v2, schedstat.')),
  course: Type.Optional(as(course, 'Absent if it failed before its first turn.')),
  files: texts('Its log and its report of time(1), relative to the folder of the study.'),
});

/** The measurements of one process: its turns against the reference. */
export type StudiedProcess = Static<typeof studiedProcess>;

export const studyFile = shape({
  schema: Type.Literal(STUDY_SCHEMA, { description: 'version: of this schema' }),
  run: text('Id of the study, and name of its folder.'),
  seed: count('seed: of the order of the processes and of their seeds'),
  workload: text(),
  params: Type.Optional(params),
  targets: Type.Array(target, { minItems: 1 }),
  connections: ordinal('count: connections, for each of the two servers'),
  seconds: span('s: for which each process is observed'),
  processes: ordinal('count: fresh processes of each target'),
  workers: ordinal('count: workers of each server'),
  threads: Type.Optional(ordinal('count: threads of each worker; absent if the stack chooses')),
  cores: Type.Optional(ordinal('count: cores of each server; absent if as many as workers')),
  warmupSeconds: amount('s: the default warm-up of the workload, which the last level is compared with'),
  noInitialGc: flag(
    'Node servers are loaded as they started, without a garbage collection before (--no-initial-gc).',
  ),
  reference: text('The reference: its runtime and flags.'),
  isForRun: flag('Made by a run for targets that it knew nothing of.'),
  versions,
  leftOut: Type.Array(leftOut, { description: 'Targets that could not be launched here.' }),
});

/** `study.json`. */
export type StudyFile = Static<typeof studyFile>;

const age = {
  seconds: amount('s: since the first right answer of the process'),
  answers: count('count: right answers of the process under load'),
};

const level = shape(
  {
    fromSeconds: amount('s: age at its start'),
    toSeconds: amount('s: age at its end'),
    cpuRatio: span('ratio: CPU per request, fresh ÷ reference'),
  },
  { description: 'A stretch of the life of a process at one cost.' },
);

export const knownWarmup = shape({
  schema: Type.Literal(STUDY_SCHEMA, { description: 'version: of this schema' }),
  facts: mapOf(
    Type.String(),
    'Everything that the warm-up depends on: stack, runtime, workload, kind of rung, cores, CPU model. Another value of one of them is another file.',
  ),
  study: text('Id of the study.'),
  studiedAt: text('ISO 8601.'),
  seconds: span('s: for which each process was to be observed'),
  processes: Type.Array(
    shape({
      observedSeconds: amount('s: for which it was observed'),
      warm: Type.Optional(
        shape(age, { description: 'The age from which on it was warm; absent if it did not settle.' }),
      ),
      levels: Type.Array(level, { description: 'In order of time.' }),
    }),
    { minItems: 1 },
  ),
});

/** The known warm-up of one target, in the state folder of the user. */
export type StoredWarmup = Static<typeof knownWarmup>;

export const KNOWN_HEAD = {
  title: 'The known warm-up of a target on this machine',
  description: 'Written after a study, in the state folder of the user.',
};

export const STUDY_HEAD = {
  title: 'The plan of a study of warm-up, and the versions that it was made with: study.json',
  description: 'Written before the first process and never changed.',
};

export const PROCESS_HEAD = {
  title: 'One process of a study of warm-up: one line of processes.jsonl',
  description: 'Written after each process.',
};
