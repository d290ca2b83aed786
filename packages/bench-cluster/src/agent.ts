/** The agent of a host that sends load: it starts generators there. */
import { join, relative } from 'node:path';
import type { Cluster as ClusterSpec } from 'bench-model/cluster';
import { HOME } from 'bench-machine/home';
import { GENERATOR } from 'bench-load/engines';
import { present } from 'bench-model/options';
import type { Gateway } from './gateway.ts';
import { checkoutOf, type Inspected } from './inspect.ts';
import type { RemoteProcesses } from './process.ts';
import type { Agent } from './session.ts';

/** Returns the agent of a host, reached through the gateway. `localPrefix` is the command that pins generators on this machine. */
export function createAgent(
  gateway: Gateway,
  { agent, name, facts, isHere }: Inspected,
  processes: RemoteProcesses,
  { spec, localPrefix }: { spec: ClusterSpec; localPrefix: string[] },
): Agent {
  const { cpuModel, cores, release, taskset } = facts;
  const checkout = checkoutOf(spec);
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
    readClock: (trips) => gateway.ask('clock', { agent, trips }),
    open: (events) => ({
      ...processes.start((process) => [...prefixOf(process), ...generator], checkout, events),
      pid: undefined,
    }),
  };
}
