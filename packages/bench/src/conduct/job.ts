import type { Voice } from '../terminal/voice.ts';
import type { StoredRun } from 'bench-analysis/results/store';
import type { Plan } from 'bench-model/plan';
import type { Trial } from 'bench-model/record';
import type { Session } from './session.ts';

/** A run to start or to resume. */
export interface Job {
  plan: Plan;
  /** Closed early if a Ctrl-C ends the process immediately. */
  session: Session;
  /** The run to complete. */
  resumed: StoredRun | undefined;
  /** True if the user named the targets: a missing one is then an error. */
  isNamed: boolean;
  /** The words that asked for the run. */
  typed?: string[];
  voice: Voice;
  /** Plans the run without these targets, which cannot be launched here. Absent if its trials are fixed. */
  planWithout?: (targets: readonly string[]) => Plan;
  /** Returns false if its trials so far show that more of them are in vain. */
  goesOn?: (trials: readonly Trial[]) => boolean;
}

/** A run that was measured and stored. */
export interface MeasuredRun {
  run: StoredRun;
  interrupted: boolean;
}
