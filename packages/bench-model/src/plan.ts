/** Plans: their definition, and the types derived from it. */
import { Type, type Static } from 'typebox';
import { amount, as, count, flag, id, oneOf, ordinal, shape, span, text, texts } from './definitions.ts';
import { app } from './app.ts';
import { cluster, spread } from './cluster.ts';
import { METRIC_IDS } from './metrics.ts';
import { userRequests, attached } from './requests.ts';
import { backgroundRequest, loadMode, params, upstreamKind } from './settings.ts';
import { target } from './target.ts';
import { MOST_ROUNDS } from './limits.ts';
import { RUN_SCHEMA } from './versions.ts';

/** More numbers of connections than anybody measures: a report compares all targets at each. */
const MOST_RUNGS = 100;

const sequentialTest = shape(
  {
    looks: Type.String({
      description: 'Numbers of rounds, the name of a schedule of looks; the last is that of the plan.',
      pattern: '^\\d+(/\\d+)*$',
    }),
    by: oneOf(METRIC_IDS),
    threshold: Type.Number({
      description: 'share: the difference that matters',
      exclusiveMinimum: 0,
      exclusiveMaximum: 1,
    }),
    beyond: flag(
      'faster and slower decide only if the whole interval lies beyond the threshold (--fail-on, budgets).',
    ),
    budgetSeconds: Type.Optional(span('s: after which it stops undecided')),
  },
  { description: 'The looks at which the run may stop because it is decided.' },
);

/** The stopping rule of a sequential test, fixed before its first round. */
export type SequentialTest = Static<typeof sequentialTest>;

const plannedTrial = shape({
  id: id('Unique in the run.'),
  target: text(),
  connections: ordinal('count: connections'),
  route: Type.Optional(text('The request that it sends alone; absent if it sends all requests of its plan.')),
  round: ordinal('count: from 1 on'),
  order: count('count: position in the run, from 0 on'),
  seed: count('seed: of the random choices of the trial'),
  duel: Type.Optional(text('Trials whose servers take turns have the same.')),
  life: Type.Optional(text('Trials that load the same server one after the other have the same.')),
});

/** A planned trial: its target, its connections and its place in the run. */
export type PlannedTrial = Static<typeof plannedTrial>;

const byTurns = shape(
  {
    rungs: Type.Array(ordinal('count: connections'), { minItems: 1, uniqueItems: true }),
    turnSeconds: span('s: the shortest turn; those of slow servers are longer'),
    mostSeconds: Type.Optional(
      span(
        's: the longest window, of servers so slow that theirs would hold few responses; absent if all are alike',
      ),
    ),
  },
  { description: 'At these rungs, all servers of a round run at the same time and are loaded in turn.' },
);

/** The rungs at which servers take turns. */
export type ByTurns = Static<typeof byTurns>;

export const plan = shape({
  schema: Type.Literal(RUN_SCHEMA, { description: 'version: of the plan' }),
  run: id('Id of the run, and name of its folder.'),
  seed: count('seed: of the order of the trials and of their seeds'),
  workload: text(),
  params: Type.Optional(params),
  waitSeconds: Type.Optional(amount('s: how long each response waits by design; absent if it does not wait')),
  startupSeconds: Type.Optional(
    span(
      's: how long the slowest server took to start, to respond and to stop before the run; present if that is long',
    ),
  ),
  answerSeconds: Type.Optional(
    span(
      's: how long the slowest server took to respond before the run; present if turns or windows were changed for that',
    ),
  ),
  upstream: Type.Optional(upstreamKind),
  background: Type.Optional(
    as(backgroundRequest, 'Kept in flight beside the load of every target that repeats one as `background`.'),
  ),
  targets: Type.Array(target, { minItems: 1 }),
  rungs: Type.Array(ordinal('count: connections'), { minItems: 1, maxItems: MOST_RUNGS, uniqueItems: true }),
  rounds: ordinal('count: how often every target is measured at every rung', { maximum: MOST_ROUNDS }),
  windowSeconds: span('s: length of the measured span'),
  warmupSeconds: amount(
    's: of load before the window; the least of a quick run, and of servers whose process is unknown',
  ),
  autoWarmup: flag('The warm-up ends when a server is warm (--warmup auto).'),
  timeoutSeconds: span('s: after which a request counts as timed out'),
  load: loadMode,
  workers: ordinal('count: processes that each server is asked to serve with'),
  threads: Type.Optional(
    ordinal('count: threads that each of them is asked to serve with; absent if the stack chooses'),
  ),
  cores: Type.Optional(ordinal('count: cores that each server is to use; absent if as many as workers')),
  generators: ordinal('count: generator processes, on all hosts of a cluster together'),
  cluster: Type.Optional(cluster),
  spread: Type.Optional(spread),
  startSeconds: span('s: how long a server may take to its first correct response'),
  barrierSeconds: span('s: how long to wait for all connections'),
  hashEvery: ordinal('count: one of this many bodies is hashed'),
  engine: text('The engine that sends the load; a target may name another.'),
  quick: Type.Boolean({ description: 'A first impression: never published, never compared.' }),
  byTurns: Type.Optional(byTurns),
  apart: Type.Optional(
    text('Why its servers do not take turns at the other rungs; absent if no turns could be expected.'),
  ),
  sequentialTest: Type.Optional(sequentialTest),
  control: Type.Optional(
    shape(
      {
        share: Type.Number({
          description: 'share: of the CPU of a turn',
          exclusiveMinimum: 0,
          exclusiveMaximum: 1,
        }),
        targets: Type.Array(text(), { description: 'The baselines.', minItems: 1 }),
      },
      { description: 'A known cost that is planted into turns of these targets, and must be read back.' },
    ),
  ),
  upgrade: flag('Newer runtimes or packages are compared with those of now (upgrade).'),
  userRequests: Type.Optional(userRequests),
  routes: Type.Optional(
    Type.Array(text(), {
      description:
        'The names of the asked requests, which are measured one at a time; absent if they are sent mixed, or if there is one.',
      minItems: 2,
    }),
  ),
  attached: Type.Optional(attached),
  stacks: texts('Manifests from outside the repository, as typed.'),
  apps: Type.Optional(
    Type.Array(app, { description: 'Server programs of the user, without a manifest.', minItems: 1 }),
  ),
  trials: Type.Array(plannedTrial, {
    description: 'In the order in which they are measured.',
    minItems: 1,
  }),
});

/** A plan: a value, printed by `--dry-run`, stored with the run, and never changed. */
export type Plan = Static<typeof plan>;
