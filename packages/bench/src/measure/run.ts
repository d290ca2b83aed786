import { isSamePlace, unitOf, type RunEvent } from 'bench-model/planned';
import { TrialError } from 'bench-model/errors';
import type { FoundCapacity } from 'bench-model/measured';
import { soundSearchOf } from 'bench-analysis/capacities';
import type { FailedTrial, Trial } from 'bench-model/record';
import type { Reason } from 'bench-model/reasons';
import type { Plan, PlannedTrial } from 'bench-model/plan';
import { ROWS_HINT } from '../plan/rows.ts';
import { measureTogether } from './conductor.ts';
import { contextOf } from './launcher.ts';
import type { PinnedCommands } from 'bench-machine/placement';
import type { Launchable } from 'bench-targets/prepare/prepare';
import type { TrialEffects } from './effects.ts';

export interface RunEffects extends TrialEffects {
  interrupted(): boolean;
  /** Throws if a launch has failed for want of space: that is no fault of the server, and nothing more can be kept. */
  refuseFull?(): void;
  /** Stores trials permanently before the next ones begin; those in turns together. */
  record?(trials: Trial[]): Promise<void>;
  /** Decides after each trial whether the run continues; by default until all are measured. */
  decide?(trials: Trial[]): 'continue' | 'stop';
  /** Returns a function that is false for planned trials that nothing needs any more: the comparisons of their targets are decided. */
  due?(trials: Trial[]): (planned: PlannedTrial) => boolean;
  on?(event: RunEvent): void;
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
  const launchable = new Map(prepared.map((one) => [one.target.id, one]));
  const due = plan.trials.filter(({ target }) => launchable.has(target));
  const units = Map.groupBy(due, unitOf);
  // If only a part of a unit was stored before a kill, the rest is lost.
  const open = [...units.values()].filter((unit) => unit.every(({ id }) => !kept.has(id)));
  let of = kept.size + open.flat().length;
  for (const [at, whole] of open.entries()) {
    if (effects.interrupted() || effects.decide?.(trials) === 'stop') break;
    const isDue = effects.due?.(trials) ?? (() => true);
    const unit = whole.filter(isDue);
    if (unit.length < whole.length) of = trials.length + open.slice(at).flat().filter(isDue).length;
    if (unit.length === 0) continue;
    for (const [index, planned] of unit.entries())
      effects.on?.({ kind: 'started', planned, done: trials.length + index, of });
    const entries = unit.map((planned) => {
      const context = contextOf(launchable.get(planned.target) as Launchable, { plan, placed });
      return { planned, context: { ...context, earlier: searchesBefore(trials, planned) } };
    });
    const measured = await measureTogether(entries, effects);
    // An interrupted trial is not stored: --resume measures it again.
    if (effects.interrupted()) break;
    effects.refuseFull?.();
    await effects.record?.(measured);
    for (const trial of measured) {
      trials.push(trial);
      effects.on?.({ kind: 'ended', trial, done: trials.length, of });
    }
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

/** Throws a trial error if the rows of a trial were used up: those of the next one would be too. */
function refuseUsedUp(measured: readonly Pick<Trial, 'target' | 'reasons'>[]): void {
  for (const { target, reasons } of measured) {
    const found = reasons.find(({ code }) => code === 'rows-used-up');
    if (found !== undefined) throw new TrialError(`${target.id}: ${found.text}`, ROWS_HINT);
  }
}

/** Returns a trial as failed for this reason. Its figures are kept as partial. */
export function failTrial(trial: Trial, reason: Reason): FailedTrial {
  if (trial.status === 'failed') return { ...trial, reasons: [reason, ...trial.reasons] };
  const { measured: partial, ...head } = trial;
  return { ...head, status: 'failed', reasons: [reason, ...trial.reasons], partial };
}
