import { isSamePlace, unitOf, type RunEvent } from 'bench-model/planned';
import { TrialError } from 'bench-model/errors';
import type { FoundCapacity } from 'bench-model/measured';
import { soundSearchOf } from 'bench-analysis/capacities';
import type { FailedTrial, Trial } from 'bench-model/record';
import { makeReason, type Reason } from 'bench-model/reasons';
import type { Plan, PlannedTrial } from 'bench-model/plan';
import { ROWS_HINT } from '../plan/rows.ts';
import { measureTogether } from './conductor.ts';
import { scaleTo } from './launcher.ts';
import type { PinnedCommands } from 'bench-machine/placement';
import type { Launchable } from 'bench-targets/prepare/prepare';
import type { TrialContext, TrialEffects } from './life.ts';

/** The effects of a whole run. */
export interface RunEffects extends TrialEffects {
  /** Stores trials permanently before the next ones begin; those in turns together. */
  record(trials: Trial[]): Promise<void>;
  /** Decides after each trial whether the run continues. */
  decide(trials: Trial[]): 'continue' | 'stop';
  /** Returns a function that is false for planned trials that nothing needs any more: the comparisons of their targets are decided. */
  due(trials: Trial[]): (planned: PlannedTrial) => boolean;
  interrupted(): boolean;
  on(event: RunEvent): void;
}

interface PreparedRun {
  placed: PinnedCommands;
  prepared: Launchable[];
  /** Trials that an interrupted run has already stored. */
  before: Trial[];
}

/** Measures the trials of a plan in order, skips those already stored and those no longer due, and returns all of them. */
export async function run(
  plan: Plan,
  { placed, prepared, before }: PreparedRun,
  effects: RunEffects,
): Promise<Trial[]> {
  const trials = [...before];
  const kept = new Set(before.map(({ id }) => id));
  const launchable = new Map(
    prepared.map((one) => [
      one.target.id,
      { target: one.target, prepared: 'attached' in one ? undefined : one },
    ]),
  );
  const due = plan.trials.filter(({ target }) => launchable.has(target));
  const units = Map.groupBy(due, unitOf);
  // If only a part of a unit was stored before a kill, the rest is lost.
  const open = [...units.values()].filter((unit) => unit.every(({ id }) => !kept.has(id)));
  let of = kept.size + open.flat().length;
  for (const [at, whole] of open.entries()) {
    if (effects.interrupted() || effects.decide(trials) === 'stop') break;
    const isDue = effects.due(trials);
    const unit = whole.filter(isDue);
    if (unit.length < whole.length) of = trials.length + open.slice(at).flat().filter(isDue).length;
    if (unit.length === 0) continue;
    for (const [index, planned] of unit.entries())
      effects.on({ kind: 'started', planned, done: trials.length + index, of });
    const entries = unit.map((planned) => {
      const found = launchable.get(planned.target) as Pick<TrialContext, 'target' | 'prepared'>;
      const earlier = searchesBefore(trials, planned);
      return { planned, context: { ...scaleTo(found.target, { plan, placed }), ...found, earlier } };
    });
    const measured = failSameCode(await measureTogether(entries, effects), trials);
    // An interrupted trial is not stored: --resume measures it again.
    if (effects.interrupted()) break;
    await effects.record(measured);
    for (const trial of measured) {
      trials.push(trial);
      effects.on({ kind: 'ended', trial, done: trials.length, of });
    }
    refuseSameCode(measured);
    refuseUsedUp(measured);
  }
  return trials;
}

/** Returns the searches of earlier trials of the same target and place that found a capacity, if nothing but their few responses is in doubt. */
export function searchesBefore(trials: readonly Trial[], planned: PlannedTrial): FoundCapacity[] {
  return trials.flatMap((trial) => {
    const isAlike = trial.target.id === planned.target && isSamePlace(trial, planned);
    return isAlike ? (soundSearchOf(trial) ?? []) : [];
  });
}

/** Throws a trial error if a server ran the same code as another copy: further rounds would mean nothing either. */
export function refuseSameCode(measured: readonly Trial[]): void {
  for (const { target, reasons } of measured) {
    const same = reasons.find(({ code }) => code === 'same-code');
    if (same !== undefined) {
      throw new TrialError(`${target.id}: ${same.text}`, 'see which folder each server imports from');
    }
  }
}

/** Throws a trial error if the rows of a trial were used up: those of the next one would be too. */
export function refuseUsedUp(measured: readonly Pick<Trial, 'target' | 'reasons'>[]): void {
  for (const { target, reasons } of measured) {
    const found = reasons.find(({ code }) => code === 'rows-used-up');
    if (found !== undefined) throw new TrialError(`${target.id}: ${found.text}`, ROWS_HINT);
  }
}

/** Fails trials whose server ran the same code as another copy: their difference would mean nothing. */
function failSameCode(measured: Trial[], before: Trial[]): Trial[] {
  const all = [...before, ...measured];
  return measured.map((trial) => {
    const { target, code } = trial;
    const twin = all.find(
      (other) =>
        // Commits of a project may differ in other files than those that its server loads.
        target.copy === undefined &&
        code?.sha256 !== undefined &&
        other.code?.sha256 === code.sha256 &&
        other.code.from !== code.from &&
        other.target.stack === target.stack &&
        other.target.variant === target.variant &&
        other.target.runtime?.spec === target.runtime?.spec,
    );
    if (twin?.code === undefined) return trial;
    return failTrial(trial, makeReason('same-code', { other: twin.code.from, files: twin.code.files ?? 0 }));
  });
}

/** Returns a trial as failed for this reason. Its figures are kept as partial. */
export function failTrial(trial: Trial, reason: Reason): FailedTrial {
  if (trial.status === 'failed') return { ...trial, reasons: [reason, ...trial.reasons] };
  const { measured: partial, ...head } = trial;
  return { ...head, status: 'failed', reasons: [reason, ...trial.reasons], partial };
}
