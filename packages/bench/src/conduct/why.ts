/** Profiles the servers of a comparison after its trials, and stores where they spend their CPU. */
import { join } from 'node:path';
import { DisposableStack } from '@whatwg-node/disposablestack';
import { compareWithin } from 'bench-analysis/compare';
import type { Contestants } from 'bench-analysis/contest';
import { writeReport, type StoredRun } from 'bench-analysis/results/store';
import { CallTree, withoutClasses } from 'bench-analysis/why/fold';
import { compareVersions } from 'bench-targets/catalogue/releases';
import { keepWhy } from 'bench-analysis/why/store';
import { BenchError } from 'bench-model/errors';
import { suggest } from 'bench-model/suggest';
import { warmupSecondsOf } from 'bench-model/planned';
import type { Plan, PlannedTrial } from 'bench-model/plan';
import { WHY_SCHEMA } from 'bench-model/versions';
import type { ProfiledSide, WhyFile } from 'bench-model/why';
import { findEngines } from 'bench-load/engines';
import { formatSpan } from 'bench-report/format';
import { toSpeedscope } from 'bench-report/why';
import type { Launchable, Prepared } from 'bench-targets/prepare/prepare';
import { findProfiler, type Profiler } from 'bench-targets/profile/profilers';
import { scaleTo } from '../measure/launcher.ts';
import { PROFILE_SECONDS, takeProfile } from '../measure/profile.ts';
import { planAlone } from '../plan/alone.ts';
import type { Voice } from '../terminal/voice.ts';
import { startEffects } from './effects.ts';
import { refuseOtherVersions } from './measure.ts';
import { prepareRun, readVersions } from './prepare.ts';
import { questionOf } from './reach.ts';
import type { Session } from './session.ts';

/** The fresh servers of each target. */
const ROUNDS = 8;
/** More of them than this may not fail. */
const MOST_FAILED = 3;
/** The approximate time of a profile beside its turns, in seconds. */
const AROUND_SECONDS = 2.5;

/** A pair of targets to explain. */
export type Pair = Pick<Contestants, 'baseline' | 'candidate'>;

/** The targets that a user names, by id or by a part of it that no other has. Throws a usage error for another number than two. */
export function findPair({ plan }: Pick<StoredRun, 'plan'>, names: readonly string[]): Pair {
  const ids = plan.targets.map(({ id }) => id);
  const [baseline, candidate, ...more] = names.map((name) => {
    const found = ids.includes(name) ? [name] : ids.filter((id) => id.includes(name));
    if (found.length === 1) return found[0] as string;
    const what = found.length === 0 ? 'no target' : 'several targets';
    throw new BenchError(
      'usage',
      `"${name}" names ${what} of run ${plan.run}`,
      suggest(name, ids) ?? ids.join(', '),
    );
  });
  if (baseline === undefined || candidate === undefined || more.length > 0 || baseline === candidate)
    throw new BenchError('usage', 'name two targets of the run, or none', ids.join(', '));
  return { baseline, candidate };
}

/** Returns the pairs that a run compares, each once. Throws a usage error if it compares nothing. */
export function pairsOf(run: StoredRun): Pair[] {
  const { rows } = compareWithin(run, questionOf(run.plan));
  if (rows.length === 0)
    throw new BenchError(
      'usage',
      `run ${run.plan.run} has nothing to compare`,
      'measure two targets in one run',
    );
  return unique(rows);
}

/** Returns each pair once, whatever the places are at which it was compared. */
export function unique(rows: readonly Pair[]): Pair[] {
  const pairs = rows.map(({ baseline, candidate }) => ({ baseline, candidate }));
  return [...new Map(pairs.map((pair) => [JSON.stringify(pair), pair])).values()];
}

/**
 * Profiles fresh servers of these pairs in turn, and stores the profiles with the run. A target that cannot be profiled is
 * stored with the reason. Returns undefined if it was interrupted. Throws a usage error if the servers are not those of the run.
 */
export async function profileRun(
  run: StoredRun,
  pairs: readonly Pair[],
  { session, voice }: { session: Session; voice: Voice },
): Promise<WhyFile | undefined> {
  using kept = new DisposableStack();
  const plan = planProfiles(run.plan, pairs);
  const { prepared, placed, launcher, companions } = await prepareRun(plan, {
    session,
    isNamed: true,
    voice,
    kept,
  });
  const engines = await findEngines([plan.engine]);
  const versions = readVersions(prepared, companions, engines);
  const own = Object.entries(run.versions).filter(([name]) => versions[name] !== undefined);
  refuseOtherVersions({ ...run, versions: Object.fromEntries(own) }, versions);
  const { found, missing } = await findProfilers(prepared, voice);
  const isReady = ({ target }: { target: string }): boolean => found.has(target);
  const ready = pairs.filter((pair) => found.has(pair.baseline) && found.has(pair.candidate));
  const due = plan.trials.filter(
    (planned) => isReady(planned) && ready.some((pair) => Object.values(pair).includes(planned.target)),
  );
  const tree = new CallTree();
  const areBare = [...found.values()].some(({ one }) => namesNoClasses(one));
  const sides = new Map<string, ProfiledSide>();
  const failed = new Map<string, number>();
  if (due.length > 0) {
    const folder = session.makeFolder('why');
    await using started = await startEffects({
      plan,
      session,
      placed,
      folder,
      launcher,
      engines,
      companions,
    });
    const { effects, stop } = started;
    using _ = voice.onInterrupt(stop, 'stopping: the profiles are not kept');
    for (const [index, planned] of due.entries()) {
      const left = due.slice(index).reduce((all, one) => all + secondsFor(plan, one), 0);
      session.expect(left);
      const of = `[${index + 1}/${due.length}] profiling ${planned.target}, ${formatSpan(left)} left`;
      if (voice.screen.isLive) voice.screen.showLive(of);
      else if (index === 0) voice.log(of);
      const { one, profiler } = found.get(planned.target) as Found;
      if (missing.has(planned.target)) continue;
      const scaled = scaleTo(one.target, { plan, placed });
      const context = { ...scaled, prepared: one, target: one.target };
      const file = join(folder, `profile-${index}`);
      try {
        const { stacks, ...costs } = await takeProfile(planned, context, { effects, profiler, file });
        const side = sides.get(planned.target) ?? {
          target: planned.target,
          profiler: profiler.name,
          profiles: [],
        };
        side.profiles.push({ ...costs, ...tree.add(areBare ? withoutClasses(stacks) : stacks) });
        sides.set(planned.target, side);
      } catch (error) {
        if (effects.interrupted()) return undefined;
        if (!(error instanceof BenchError)) throw error;
        const times = (failed.get(planned.target) ?? 0) + 1;
        failed.set(planned.target, times);
        if (times > MOST_FAILED) missing.set(planned.target, error.message);
        else voice.log(`a profile of ${planned.target} is left out: ${error.message}`);
      }
      if (effects.interrupted()) return undefined;
    }
  }
  const why: WhyFile = {
    schema: WHY_SCHEMA,
    run: run.plan.run,
    connections: plan.rungs[0] ?? 1,
    seconds: PROFILE_SECONDS.profiled,
    pairs: [...pairs],
    frames: tree.frames,
    tree: tree.tree,
    sides: [...sides.values()].filter(({ target }) => !missing.has(target)),
    missing: [...missing].map(([target, reason]) => ({ target, reason })),
  };
  keepWhy(run.folder, why);
  for (const side of why.sides)
    writeReport(run.folder, speedscopeOf(side), JSON.stringify(toSpeedscope(why, side)));
  return why;
}

/** The name of the speedscope file of a target, in the folder of its run. */
export function speedscopeOf({ target }: Pick<ProfiledSide, 'target'>): string {
  return `why-${target.replaceAll(/[^\w.+-]+/g, '_')}.speedscope.json`;
}

/** Plans fresh servers of both sides in turn: A B, B A, and so on. */
function planProfiles(plan: Plan, pairs: readonly Pair[]): Plan {
  const ids = new Set(pairs.flatMap(({ baseline, candidate }) => [baseline, candidate]));
  const targets = plan.targets.filter(({ id }) => ids.has(id));
  const { warmups } = plan;
  const alone = planAlone(plan, plan.run, targets, ROUNDS);
  const trials = alone.trials.toSorted(
    (a, b) => a.round - b.round || (a.round % 2 === 1 ? a.order - b.order : b.order - a.order),
  );
  return { ...alone, trials, ...(warmups && { warmups }) };
}

function secondsFor(plan: Plan, planned: PlannedTrial): number {
  const { plain, profiled } = PROFILE_SECONDS;
  return warmupSecondsOf(plan, planned) + plain + profiled + AROUND_SECONDS;
}

/** True for Pythons whose functions do not know their class. */
function namesNoClasses({ runtime }: Prepared): boolean {
  return runtime?.kind === 'python' && compareVersions(runtime.version, '3.11') < 0;
}

/** A target with its profiler. */
interface Found {
  one: Prepared;
  profiler: Profiler;
}

/** Finds the profiler of each target; a target without one is missing, with the reason. */
async function findProfilers(
  prepared: readonly Launchable[],
  { log }: Voice,
): Promise<{ found: Map<string, Found>; missing: Map<string, string> }> {
  const found = new Map<string, Found>();
  const missing = new Map<string, string>();
  for (const one of prepared) {
    const { id } = one.target;
    if ('attached' in one) missing.set(id, 'its server is not started by Bench');
    else {
      try {
        found.set(id, { one, profiler: await findProfiler(one, log) });
      } catch (error) {
        if (!(error instanceof BenchError)) throw error;
        missing.set(id, error.message);
      }
    }
  }
  return { found, missing };
}
