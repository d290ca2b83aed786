/** How companions judge a window. */
import type { Resources } from '../model/figures.ts';
import type { CompanionLimit } from '../model/companions.ts';
import type { HostWindow, Limit } from '../model/measured.ts';
import type { LoadResult } from '../model/load.ts';
import type { Placement } from '../model/record.ts';
import type { Reason } from '../model/reasons.ts';

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
