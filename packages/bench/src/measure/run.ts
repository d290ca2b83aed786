import type { Target, Trial } from '../model.ts';
import type { Plan, RunEvent } from '../plan.ts';
import type { Placed } from './placement.ts';
import type { Prepared } from './prepare.ts';
import { measureTrial, type TrialEffects } from './trial.ts';

/** The effects of a whole run. */
export interface RunEffects extends TrialEffects {
  /** Keeps the trial for good before the next begins. */
  record(trial: Trial): Promise<void>;
  /** Whether to go on after what has been measured so far. */
  decide(trials: Trial[]): 'continue' | 'stop';
  on(event: RunEvent): void;
}

/** What a run measures with. */
export interface RunMeans {
  placed: Placed;
  prepared: Prepared[];
  /** Trials that an interrupted run has already kept. */
  before: Trial[];
}

/** Measures the plan's trials in their order, leaving out those already kept, and gives all of them. */
export async function run(
  plan: Plan,
  { placed, prepared, before }: RunMeans,
  effects: RunEffects,
): Promise<Trial[]> {
  const trials = [...before];
  const kept = new Set(before.map(({ id }) => id));
  const launchable = new Map<string, { target: Target; prepared: Prepared | undefined }>();
  for (const target of plan.targets) {
    const found = prepared.find((one) => one.target.id === target.id);
    if (found !== undefined || plan.url !== undefined) launchable.set(target.id, { target, prepared: found });
  }
  const due = plan.trials.filter(({ id, target }) => !kept.has(id) && launchable.has(target));
  const of = kept.size + due.length;
  for (const planned of due) {
    if (effects.decide(trials) === 'stop') break;
    const found = launchable.get(planned.target);
    if (found === undefined) continue;
    effects.on({ kind: 'started', planned, done: trials.length, of });
    const trial = await measureTrial(planned, { plan, placed, ...found }, effects);
    // An interrupted trial is nobody's figure: it is measured anew on --resume.
    if (effects.decide(trials) === 'stop') break;
    await effects.record(trial);
    trials.push(trial);
    effects.on({ kind: 'ended', trial, done: trials.length, of });
  }
  return trials;
}
