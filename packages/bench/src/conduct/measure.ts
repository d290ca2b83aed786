import { estimateSeconds } from 'bench-model/planned';
import { trackRun } from 'bench-analysis/due';
import { keepTime } from 'bench-analysis/time-budget';
import { unlikeResumed } from 'bench-analysis/unlike';
import { UsageError } from 'bench-model/errors';
import { loadCluster } from '../cluster.ts';
import { findEngines } from 'bench-load/engines';
import { run, type RunEffects } from '../measure/run.ts';
import { refuseBudget } from '../plan/refusals.ts';
import type { Plan, PlannedTrial } from 'bench-model/plan';
import { present } from 'bench-model/options';
import { describeChoice } from 'bench-report/plan';
import { describeAhead, showProgress } from 'bench-report/progress';
import type { Host } from 'bench-model/host';
import {
  appendTrials,
  createRun,
  keepStops,
  mendRun,
  versionDifferences,
  type StoredRun,
} from 'bench-analysis/results/store';
import type { Placement, Trial } from 'bench-model/record';
import { RUN_SCHEMA } from 'bench-model/versions';
import type { Versions } from 'bench-model/run';
import { startCompanions } from '../services/index.ts';
import { createEffects } from './effects.ts';
import { readVersions, type ReadyRun } from './prepare.ts';
import { noteRun } from './begun.ts';
import type { Job, MeasuredRun } from './job.ts';
import { NOTHING_YET, SAVED } from '../terminal/voice.ts';

/** Measures a plan with targets that are ready, and stores the run. Throws a usage or toolchain error before anything is measured. */
export async function measurePlan(
  plan: Plan,
  { request, ready, session, voice }: Job & { ready: ReadyRun },
): Promise<MeasuredRun> {
  const { outline, resumed } = request;
  const { companions, launcher, placed, host, prepared, leftOut } = ready;
  const foreseen = describeChoice(outline);
  for (const line of describeChoice(plan)) if (!foreseen.includes(line)) voice.log(line);
  if (resumed === undefined) refuseBudget(plan);
  // The code of clusters is loaded only for a plan that has one.
  await using cluster = plan.cluster && (await (await loadCluster()).openCluster(plan.cluster, voice.log));
  const engines = cluster === undefined ? await findEngines([plan.engine]) : [cluster.engine];
  const versions = readVersions(prepared, companions, engines);
  if (resumed !== undefined) refuseOtherVersions(resumed, versions);
  const made = { schema: RUN_SCHEMA, plan, versions, leftOut, ...present({ typed: request.typed }) };
  const folder = resumed?.folder ?? createRun(made, host);
  if (resumed === undefined) noteRun(folder);
  const measured = { ...made, folder, host, trials: [] };
  const before = stopsOf(resumed);
  if (resumed !== undefined) {
    mendRun(folder);
    keepStops(folder, before, resumed.stops);
  }
  const tracker = trackRun(plan, before);
  const stored = resumed?.trials ?? [];
  const known = [...stored];
  const mayBegin = keepTime(plan, tracker, { before: stored });
  const isInVain = (all: Trial[]): boolean =>
    isHopeless(plan, all.slice(stored.length)) || request.goesOn?.(plan, all) === false;
  const expectRest = (): PlannedTrial[] => {
    const left = tracker.left(known);
    session.expect(estimateSeconds(plan, left));
    return left;
  };
  const mostSeconds = plan.sequentialTest?.budgetSeconds ?? Infinity;
  const left = expectRest();
  const leftSeconds = Math.min(estimateSeconds(plan, left), mostSeconds);
  voice.log(`measuring: ${describeAhead(plan, left, leftSeconds)}`);
  const { token, recordLeftoverServer } = session;
  await using beside = await startCompanions(companions, { token, folder, placed, recordLeftoverServer });
  const wiring = { plan, token, placed, folder, launcher, engines, companions: beside.all };
  const { effects, stop } = await createEffects({ ...wiring, host: cluster?.host });
  const conducted: RunEffects = {
    ...effects,
    decide: (all) => (mayBegin(all) && !isInVain(all) ? 'continue' : 'stop'),
    due: tracker.due,
    record: async (trials) => {
      appendTrials(folder, trials);
      known.push(...trials);
      expectRest();
    },
    on: showProgress(plan, voice.screen, { tracker, before: stored }),
  };
  using _ = voice.onInterrupt(stop, () => (known.length > 0 ? SAVED : NOTHING_YET));
  const trials = await run(plan, { placed, prepared, before: stored }, conducted);
  const stops = tracker.stopsAfter(trials);
  keepStops(folder, stops, before);
  return { run: { ...measured, stops, trials }, interrupted: effects.interrupted() };
}

/** Returns the stops of a run that is resumed. Whatever became of it, its report so far was a look. */
export function stopsOf(resumed: StoredRun | undefined): number[] {
  return resumed === undefined ? [] : trackRun(resumed.plan, resumed.stops).stopsAfter(resumed.trials);
}

/** A target that failed this often fails again. */
const FEWEST_FAILED = 3;

/** Returns true if further rounds would only fail as all of these trials did. */
export function isHopeless(
  { targets }: Pick<Plan, 'targets'>,
  trials: readonly Pick<Trial, 'target' | 'status'>[],
): boolean {
  return (
    trials.every(({ status }) => status === 'failed') &&
    targets.every(({ id }) => trials.filter(({ target }) => target.id === id).length >= FEWEST_FAILED)
  );
}

/** Throws a usage error if a run was measured on another machine, or on other cores. */
export function refuseOtherHost(resumed: StoredRun, host: Host, placement: Placement): void {
  const differences = unlikeResumed(resumed, { host, placement });
  if (differences.length === 0) return;
  throw new UsageError(
    `run ${resumed.plan.run} was measured on another machine, or this machine has changed: ${differences.join('; ')}`,
    'start a new run, or resume this one on its own machine',
  );
}

/** Throws a usage error if a run was measured with other versions. */
export function refuseOtherVersions(resumed: StoredRun, versions: Versions): void {
  const differences = versionDifferences(resumed.versions, versions);
  if (differences.length === 0) return;
  throw new UsageError(
    `run ${resumed.plan.run} was measured with other versions: ${differences.join('; ')}`,
    'start a new run: one run cannot mix versions',
  );
}
