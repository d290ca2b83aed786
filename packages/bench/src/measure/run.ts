import { BenchError } from '../errors.ts';
import type { Trial } from '../results/record.ts';
import { makeReason } from '../reasons.ts';
import type { Plan } from '../plan/definition.ts';
import type { RunEvent } from '../plan/plan.ts';
import { measureTogether } from './conductor.ts';
import type { PinnedCommands } from '../machine/placement.ts';
import type { Launchable } from '../prepare/prepare.ts';
import type { TrialContext, TrialEffects } from './life.ts';

/** The effects of a whole run. */
export interface RunEffects extends TrialEffects {
  /** Keeps trials for good before the next begin; those of a duel together. */
  record(trials: Trial[]): Promise<void>;
  /** Whether to go on after what has been measured so far. */
  decide(trials: Trial[]): 'continue' | 'stop';
  /** Whether what is under way was cut short from outside. */
  interrupted(): boolean;
  on(event: RunEvent): void;
}

/** What a run measures with. */
export interface RunMeans {
  placed: PinnedCommands;
  prepared: Launchable[];
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
  const launchable = new Map(
    prepared.map((one) => [
      one.target.id,
      { target: one.target, prepared: 'attached' in one ? undefined : one },
    ]),
  );
  const due = plan.trials.filter(({ target }) => launchable.has(target));
  const units = Map.groupBy(due, ({ duel, id }) => duel ?? id);
  // Of a duel that was half kept before a kill, the other half is lost for good.
  const open = [...units.values()].filter((unit) => unit.every(({ id }) => !kept.has(id)));
  const of = kept.size + open.flat().length;
  for (const unit of open) {
    if (effects.interrupted() || effects.decide(trials) === 'stop') break;
    for (const [index, planned] of unit.entries())
      effects.on({ kind: 'started', planned, done: trials.length + index, of });
    const entries = unit.map((planned) => ({
      planned,
      context: {
        plan,
        placed,
        ...(launchable.get(planned.target) as Pick<TrialContext, 'target' | 'prepared'>),
      },
    }));
    const measured = failSameCode(await measureTogether(entries, effects), trials);
    // An interrupted trial is nobody's figure: it is measured anew on --resume.
    if (effects.interrupted()) break;
    await effects.record(measured);
    for (const trial of measured) {
      trials.push(trial);
      effects.on({ kind: 'ended', trial, done: trials.length, of });
    }
    const same = measured.find(({ reasons }) => reasons.some(({ code }) => code === 'same-code'));
    if (same !== undefined) {
      const text = same.reasons.find(({ code }) => code === 'same-code')?.text ?? '';
      throw new BenchError(
        'trial',
        `${same.target.id}: ${text}`,
        'see which folder each server imports from',
      );
    }
  }
  return trials;
}

/** Fails trials whose server ran the same code as that of another copy: their difference would say nothing. */
function failSameCode(measured: Trial[], before: Trial[]): Trial[] {
  const all = [...before, ...measured];
  return measured.map((trial) => {
    const { target, code } = trial;
    const twin = all.find(
      (other) =>
        code !== undefined &&
        other.code?.sha256 === code.sha256 &&
        other.code.from !== code.from &&
        other.target.stack === target.stack &&
        other.target.variant === target.variant &&
        other.target.runtime?.spec === target.runtime?.spec,
    );
    if (twin?.code === undefined) return trial;
    const reason = makeReason('same-code', { other: twin.code.from, files: twin.code.files });
    if (trial.status === 'failed') return { ...trial, reasons: [reason, ...trial.reasons] };
    const { measured: partial, ...head } = trial;
    return { ...head, status: 'failed', reasons: [reason, ...trial.reasons], partial };
  });
}
