/** The source of a run's servers: started for each trial, or already running. Chosen once per run. */

import { coresOf } from 'bench-model/planned';
import { resolve } from 'node:path';
import type { Stack } from 'bench-model/stack';
import type { Draw } from 'bench-targets/catalogue/workloads/workload';
import type { Plan, PlannedTrial } from 'bench-model/plan';
import { isNode } from 'bench-targets/prepare/collect';
import { hooked } from 'bench-targets/prepare/signals';
import { launch } from 'bench-machine/launch';
import {
  choosePlacement,
  narrowServer,
  type PinnedCommands,
  type PlacementNeeds,
} from 'bench-machine/placement';
import { OWN_TLS } from 'bench-machine/tls';
import type { Target } from 'bench-model/target';
import { present } from 'bench-model/options';
import { planOf } from '../plan/scale.ts';
import { prepareAll, type Launchable, type Missing, type Prepared } from 'bench-targets/prepare/prepare';
import { describeWork, surveyWork } from 'bench-targets/prepare/inspect';
import type { TrialContext, TrialEffects } from './effects.ts';

/** The inputs of a server, whoever started it. */
export interface ServerContext {
  plan: Plan;
  placed: PinnedCommands;
  token: string;
  folder: string;
  time: readonly string[] | undefined;
  /** The address that servers listen on; by default one that only this machine reaches. */
  host?: string | undefined;
  stopped: AbortSignal;
}

/** Provides the servers of a run. */
export interface Launcher {
  place: (needs: PlacementNeeds) => Promise<PinnedCommands>;
  /** Prepares the targets of a plan for launch, which are of these stacks. */
  prepare(
    plan: Plan,
    tell: (doing: string) => void,
    stacks: Stack[],
  ): Promise<{ ready: Launchable[]; missing: Missing[] }>;
  open(context: ServerContext): TrialEffects['launch'];
}

/**
 * .NET multiplies the delay of its optimising compiler by ten if it sees one core, which no production has. Nothing else reads
 * this variable, so every server gets it, whatever its command starts.
 */
const EARLY_DOTNET = {
  DOTNET_TC_DelaySingleProcMultiplier: process.env['DOTNET_TC_DelaySingleProcMultiplier'] ?? '1',
};

/** Returns the environment of a server, with the variables by which its processes answer to Bench. */
function environmentOf(
  prepared: Prepared,
  planned: PlannedTrial,
  own: Draw['env'],
  folder: string,
): Record<string, string> {
  const env = {
    ...EARLY_DOTNET,
    ...prepared.env,
    ...own,
    ...askable(prepared, planned, folder),
  };
  if (!isNode(prepared)) return env;
  const collected = answerFile(folder, planned.id, 'collected');
  return { ...env, ...hooked('node', env, { BENCH_COLLECTED: collected }) };
}

/** The variables by which a server reports its code, and that of a user in Python its GIL and its JIT. */
function askable(
  { code, env, stack, target }: Prepared,
  { id }: PlannedTrial,
  folder: string,
): Record<string, string> {
  const { kind = 'none' } = target.runtime ?? {};
  const isReporting = stack.project !== undefined && kind === 'python';
  if (kind === 'none' || (code === undefined && !isReporting)) return {};
  return hooked(kind, env, {
    ...(code && { BENCH_IMPORTS: answerFile(folder, id, 'imports') }),
    ...(isReporting && { BENCH_RUNTIME: answerFile(folder, id, 'runtime') }),
  });
}

/** The path prefix of the files in which the processes of a trial's server answer. */
export function answerFile(folder: string, trial: string, what: 'imports' | 'collected' | 'runtime'): string {
  return resolve(folder, 'data', `${trial.split('-', 1)[0]}-${what}`);
}

/** Returns the plan and the placement of one target: those of the run, unless the target has its own resources. */
export function scaleTo<T extends Pick<ServerContext, 'plan' | 'placed'>>(target: Target, context: T): T {
  const plan = planOf(context.plan, target);
  return plan === context.plan
    ? context
    : { ...context, plan, placed: narrowServer(context.placed, coresOf(plan)) };
}

/** Returns the context of the trials of a target. */
export function contextOf(one: Launchable, run: Pick<ServerContext, 'plan' | 'placed'>): TrialContext {
  const { target } = one;
  return { ...scaleTo(target, run), target, prepared: 'attached' in one ? undefined : one };
}

/** Starts a fresh server for each trial. */
export const freshLauncher: Launcher = {
  place: choosePlacement,
  async prepare({ targets }, tell, stacks) {
    for (const line of describeWork(await surveyWork(targets, stacks))) tell(line);
    const { prepared, missing } = await prepareAll(targets, stacks, tell);
    return { ready: prepared, missing };
  },
  open:
    ({ token, folder, time, host, stopped, ...context }) =>
    (prepared: Prepared, planned, draw) => {
      const { plan, placed } = scaleTo(prepared.target, context);
      return launch({
        id: planned.id,
        token,
        command: prepared.command,
        cwd: prepared.stack.root,
        env: environmentOf(prepared, planned, draw.env, folder),
        files: draw.files,
        workers: plan.workers,
        threads: plan.threads,
        prefix: placed.server,
        isOfUser: prepared.stack.project !== undefined,
        time,
        host,
        ...present({ port: prepared.stack.port }),
        tls: prepared.variant.scheme === 'https' ? OWN_TLS : undefined,
        folder,
        stopped,
      });
    },
};
