/** The profiles of fresh servers, one after the other. */
import { extname, join, relative } from 'node:path';
import { FEWEST_PROFILES } from 'bench-analysis/why/explain';
import { CallTree } from 'bench-analysis/why/fold';
import { readLines } from 'bench-machine/files';
import { BenchError } from 'bench-model/errors';
import { warmupSecondsOf } from 'bench-model/planned';
import type { Plan, PlannedTrial } from 'bench-model/plan';
import { present } from 'bench-model/options';
import type { ComparedPair, Hunk, ProfiledSide, WhyFile } from 'bench-model/why';
import type { findEngines } from 'bench-load/engines';
import { formatSpan } from 'bench-report/format';
import { sum } from 'bench-statistics/numbers';
import type { Launchable, Prepared } from 'bench-targets/prepare/prepare';
import { filesOfProject } from 'bench-targets/prepare/projects/tree';
import { findProfiler, type Profiler } from 'bench-targets/profile/profilers';
import { contextOf } from '../measure/launcher.ts';
import { PROFILE_SECONDS, takeProfile, type TakenProfile } from '../measure/profile.ts';
import type { Voice } from '../terminal/voice.ts';
import { startCompanions } from '../services/index.ts';
import { createEffects } from './effects.ts';
import type { ReadyRun } from './prepare.ts';
import type { Session } from './session.ts';

/** If more profiles of a target than this fail, the others are taken without its profiler; if as many of those fail as well, none. */
const MOST_FAILED = 3;
/** The approximate time of a profile beside its turns, in seconds. */
const AROUND_SECONDS = 2.5;

interface Found {
  one: Prepared;
  profiler?: Profiler;
}

/** The profilers and the profiles of the targets of a run. */
export class Profiles {
  readonly tree = new CallTree(readLines);
  readonly #found = new Map<string, Found>();
  readonly #missing = new Map<string, string>();
  readonly #sides = new Map<string, ProfiledSide>();
  readonly #failed = new Map<string, number>();

  /** Finds the profiler of each target; the functions of a target without one are missing, with the reason. */
  async find(prepared: readonly Launchable[], { log }: Voice): Promise<void> {
    for (const one of prepared) {
      const { id } = one.target;
      if ('attached' in one) this.#missing.set(id, 'its server is not started by Bench');
      else {
        try {
          this.#found.set(id, { one, profiler: await findProfiler(one, log) });
        } catch (error) {
          if (!(error instanceof BenchError)) throw error;
          // What a request takes is read from /proc.
          if (process.platform === 'linux') this.#found.set(id, { one });
          this.#missing.set(id, error.message);
        }
      }
    }
  }

  /** The targets with their profiles; without stacks where the profiler failed after all. */
  get sides(): ProfiledSide[] {
    return [...this.#sides.values()].map(({ target, profiler, profiles }) =>
      this.#missing.has(target)
        ? {
            target,
            profiles: profiles.map(({ cpuUs, perRequest }) => {
              return { cpuUs, ...present({ perRequest }), nodes: [], samples: [] };
            }),
          }
        : { target, ...present({ profiler }), lines: this.tree.linesIn(this.#rootOf(target)), profiles },
    );
  }

  #rootOf(target: string): string {
    return this.#found.get(target)?.one.stack.root ?? '';
  }

  /** Returns where the code of two projects differs, in files like those whose functions ran. */
  hunksOf({ baseline, candidate }: Pick<ComparedPair, 'baseline' | 'candidate'>): Hunk[] {
    const [before, after] = [this.#rootOf(baseline), this.#rootOf(candidate)];
    if (before === '' || after === '' || before === after) return [];
    const kinds = new Set(this.tree.frames.map(({ from, file }) => from === 'project' && extname(file)));
    const files = [before, after].flatMap((root) => filesOfProject(root).map((file) => relative(root, file)));
    const code = [...new Set(files)].filter((file) => kinds.has(extname(file)));
    return this.tree.hunksOf(code, { before, after });
  }

  /** The targets whose functions are not known, and the reason. */
  get missing(): WhyFile['missing'] {
    return [...this.#missing].map(([target, reason]) => ({ target, reason }));
  }

  /** Returns a target with its profiler, if that works; undefined if Bench does not start its server, or it failed too often. */
  of(target: string): Found | undefined {
    const found = this.#found.get(target);
    if (found === undefined || (this.#failed.get(target) ?? 0) > 2 * MOST_FAILED) return undefined;
    return this.#missing.has(target) ? { one: found.one } : found;
  }

  add(target: string, { one: { stack }, profiler }: Found, { stacks, ...costs }: TakenProfile): void {
    const side = this.#sides.get(target) ?? {
      target,
      ...present({ profiler: profiler?.name }),
      profiles: [],
    };
    side.profiles.push({ ...costs, ...this.tree.add(stacks, stack.root) });
    this.#sides.set(target, side);
  }

  /** Notes that a profile failed. Returns false if that has made the functions of its target missing. */
  fail(target: string, reason: string): boolean {
    const times = (this.#failed.get(target) ?? 0) + 1;
    this.#failed.set(target, times);
    if (times > MOST_FAILED && !this.#missing.has(target)) this.#missing.set(target, reason);
    return times <= MOST_FAILED;
  }
}

interface Surroundings extends Pick<ReadyRun, 'placed' | 'launcher' | 'companions'> {
  plan: Plan;
  engines: Awaited<ReturnType<typeof findEngines>>;
  session: Session;
  voice: Voice;
  /** The end of the last round but the fewest, in ms of the monotonic clock. */
  until: number;
}

/** Takes one profile after the other. Returns false if it was interrupted. */
export async function takeAll(
  due: readonly PlannedTrial[],
  profiles: Profiles,
  { plan, placed, launcher, companions, engines, session, voice, until }: Surroundings,
): Promise<boolean> {
  const folder = session.makeFolder('why');
  const { token, recordLeftoverServer } = session;
  const given = { token, folder, placed, recordLeftoverServer, countsStatements: true };
  await using beside = await startCompanions(companions, given);
  const wiring = { plan, token, placed, folder, launcher, engines, companions: beside.all };
  const { effects, stop } = await createEffects(wiring);
  using _ = voice.onInterrupt(stop, 'stopping: the profiles are not kept');
  const began = performance.now();
  for (const [index, planned] of due.entries()) {
    const { target, round } = planned;
    // A round takes as long as those before it.
    const next = (performance.now() - began) / (round - 1);
    const isFirst = due[index - 1]?.round !== round;
    if (isFirst && round > FEWEST_PROFILES && performance.now() + next > until) break;
    showProgress(due, index, { plan, session, voice, until });
    const found = profiles.of(target);
    if (found === undefined) continue;
    const { one, profiler } = found;
    const context = { ...contextOf(one, { plan, placed }), prepared: one };
    const file = join(folder, `profile-${index}`);
    try {
      profiles.add(target, found, await takeProfile(planned, context, { effects, profiler, file }));
    } catch (error) {
      if (effects.interrupted()) return false;
      if (!(error instanceof BenchError)) throw error;
      if (profiles.fail(target, error.message))
        voice.log(`a profile of ${target} is left out: ${error.message}`);
    }
    if (effects.interrupted()) return false;
  }
  return true;
}

/** Where no line can be replaced, every fourth is logged. */
function showProgress(
  due: readonly PlannedTrial[],
  index: number,
  { plan, session, voice, until }: Pick<Surroundings, 'plan' | 'session' | 'voice' | 'until'>,
): void {
  const each = sum(Object.values(PROFILE_SECONDS)) + AROUND_SECONDS;
  const secondsOf = (all: readonly PlannedTrial[]): number =>
    sum(all.map((one) => warmupSecondsOf(plan, one) + each));
  const fewest = secondsOf(due.slice(index).filter(({ round }) => round <= FEWEST_PROFILES));
  const left = Math.min(secondsOf(due.slice(index)), Math.max(fewest, (until - performance.now()) / 1000));
  session.expect(left);
  const of = `profiling ${due[index]?.target}, ${formatSpan(left)} left`;
  if (voice.screen.isLive) voice.screen.showLive(of);
  else if (index % 4 === 0) voice.log(of);
}
