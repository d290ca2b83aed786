import { isDecided } from '@bench/harness/analyse/compare';
import { createAutocannonEngine } from '@bench/harness/measure/load/autocannon';
import type { Database } from '@bench/harness/measure/database';
import { launch, type Server } from '@bench/harness/measure/launch';
import type { Placed } from '@bench/harness/measure/placement';
import { openSampler } from '@bench/harness/measure/resources/sampler';
import { timeCommand } from '@bench/harness/measure/resources/time';
import type { RunEffects } from '@bench/harness/measure/run';
import type { Upstream } from '@bench/harness/measure/upstream';
import { attachServer } from '@bench/harness/measure/url';
import { awaitRightAnswer, verify } from '@bench/harness/measure/verify';
import type { Plan } from '@bench/harness/plan';

/** What wires a run to the machine. */
export interface Wiring {
  plan: Plan;
  placed: Placed;
  token: string;
  folder: string;
  /** What the servers ask; absent where they ask nobody. */
  upstream?: Upstream | undefined;
  database?: Database | undefined;
  /** Keeps trials; nothing unless told. */
  record?: RunEffects['record'];
  /** Shows what happens; nothing unless told. */
  on?: RunEffects['on'];
}

/** The effects of a real run, and how to stop it from outside. */
export async function createEffects({
  plan,
  placed,
  token,
  folder,
  upstream,
  database,
  record = async () => {},
  on = () => {},
}: Wiring): Promise<{ effects: RunEffects; stop: () => void }> {
  const time = await timeCommand();
  const endsAtMs = performance.now() + 1000 * (plan.sitting?.budgetSeconds ?? Infinity);
  let stopped = false;
  // Those of a duel are several.
  const live = new Map<string, Server>();
  const effects: RunEffects = {
    async launch(prepared, planned, draw) {
      const server =
        plan.url === undefined
          ? await launch({
              id: planned.id,
              token,
              command: prepared.command,
              cwd: prepared.stack.root,
              env: { ...prepared.env, ...upstream?.env, ...draw.env },
              files: draw.files,
              workers: plan.workers,
              threads: plan.threads,
              prefix: placed.server,
              time,
              folder,
            })
          : await attachServer(plan.url, () => stopped);
      // A Ctrl-C that came while it was being launched found nothing to stop yet.
      if (stopped) await server.stop();
      live.set(planned.target, server);
      return server;
    },
    awaitRightAnswer,
    verify,
    load: createAutocannonEngine(placed.generator),
    ...(upstream === undefined ? {} : { upstream }),
    ...(database === undefined ? {} : { database }),
    async resources(server) {
      const pid = server.pid();
      if (pid === undefined) return undefined;
      const sampler = await openSampler({ serverPid: pid, cgroup: server.cgroup });
      return (await (upstream ?? database)?.sampleBeside(sampler)) ?? sampler;
    },
    now: () => Date.now(),
    record,
    decide: (trials) => (performance.now() > endsAtMs || isDecided(plan, trials) ? 'stop' : 'continue'),
    interrupted: () => stopped,
    on,
  };
  return {
    effects,
    stop() {
      stopped = true;
      for (const server of live.values()) void server.stop();
    },
  };
}
