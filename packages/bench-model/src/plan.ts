/** Plans: their definition, and the types derived from it. */
import { Type, type Static } from 'typebox';
import {
  amount,
  as,
  choice,
  count,
  flag,
  fraction,
  id,
  list,
  oneOf,
  ordinal,
  shape,
  span,
  text,
  texts,
} from './definitions.ts';
import { app } from './app.ts';
import { cluster, spread } from './cluster.ts';
import { METRIC_IDS } from './metrics.ts';
import { userRequests, attached } from './requests.ts';
import { backgroundRequest, loadMode, params } from './settings.ts';
import { target } from './target.ts';
import { MOST_ROUNDS } from './limits.ts';
import { RUN_SCHEMA } from './versions.ts';

/** More numbers of connections than anybody measures: a report compares all targets at each. */
const MOST_RUNGS = 100;

const sequentialTest = shape('The looks at which the run may stop because it is decided.', {
  looks: text('A schedule of looks: numbers of rounds.', { pattern: '^\\d+(/\\d+)*$' }),
  by: oneOf(METRIC_IDS),
  threshold: fraction('share: the difference that matters'),
  beyond: flag('Only a whole interval beyond the threshold decides (--fail-on, budgets).'),
  budgetSeconds: Type.Optional(span('s: after which it stops undecided')),
});

/** The stopping rule of a sequential test, fixed before its first round. */
export type SequentialTest = Static<typeof sequentialTest>;

export const plannedTrial = shape({
  id: id('Unique in the run.'),
  target: text(),
  connections: ordinal('count: connections'),
  route: Type.Optional(text('The request that it sends alone; absent if it sends all requests of the plan.')),
  round: ordinal('count: from 1 on'),
  order: count('count: position in the run, from 0 on'),
  seed: count('seed: of the random choices of the trial'),
  duel: Type.Optional(text('Trials whose servers take turns have the same.')),
  life: Type.Optional(text('Trials that load the same server one after the other have the same.')),
});

/** A planned trial: its target, its connections and its place in the run. */
export type PlannedTrial = Static<typeof plannedTrial>;

const byTurns = shape('At these rungs, the servers of a round run at once and are loaded in turn.', {
  rungs: Type.Array(ordinal('count: connections'), { minItems: 1, uniqueItems: true }),
  turnSeconds: span('s: the shortest turn; those of slow servers are longer'),
  mostSeconds: Type.Optional(span('s: the longest window, of servers that are slow')),
});

export const plan = shape({
  schema: Type.Literal(RUN_SCHEMA, { description: 'version: of the plan' }),
  run: id('Id of the run, and name of its folder.'),
  seed: count('seed: of the order of the trials and of their seeds'),
  workload: text(),
  params: Type.Optional(params),
  waitSeconds: Type.Optional(amount('s: how long each response waits by design')),
  startupSeconds: Type.Optional(span('s: the longest start, with its response and its end, before the run')),
  answerSeconds: Type.Optional(span('s: the slowest response before the run, if windows were made longer')),
  background: Type.Optional(
    as(backgroundRequest, 'Kept in flight beside the load of each target that repeats one so.'),
  ),
  targets: Type.Array(target, { minItems: 1 }),
  rungs: Type.Array(ordinal('count: connections'), { minItems: 1, maxItems: MOST_RUNGS, uniqueItems: true }),
  rounds: ordinal('count: how often every target is measured at every rung', { maximum: MOST_ROUNDS }),
  windowSeconds: span('s: length of the measured span'),
  warmupSeconds: amount('s: of load before the window, or the least'),
  autoWarmup: flag('The warm-up ends when a server is warm (--warmup auto).'),
  timeoutSeconds: span('s: after which a request counts as timed out'),
  load: loadMode,
  workers: ordinal('count: processes that each server is asked to serve with'),
  threads: Type.Optional(ordinal('count: threads that each of them is asked to serve with')),
  cores: Type.Optional(ordinal('count: cores that each server is to use; absent if as many as workers')),
  generators: ordinal('count: generator processes, on all hosts of a cluster together'),
  cluster: Type.Optional(cluster),
  spread: Type.Optional(spread),
  startSeconds: span('s: how long a server may take to its first correct response'),
  barrierSeconds: span('s: how long to wait for all connections'),
  hashEvery: ordinal('count: one of this many bodies is hashed'),
  engine: text('The engine that sends the load; a target may name another.'),
  quick: choice('A first impression: never published, never compared.'),
  byTurns: Type.Optional(byTurns),
  apart: Type.Optional(text('Why its servers do not take turns at the other rungs.')),
  sequentialTest: Type.Optional(sequentialTest),
  control: Type.Optional(
    shape('A known cost that is planted into turns of these targets.', {
      share: fraction('share: of the CPU of a turn'),
      targets: list('The baselines.', text(), { minItems: 1 }),
    }),
  ),
  upgrade: flag('Newer runtimes or packages are compared with those of now (upgrade).'),
  userRequests: Type.Optional(userRequests),
  routes: Type.Optional(
    list('The names of the requests that are measured one at a time.', text(), { minItems: 2 }),
  ),
  attached: Type.Optional(attached),
  stacks: texts('Manifests from outside the repository, as typed.'),
  apps: Type.Optional(list('Server programs of the user, without a manifest.', app, { minItems: 1 })),
  trials: list('In the order in which they are measured.', plannedTrial, { minItems: 1 }),
});

/** A plan: a value, printed by `--dry-run`, stored with the run, and never changed. */
export type Plan = Static<typeof plan>;
