/** The agent of a host that sends load: it starts generators there. */
import { join, relative } from 'node:path';
import type { Cluster as ClusterSpec } from 'bench-model/cluster';
import { HOME } from 'bench-machine/home';
import { GENERATOR } from 'bench-load/engines';
import type { Line, LineEvents } from 'bench-load/line';
import type { Report } from 'bench-load/protocol';
import type { Gateway, HostFacts } from './gateway.ts';
import { checkoutOf, type Inspected } from './inspect.ts';
import type { RemoteProcesses } from './process.ts';
import type { Agent } from './session.ts';

/** The surroundings of an agent that sends. */
interface AgentMeans {
  spec: ClusterSpec;
  /** The command that pins generators on this machine. */
  localPrefix: string[];
}

/** An agent on another host, reached through the gateway. */
export class RemoteAgent implements Agent {
  readonly name: string;
  readonly host: Agent['host'];
  readonly pid: number | undefined;
  readonly #gateway: Gateway;
  readonly #agent: number;
  readonly #facts: HostFacts;
  readonly #means: AgentMeans;
  readonly #processes: RemoteProcesses;

  constructor(
    gateway: Gateway,
    { agent, name, facts, isHere }: Inspected,
    processes: RemoteProcesses,
    means: AgentMeans,
  ) {
    this.#gateway = gateway;
    this.#agent = agent;
    this.#facts = facts;
    this.#means = means;
    this.name = name;
    const { cpuModel, cores, release } = facts;
    this.host = { cores, release, ...(cpuModel === undefined ? {} : { cpuModel }) };
    this.pid = isHere ? facts.pid : undefined;
    this.#processes = processes;
  }

  readClock(trips: number): ReturnType<Agent['readClock']> {
    return this.#gateway.ask('clock', { agent: this.#agent, trips });
  }

  readUse(): ReturnType<Agent['readUse']> {
    return this.#gateway.ask('use', { agent: this.#agent });
  }

  open({ report, broke }: LineEvents): Line {
    const started = this.#processes.start<Report>(
      (process) => this.#command(process),
      checkoutOf(this.#means.spec),
      { take: report, broke },
    );
    return { ...started, pid: undefined };
  }

  /** The command of a generator, pinned to a separate core if its host has one to spare. */
  #command(process: number): string[] {
    const { spec, localPrefix } = this.#means;
    const program = join(checkoutOf(spec), relative(HOME.root, GENERATOR));
    const node = this.#facts.node.path ?? 'node';
    if (this.pid !== undefined) return [...localPrefix, node, program];
    const { cores, taskset } = this.#facts;
    const isSpare = taskset !== undefined && cores > spec.processes;
    const core = 1 + ((process - 1) % spec.processes);
    return [...(isSpare ? [taskset, '-c', String(core)] : []), node, program];
  }
}
