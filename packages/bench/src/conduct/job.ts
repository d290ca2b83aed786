import type { Voice } from '../terminal/voice.ts';
import type { StoredRun } from 'bench-analysis/results/store';
import type { ResolvedRequest } from './resolve.ts';
import type { Session } from './session.ts';

/** A request at work: a run to start or to resume. */
export interface Job {
  request: ResolvedRequest;
  /** Closed early if a Ctrl-C ends the process immediately. */
  session: Session;
  voice: Voice;
}

/** A run that was measured and stored. */
export interface MeasuredRun {
  run: StoredRun;
  interrupted: boolean;
}
