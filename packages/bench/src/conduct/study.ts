/** Measures studies of warm-up: those of `pnpm warmup`, and those that a run makes for targets that it does not know. */
import { countDisturbed, type StudiedTarget } from 'bench-analysis/warmup/study';
import { BenchError } from 'bench-model/errors';
import { findEngines } from 'bench-load/engines';
import { readHost } from 'bench-machine/host';
import { REFERENCE, startReference } from '../measure/reference.ts';
import { observeProcess } from '../measure/warmup.ts';
import { freshLauncher } from '../measure/launcher.ts';
import { planMore } from '../plan/alone.ts';
import type { Plan, PlannedTrial } from 'bench-model/plan';
import { countOf } from 'bench-report/format';
import { describeObserved } from 'bench-report/progress';
import { describeProcess } from 'bench-report/warm';
import type { PinnedCommands } from 'bench-machine/placement';
import type { Launchable, Prepared } from 'bench-targets/prepare/prepare';
import type { Host } from 'bench-model/host';
import type { LeftOut } from 'bench-model/run';
import type { Companion } from '../services/companion.ts';
import { factsOf, keepWarmups } from './known.ts';
import type { StudiedProcess, StudyFile } from 'bench-model/study';
import { appendProcess, createStudy, readStudy, type StoredStudy } from 'bench-analysis/results/study/store';
import { findCompanions } from '../services/index.ts';
import { STUDY_SCHEMA } from 'bench-model/versions';
import { startEffects } from './effects.ts';
import { prepareMachine, prepareTargets, readVersions } from './prepare.ts';
import type { Session } from './session.ts';
import type { Voice } from '../terminal/voice.ts';

/** The approximate time of a process beside its turns, in seconds: warming the generators, start, verification, stop. */
export const PROCESS_SECONDS = 4;

/** A study to measure. */
interface StudyJob {
  /** Its rounds are the processes, and its only rung the connections. */
  plan: Plan;
  /** The time for which each process is observed. */
  seconds: number;
  /** A process that the machine disturbed is replaced: of each target, at most this many. */
  spare: number;
  session: Session;
  /** True if the user named the targets: a missing one is then an error. */
  isNamed: boolean;
  voice: Voice;
}

/** A study that was measured and stored. */
interface MeasuredStudy {
  study: StoredStudy;
  interrupted: boolean;
}

/**
 * Prepares, measures and stores a study, and keeps what it found out for later runs. Throws a usage or toolchain error
 * before anything is measured.
 */
export async function measureStudy({
  plan,
  seconds,
  spare,
  session,
  isNamed,
  voice,
}: StudyJob): Promise<MeasuredStudy> {
  const reason = whyNoStudy();
  if (reason !== undefined) throw new BenchError('usage', reason, 'use Linux');
  const companions = await findCompanions(plan);
  const placed = await prepareMachine(plan, { session, launcher: freshLauncher, log: voice.log }, companions);
  const host = await readHost();
  const { prepared, leftOut } = await prepareTargets(plan, freshLauncher, {
    isNamed,
    log: voice.log,
    copies: [],
  });
  const context = { session, voice, placed, host, companions, leftOut };
  return observeTargets({ plan, seconds, spare, prepared }, context);
}

/** Returns why no warm-up can be studied on this system; undefined if it can. */
export function whyNoStudy(): string | undefined {
  if (process.platform === 'linux') return undefined;
  return 'a study of warm-up reads the CPU of short spans, which is not possible on this system';
}

/** The prepared machine of a study. */
export interface StudyMachine {
  session: Session;
  voice: Voice;
  placed: PinnedCommands;
  host: Host;
  companions: Companion[];
  leftOut: LeftOut[];
  /** The folder for the folder of the study; by default that of all runs. */
  results?: string;
}

/** Observes prepared targets, stores the study, and keeps what it found out. */
export async function observeTargets(
  {
    plan,
    seconds,
    spare,
    prepared,
  }: Pick<StudyJob, 'plan' | 'seconds' | 'spare'> & { prepared: readonly Launchable[] },
  { session, voice, placed, host, companions, leftOut, results }: StudyMachine,
): Promise<MeasuredStudy> {
  const engines = await findEngines([plan.engine]);
  const versions = readVersions([...prepared], companions, engines);
  const folder = createStudy({ ...describeStudy(plan, seconds), versions, leftOut }, host, results);
  await using started = await startEffects({ plan, session, placed, folder, engines, companions });
  const { effects, stop } = started;
  using _ = voice.onInterrupt(stop, 'stopping: completed processes are saved');
  const ready = new Map(
    prepared.flatMap((one) => ('attached' in one ? [] : [[one.target.id, one] as const])),
  );
  const due = plan.trials.filter(({ target }) => ready.has(target));
  await using reference = await startReference(plan, placed, effects);
  const observed: StudiedProcess[] = [];
  for (const [index, planned] of due.entries()) {
    if (effects.interrupted()) break;
    const leftSeconds = (due.length - index) * (seconds + PROCESS_SECONDS);
    session.expect(leftSeconds);
    if (voice.screen.isLive) {
      const done = { done: index, of: due.length, seconds, leftSeconds };
      voice.screen.showLive(describeObserved(planned, done));
    }
    const found = ready.get(planned.target) as Prepared;
    const studied = await observeProcess(
      { planned, context: { plan, placed, prepared: found, target: found.target } },
      { reference, effects, seconds, isStopped: () => effects.interrupted() },
    );
    appendProcess(folder, studied);
    observed.push(studied);
    voice.screen.showLine(`[${index + 1}/${due.length}] ${describeProcess(studied)}`);
    if (index + 1 < due.length || effects.interrupted()) continue;
    // The usual pace of the machine is known only now.
    const more = replaceDisturbed({ ...plan, trials: due }, countDisturbed(observed), spare);
    if (more.length > 0) voice.log(describeReplaced(more));
    due.push(...more);
  }
  const study = readStudy(folder);
  keepWarmups(
    study,
    [...ready.values()].map((one) => factsOf(one, plan, { host, placed })),
  );
  return { study, interrupted: effects.interrupted() };
}

/**
 * Plans a process in place of each that the machine disturbed. Of each target, at most `spare` are planned over a whole
 * study.
 */
export function replaceDisturbed(
  plan: Plan,
  targets: readonly Pick<StudiedTarget, 'id' | 'disturbed'>[],
  spare: number,
): PlannedTrial[] {
  return planMore(
    plan,
    targets.flatMap(({ id, disturbed }) => {
      const replaced = plan.trials.filter(({ target }) => target === id).length - plan.rounds;
      return Array.from({ length: Math.max(0, Math.min(disturbed, spare) - replaced) }, () => id);
    }),
  );
}

function describeReplaced(more: readonly PlannedTrial[]): string {
  return `the machine did not have its usual pace for most of ${countOf(more.length, 'process')}: as many more are observed`;
}

function describeStudy(plan: Plan, seconds: number): Omit<StudyFile, 'versions' | 'leftOut'> {
  const {
    run,
    seed,
    workload,
    params,
    targets,
    rungs,
    rounds,
    workers,
    threads,
    cores,
    warmupSeconds,
    noInitialGc,
  } = plan;
  return {
    schema: STUDY_SCHEMA,
    run,
    seed,
    workload,
    ...(params === undefined ? {} : { params }),
    targets,
    connections: rungs[0] ?? 1,
    seconds,
    processes: rounds,
    workers,
    ...(threads === undefined ? {} : { threads }),
    ...(cores === undefined ? {} : { cores }),
    warmupSeconds,
    ...(noInitialGc === undefined ? {} : { noInitialGc }),
    reference: REFERENCE,
  };
}
