import { estimateSeconds } from 'bench-model/planned';
import { dueTrials, stopRun, trackRun } from 'bench-analysis/due';
import { unlikeResumed } from 'bench-analysis/unlike';
import { DisposableStack } from '@whatwg-node/disposablestack';
import { BenchError } from 'bench-model/errors';
import { scaleTo } from '../measure/launcher.ts';
import { loadCluster, type OpenCluster } from '../cluster.ts';
import { findEngines } from 'bench-load/engines';
import type { PinnedCommands } from 'bench-machine/placement';
import { run } from '../measure/run.ts';
import { fitAnswers, fitStarts } from '../plan/plan.ts';
import { refuseAlone } from '../plan/refusals.ts';
import type { Plan, PlannedTrial } from 'bench-model/plan';
import { present } from 'bench-model/options';
import { describeChoice, describeTurns } from 'bench-report/plan';
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
import type { Placement } from 'bench-model/record';
import { RUN_SCHEMA } from 'bench-model/versions';
import type { Versions } from 'bench-model/run';
import { refuseBudget } from './dry.ts';
import { startEffects } from './effects.ts';
import { prepareRun, readVersions } from './prepare.ts';
import { noteRun } from './begun.ts';
import type { Job, MeasuredRun } from './job.ts';
import { tryTargets } from './tryout.ts';
import { NOTHING_YET, SAVED, type Voice } from '../terminal/voice.ts';

/**
 * Prepares, measures and stores the trials of a plan. Throws a usage or toolchain error before anything is
 * measured.
 */
export async function measurePlan({
  plan: whole,
  session,
  resumed,
  isNamed,
  typed,
  voice,
  planWithout,
  goesOn,
}: Job): Promise<MeasuredRun> {
  using kept = new DisposableStack();
  const release = (): void => {
    kept[Symbol.dispose]();
    session[Symbol.dispose]();
  };
  const known = [...(resumed?.trials ?? [])];
  const describeStop = (): string => (known.length > 0 ? SAVED : NOTHING_YET);
  using interrupts = new DisposableStack();
  interrupts.use(voice.onInterrupt(() => voice.quit(() => release()), describeStop));
  const { companions, launcher, placed, host, prepared, leftOut } = await prepareRun(whole, {
    session,
    isNamed,
    voice,
    kept,
    check: (here, pinned) => {
      if (resumed !== undefined) refuseOtherHost(resumed, here, placementOf(resumed, pinned));
    },
  });
  const routed =
    leftOut.length === 0 || planWithout === undefined
      ? whole
      : planWithout(leftOut.map(({ target }) => target));
  refuseAlone(whole, routed);
  if (routed !== whole) for (const line of describeChoice(routed)) voice.log(line);
  await using cluster = await joinCluster(routed, voice);
  const isOfUser = prepared.some((one) => 'attached' in one || one.stack.project !== undefined);
  let fitted = routed;
  if (isOfUser && resumed === undefined) {
    const folder = session.makeFolder('try');
    const slowest = await tryTargets(routed, prepared, {
      session,
      placed,
      folder,
      launcher,
      companions,
      voice,
    });
    if (slowest === undefined) voice.quit(() => release());
    else fitted = fitStarts(fitAnswers(routed, slowest.answerSeconds), slowest.startupSeconds);
    if (fitted !== routed) {
      for (const line of describeTurns(fitted)) voice.log(line);
      refuseBudget({ plan: fitted, resumed });
    }
  }
  const engines = cluster === undefined ? await findEngines([routed.engine]) : [cluster.engine];
  const versions = readVersions(prepared, companions, engines);
  if (resumed !== undefined) refuseOtherVersions(resumed, versions);
  const plan = resumed === undefined ? fitted : routed;
  const made = { schema: RUN_SCHEMA, plan, versions, leftOut, ...present({ typed }) };
  const folder = resumed?.folder ?? createRun(made, host);
  if (resumed === undefined) noteRun(folder);
  const measured = { ...made, folder, host, trials: [] };
  if (resumed !== undefined) {
    mendRun(folder);
    keepStops(folder, plan);
  }
  const tracker = trackRun(plan);
  const expectRest = (): PlannedTrial[] => {
    const due = dueTrials(plan, known, tracker);
    session.expect(estimateSeconds(plan, due));
    return due;
  };
  const mostSeconds = plan.sequentialTest?.budgetSeconds ?? Infinity;
  const due = expectRest();
  const leftSeconds = Math.min(estimateSeconds(plan, due), mostSeconds);
  voice.log(`measuring: ${describeAhead(plan, due, leftSeconds)}`);
  await using started = await startEffects({
    plan,
    session,
    placed,
    folder,
    launcher,
    engines,
    host: cluster?.host,
    companions,
    before: known.slice(),
    ...present({ goesOn }),
    record: async (trials) => {
      appendTrials(folder, trials);
      known.push(...trials);
      expectRest();
    },
    on: showProgress(plan, voice.screen, { before: resumed?.trials }),
  });
  const { effects } = started;
  interrupts.use(voice.onInterrupt(started.stop, describeStop));
  const trials = await run(plan, { placed, prepared, before: resumed?.trials ?? [] }, effects);
  const stopped = stopRun(plan, trials);
  keepStops(folder, stopped);
  return { run: { ...measured, plan: stopped, trials }, interrupted: effects.interrupted() };
}

/** Joins the cluster of a plan. Its code is loaded only for a plan that has one. */
async function joinCluster({ cluster }: Plan, { log }: Voice): Promise<OpenCluster | undefined> {
  if (cluster === undefined) return undefined;
  const { openCluster } = await loadCluster();
  return openCluster(cluster, log);
}

/** Returns the placement of the first trial of a run, if it were measured now. */
function placementOf({ plan, trials: [first] }: StoredRun, placed: PinnedCommands): Placement {
  return first === undefined ? placed.placement : scaleTo(first.target, { plan, placed }).placed.placement;
}

/** Throws a usage error if a run was measured on another machine, or on other cores. */
export function refuseOtherHost(resumed: StoredRun, host: Host, placement: Placement): void {
  const differences = unlikeResumed(resumed, { host, placement });
  if (differences.length === 0) return;
  throw new BenchError(
    'usage',
    `run ${resumed.plan.run} was measured on another machine, or this machine has changed: ${differences.join('; ')}`,
    'start a new run, or resume this one on its own machine',
  );
}

/** Throws a usage error if a run was measured with other versions. */
export function refuseOtherVersions(resumed: StoredRun, versions: Versions): void {
  const differences = versionDifferences(resumed.versions, versions);
  if (differences.length === 0) return;
  throw new BenchError(
    'usage',
    `run ${resumed.plan.run} was measured with other versions: ${differences.join('; ')}`,
    'start a new run: one run cannot mix versions',
  );
}
