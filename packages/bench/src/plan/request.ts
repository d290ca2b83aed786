import type { BenchOptions, Verdict } from 'bench-model/options';
import type { Secrets } from './secrets.ts';

/** A parsed `pnpm bench` command: a plan, and how to run it. */
export interface BenchRequest extends BenchOptions {
  /** The test that ends the run if it compares two targets and no other test is asked for. */
  ifTwo?: BenchOptions['sequentialTest'];
  dryRun: boolean;
  /** Revisions of the project to measure; `.` is the working tree. */
  revisions?: string[];
  /** Measures a commit once if two revisions name it, instead of refusing them: a job may run on the baseline itself. */
  mayRepeatRevisions?: boolean;
  resume?: string;
  /** A stored run whose plan is measured again. */
  again?: string;
  /** Ends the id of the run: the runs of a job begin in the same second. */
  suffix?: string;
  /** The words of the command line, without secrets. */
  typed?: string[];
  /** The secrets that the stored run did not keep. */
  secrets?: Secrets;
  /** The OpenAPI document that the requests are read from: a file, an address, or a path of the server. */
  openapi?: string;
  /** Compares the runtime of the targets with the newer ones that are here. */
  upgrade?: true;
  compares?: true;
  json: boolean;
  detail: boolean;
  wait: boolean;
  /** The verdicts of the comparison that make the command fail. */
  failOn?: Verdict[];
  /** Profiles the servers of each decided difference after the run. */
  why?: true;
}
