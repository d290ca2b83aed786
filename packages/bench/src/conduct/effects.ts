import { cureForFull } from 'bench-model/errors';
import { findEngines, type FoundEngine } from 'bench-load/engines';
import type { Server } from 'bench-machine/launch';
import { collectGarbage, isNode } from 'bench-targets/prepare/collect';
import { readRunningCode } from 'bench-targets/prepare/imports';
import { answerFile, freshLauncher, type Launcher } from '../measure/launcher.ts';
import { askAlone } from '../measure/alone.ts';
import { seeServer } from '../measure/outside.ts';
import { readInterpreterOf } from 'bench-targets/prepare/interpreters';
import { readAllowedCores, widenServer, type PinnedCommands } from 'bench-machine/placement';
import { familyOf } from 'bench-machine/procfs';
import { startBurner } from 'bench-machine/resources/burner';
import { openCompilerMeter } from 'bench-machine/resources/compiler-meter';
import { CLOCK, openCpuMeter } from 'bench-machine/resources/cpu-meter';
import { openSampler } from 'bench-machine/resources/open';
import { sampleTogether } from 'bench-machine/resources/sampler';
import { collectsSerially, runtimeOfServer } from 'bench-machine/runtimes';
import { timeCommand } from 'bench-machine/time';
import { findWatcher } from 'bench-machine/watchers';
import type { RunEffects } from '../measure/run.ts';
import { wakingRequest } from 'bench-targets/catalogue/workloads/workload';
import { ANSWER_SECONDS, sendRequest } from 'bench-targets/catalogue/workloads/send';
import { awaitRightAnswer, logIn, verify } from '../measure/verify.ts';
import { present } from 'bench-model/options';
import type { Plan } from 'bench-model/plan';
import type { RunningCompanion } from '../services/companion.ts';

/** The connections of a run to the machine. */
interface Wiring {
  plan: Plan;
  placed: PinnedCommands;
  token: string;
  folder: string;
  /** Provides the servers; by default, a fresh one for each trial. */
  launcher?: Launcher;
  engines?: FoundEngine[];
  /** The address that servers listen on; by default one that only this machine reaches. */
  host?: string | undefined;
  companions?: RunningCompanion[];
}

/** Returns the process of a server that runs on this machine; undefined if it has ended, or is not known. */
function pidHere(server: Server): number | undefined {
  return server.isRemote !== true && server.ended() === undefined ? server.pid() : undefined;
}

/** Returns the effects of real trials, and the function that stops them from outside. */
export async function createEffects(wiring: Wiring): Promise<{ effects: RunEffects; stop: () => void }> {
  const { plan, placed, token, folder, launcher = freshLauncher, engines, host, companions = [] } = wiring;
  const time = await timeCommand();
  const found = engines ?? (await findEngines([plan.engine]));
  const [load] = found.map((engine) => engine.create({ placed, token }));
  if (load === undefined) throw new Error(`no engine ${plan.engine}`);
  // Checks wait as long as the load for a response.
  const answerSeconds = Math.max(ANSWER_SECONDS, plan.timeoutSeconds);
  const interruption = new AbortController();
  const { signal: stopped } = interruption;
  // Servers that take turns have several.
  const live = new Map<string, Server>();
  const provide = launcher.open({ plan, placed, token, folder, time, host, stopped });
  let full: Error | undefined;
  const effects: RunEffects = {
    async launch(prepared, planned, draw) {
      const server = await provide(prepared, planned, draw).catch((error: NodeJS.ErrnoException) => {
        if (cureForFull(error) !== undefined) full ??= error;
        throw error;
      });
      // A Ctrl-C during the launch found no server to stop.
      if (stopped.aborted) await server.stop();
      live.set(planned.target, server);
      return server;
    },
    awaitRightAnswer: (server, draw, deadlineSeconds) =>
      awaitRightAnswer(server, draw, deadlineSeconds, answerSeconds),
    logIn: (server, draw, deadlineSeconds) => logIn(server, draw, deadlineSeconds, answerSeconds),
    verify: (server, draw, when) => verify(server, draw, when, answerSeconds),
    load: () => load,
    companions,
    async collect(server, prepared, { id }) {
      const pid = server.pid();
      if (!isNode(prepared) || pid === undefined) return undefined;
      return collectGarbage(pid, answerFile(folder, id, 'collected'));
    },
    findWatcher(server, prepared) {
      const pid = server.isRemote === true ? undefined : server.pid();
      const isOfUser = prepared === undefined || prepared.stack.project !== undefined;
      return pid === undefined || !isOfUser ? undefined : findWatcher(pid, prepared === undefined);
    },
    askAlone: (server, requests) => askAlone(server, requests, answerSeconds),
    readCode: (server, code, { id }, draw) =>
      readRunningCode(server, code, answerFile(folder, id, 'imports'), () =>
        sendRequest(server, wakingRequest(draw)),
      ),
    async seeServer(server, { prepared, target }, { id }, draw) {
      const pid = server.isRemote === true ? undefined : server.pid();
      const interpreter = pid === undefined ? undefined : await readInterpreterOf(pid, target.runtime?.kind);
      const wake = (): Promise<unknown> => sendRequest(server, wakingRequest(draw));
      const seen =
        prepared?.stack.project === undefined
          ? { attested: [] }
          : await seeServer(server, prepared, answerFile(folder, id, 'runtime'), wake);
      return { ...seen, ...present({ interpreter }) };
    },
    async resources(server, beside) {
      const { cgroup, isRemote } = server;
      const sampler = await openSampler({ serverPid: server.pid(), isRemote, cgroup });
      const others = beside.map(async (one) => ({
        name: one.name,
        pid: one.pid,
        sampler: await openSampler({ serverPid: one.pid, cgroup: one.cgroup }),
      }));
      return sampleTogether(sampler, await Promise.all(others));
    },
    meter: ({ pid, cgroup }) => openCpuMeter(pid, cgroup),
    seeRuntime(server) {
      const pid = pidHere(server);
      if (pid === undefined || process.platform !== 'linux') return undefined;
      const family = familyOf([pid]);
      const runtime = runtimeOfServer(family, server.port);
      return {
        runtime,
        compilers: openCompilerMeter(pid, runtime),
        cores: readAllowedCores(pid)?.length,
        isSerial: runtime === 'jvm' && collectsSerially(family),
      };
    },
    async widen(server, pinned) {
      const pid = pidHere(server);
      return pid === undefined ? undefined : widenServer(pid, pinned);
    },
    async startBurner(server, pinned) {
      const { cgroup } = server;
      const isInIt = cgroup?.pids().includes(server.pid() ?? 0) === true;
      return isInIt ? startBurner(cgroup, pinned.server) : undefined;
    },
    now: () => Date.now(),
    clock: CLOCK,
    readCores(server) {
      const pid = pidHere(server);
      return pid === undefined ? undefined : readAllowedCores(pid);
    },
    interrupted: () => stopped.aborted,
    refuseFull() {
      if (full !== undefined) throw full;
    },
  };
  return {
    effects,
    stop() {
      interruption.abort();
      for (const companion of companions) companion.interrupt?.();
      for (const server of live.values()) void server.stop();
    },
  };
}
