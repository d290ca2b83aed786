/** How companions judge a window. */
import type { Resources } from 'bench-model/figures';
import type { CompanionLimit } from 'bench-model/companions';
import type { HostWindow, Limit } from 'bench-model/measured';
import type { LoadResult } from 'bench-model/load';
import type { Placement } from 'bench-model/record';
import type { Reason } from 'bench-model/reasons';

/** The judgement of a companion. */
export interface CompanionJudge {
  /** Returns its name if it was saturated and so held back the server. */
  bottleneck?(evidence: CompanionEvidence): CompanionLimit | undefined;
  /** Returns its objections to the window. */
  judge?(evidence: CompanionEvidence & { limit: Limit }): Reason[];
}

/** The basis on which a companion judges a window. */
export interface CompanionEvidence {
  load: LoadResult;
  /** Its own resources over the window. */
  resources: Resources | undefined;
  /** Its cores, and those of other sides on its host. */
  placement: Placement;
  /** Its host; undefined if that is the server's. */
  host?: string | undefined;
  /** The machine of that host during the window; undefined if unknown. */
  machine?: HostWindow | undefined;
  /** The number of requests that companions sent to the server beside the load. */
  besideRequests: number;
}
