/** The agent of a host that sends load: it starts generators there. */
import { join, relative } from 'node:path';
import type { Cluster as ClusterSpec } from 'bench-model/cluster';
import { HOME } from 'bench-machine/home';
import { GENERATOR } from 'bench-load/engines';
import { present } from 'bench-model/options';
import type { Gateway } from './gateway.ts';
import type { CheckedHost } from './inspect.ts';
import { RemoteProcesses } from './process.ts';
import type { Agent } from './session.ts';

/** An agent that is reached through the gateway. */
export interface RemoteAgent extends Agent {
  /** True once its host is gone. */
  isLost(): boolean;
}

/** Returns the agent of a host, reached through the gateway. `localPrefix` is the command that pins generators on this machine. */
export function createAgent(
  gateway: Gateway,
  { agent, name, facts, isHere }: CheckedHost,
  { spec, localPrefix }: { spec: ClusterSpec; localPrefix: string[] },
): RemoteAgent {
  const { cpuModel, cores, release, taskset } = facts;
  const processes = new RemoteProcesses(gateway, agent);
  const checkout = spec.checkout ?? HOME.root;
  const generator = [facts.node.path ?? 'node', join(checkout, relative(HOME.root, GENERATOR))];
  /** Pins a generator to a separate core if its host has one to spare. */
  const prefixOf = (process: number): string[] => {
    if (isHere) return localPrefix;
    if (taskset === undefined || cores <= spec.processes) return [];
    return [taskset, '-c', String(1 + ((process - 1) % spec.processes))];
  };
  return {
    name,
    host: { cores, release, ...present({ cpuModel }) },
    pid: isHere ? facts.pid : undefined,
    isLost: () => processes.lost !== undefined,
    readClock: (trips) => gateway.ask('clock', { agent, trips }),
    open: (events) => processes.start((process) => [...prefixOf(process), ...generator], checkout, events),
  };
}
