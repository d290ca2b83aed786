/** The package as a library: `import { bench, compare } from 'bench-http'`. */
import type { LeftOut } from 'bench-model/run';
import type { Trial } from 'bench-model/record';
import type { Host } from 'bench-model/host';
import type { Plan } from 'bench-model/plan';
import { benchOptions, present, type BenchOptions } from 'bench-model/options';
import { BenchError, type ErrorCode } from 'bench-model/errors';
import type { Question } from 'bench-analysis/compare';
import type { Factor } from 'bench-analysis/unlike';
import { compareStored, type CompareInput, type StoredComparison } from './commands/compare.ts';
import { measureRequest } from './conduct/measure-request.ts';
import { resolveRequest } from './conduct/resolve.ts';
import { programVoice } from './terminal/voice.ts';

export { BenchError, type ErrorCode };
export type { CompareInput, Factor, Host, LeftOut, Plan, Question, StoredComparison, Trial };
export type { ComparedRow, ComparedTable } from 'bench-analysis/compare';
export type { Comparison } from 'bench-analysis/comparison';
export type { Target } from 'bench-model/target';
export type { AppOptions, UserRequestOptions, BenchOptions, ServerOptions } from 'bench-model/options';
export type { Measured } from 'bench-model/measured';
export type { Reason } from 'bench-model/reasons';

/** The options of `bench`: those of a plan, and how to run it. Every field has the default of the command line. */
export interface BenchInput extends Partial<BenchOptions> {
  /** The id or the folder of an interrupted run to complete. Excludes the options of a plan. */
  resume?: string;
  /** The id or the folder of a run whose plan is measured again. Excludes the options of a plan. */
  again?: string;
  /** Revisions of the project to measure, such as `main`; `.` is the working tree. */
  revisions?: string[];
  /** Waits for another run on this machine to end; otherwise `bench` throws. */
  wait?: boolean;
  /** Takes one line of progress or one warning. By default nothing is printed. */
  log?: (line: string) => void;
  /** Stops the run: what was measured is kept. */
  signal?: AbortSignal;
}

/** A measured run. */
export interface BenchResult {
  /** The id of the run: `compare` and `resume` take it. */
  run: string;
  /** The folder of the stored run. */
  folder: string;
  plan: Plan;
  host: Host;
  /** The records in the order in which they were measured. A failed trial is a record too. */
  trials: Trial[];
  /** The targets that could not be measured here, with the reasons. */
  leftOut: LeftOut[];
  /** True if `signal` stopped the run. */
  interrupted: boolean;
}

/**
 * Measures HTTP servers on this machine and stores the run in the project of the current folder. Throws a
 * `BenchError` for a request that is not valid, for a missing toolchain, and while another run measures.
 */
export async function bench(input: BenchInput = {}): Promise<BenchResult> {
  const { resume, again, revisions, wait = false, log, signal, ...options } = input;
  const voice = programVoice(log, signal);
  const request = await resolveRequest({
    ...benchOptions(options),
    wait,
    dryRun: false,
    json: false,
    detail: false,
    ...present({ resume, again, revisions }),
  });
  const { run, interrupted } = await measureRequest(request, voice);
  const { folder, plan, host, trials, leftOut } = run;
  return { run: plan.run, folder, plan, host, trials, leftOut, interrupted };
}

/**
 * Compares the targets of a stored run, or each target of two runs with itself. A run is named by its id, its folder
 * or `latest`. Throws a `BenchError` for an unknown run and for runs that are unlike.
 */
export function compare(
  runs: string | [run: string, later?: string],
  input: CompareInput = {},
): StoredComparison {
  return compareStored(
    [runs].flat().filter((run) => run !== undefined),
    input,
  );
}
