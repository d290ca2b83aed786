/** Profiles the servers of a comparison after its trials, and stores where they spend their CPU. */
import { DisposableStack } from '@whatwg-node/disposablestack';
import { compareWithin, differencesWithin, questionOf } from 'bench-analysis/compare';
import { isBounded, locateWithin } from 'bench-analysis/differences';
import type { Contestants } from 'bench-analysis/contest';
import type { StoredRun } from 'bench-analysis/results/store';
import { keepWhy } from 'bench-analysis/why/store';
import { UsageError } from 'bench-model/errors';
import { present } from 'bench-model/options';
import { suggest } from 'bench-model/suggest';
import type { Plan } from 'bench-model/plan';
import { WHY_SCHEMA } from 'bench-model/versions';
import type { ComparedPair, WhyFile } from 'bench-model/why';
import { findEngines } from 'bench-load/engines';
import { PROFILE_SECONDS } from '../measure/profile.ts';
import { planAlone } from '../plan/alone.ts';
import type { Voice } from '../terminal/voice.ts';
import { refuseOtherVersions } from './measure.ts';
import { prepareRun, readVersions } from './prepare.ts';
import { Profiles, takeAll } from './profiles.ts';
import type { Session } from './session.ts';

const ROUNDS = 8;

export type Pair = Pick<Contestants, 'baseline' | 'candidate'>;

/** The targets that a user names, by id or by a part of it that no other has. Throws a usage error for another number than two. */
export function findPair({ plan }: Pick<StoredRun, 'plan'>, names: readonly string[]): Pair {
  const ids = plan.targets.map(({ id }) => id);
  const [baseline, candidate, ...more] = names.map((name) => {
    const found = ids.includes(name) ? [name] : ids.filter((id) => id.includes(name));
    if (found.length === 1) return found[0] as string;
    const what = found.length === 0 ? 'no target' : 'several targets';
    throw new UsageError(`"${name}" names ${what} of run ${plan.run}`, suggest(name, ids) ?? ids.join(', '));
  });
  if (baseline === undefined || candidate === undefined || more.length > 0 || baseline === candidate)
    throw new UsageError('name two targets of the run, or none', ids.join(', '));
  return { baseline, candidate };
}

/** Returns the pairs that a run compares, each once. Throws a usage error if it compares nothing. */
export function pairsOf(run: StoredRun): Pair[] {
  const { rows } = compareWithin(run, questionOf(run.plan));
  if (rows.length === 0)
    throw new UsageError(`run ${run.plan.run} has nothing to compare`, 'measure two targets in one run');
  return unique(rows);
}

/** Returns each pair once, whatever the places are at which it was compared. */
export function unique(rows: readonly Pair[]): Pair[] {
  const pairs = rows.map(({ baseline, candidate }) => ({ baseline, candidate }));
  return [...new Map(pairs.map((pair) => [JSON.stringify(pair), pair])).values()];
}

/**
 * Profiles fresh servers of these pairs in turn, and stores the profiles with the run. Of a target without a profiler, what a request
 * takes is stored, and the reason. After `mostSeconds`, only what an interval needs is taken. Returns undefined if it was interrupted. Throws a usage error if the servers are not those of the run.
 */
export async function profileRun(
  run: StoredRun,
  pairs: readonly Pair[],
  { session, voice, mostSeconds = Infinity }: { session: Session; voice: Voice; mostSeconds?: number },
): Promise<WhyFile | undefined> {
  const until = performance.now() + 1000 * mostSeconds;
  using kept = new DisposableStack();
  const plan = planProfiles(run.plan, pairs);
  const ready = await prepareRun(plan, { isNamed: true, voice, kept });
  const engines = await findEngines([plan.engine]);
  const versions = readVersions(ready.prepared, ready.companions, engines);
  // What only the run needed is left out.
  const needed = Object.entries(run.versions).filter(([name]) => versions[name] !== undefined);
  refuseOtherVersions({ ...run, versions: Object.fromEntries(needed) }, versions);
  const profiles = new Profiles();
  await profiles.find(ready.prepared, voice);
  const able = pairs
    .map(({ baseline, candidate }) => [baseline, candidate])
    .filter((ids) => ids.every((id) => profiles.of(id)));
  const due = plan.trials.filter(({ target }) => able.flat().includes(target));
  const isWhole =
    due.length === 0 || (await takeAll(due, profiles, { plan, ...ready, engines, session, voice, until }));
  if (!isWhole) return undefined;
  const why: WhyFile = {
    schema: WHY_SCHEMA,
    run: run.plan.run,
    connections: plan.rungs[0] ?? 1,
    seconds: PROFILE_SECONDS.profiled,
    ...present({ requests: run.plan.routes?.length }),
    pairs: pairs.map((pair) => ({
      ...pair,
      ...ratioIn(run, pair, plan.rungs[0]),
      hunks: profiles.hunksOf(pair),
    })),
    frames: profiles.tree.frames,
    tree: profiles.tree.tree,
    sides: profiles.sides,
    missing: profiles.missing,
  };
  keepWhy(run.folder, why);
  return why;
}

/** Returns how many times the CPU per request of the baseline the candidate has used in the rounds; without it if they have no interval. */
function ratioIn(
  { plan, trials }: StoredRun,
  { baseline, candidate }: Pair,
  connections: number | undefined,
): Pick<ComparedPair, 'times'> {
  // Profiles are of all requests together.
  if (connections === undefined || plan.routes !== undefined) return {};
  const differences = differencesWithin(trials, { baseline, candidate, connections }, 'cpu');
  if (differences.every((difference) => difference === undefined)) return {};
  const { centre, interval } = locateWithin(differences, 0.05);
  if (interval === undefined || !isBounded(interval)) return {};
  const { exp } = Math;
  return { times: { estimate: exp(centre), low: exp(interval.low), high: exp(interval.high) } };
}

/** Plans fresh servers of both sides. */
function planProfiles(plan: Plan, pairs: readonly Pair[]): Plan {
  const ids = new Set(pairs.flatMap(({ baseline, candidate }) => [baseline, candidate]));
  const targets = plan.targets.filter(({ id }) => ids.has(id));
  return planAlone(plan, plan.run, targets, ROUNDS);
}
