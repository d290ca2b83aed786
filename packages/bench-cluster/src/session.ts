/** The load of several hosts on one server: place, arm, compare clocks, fire at T, merge. */
import type { Cluster as ClusterSpec } from 'bench-model/cluster';
import { TrialError } from 'bench-model/errors';
import { readBacklog } from 'bench-machine/backlog';
import type { Counts } from 'bench-model/figures';
import type { Connect, HostUse, LoadResult } from 'bench-model/load';
import type { LoadSession, Window } from 'bench-load/engine';
import { countEdges, Generator, type Line } from 'bench-load/line';
import type { Listener } from 'bench-load/listen';
import { mergeConnects, mergeCounts } from 'bench-load/merge';
import { armOrders, fireOrders } from 'bench-load/orders';
import type { LoadReport, LoadSpec, OrderOf, Report } from 'bench-load/protocol';
import { estimateOffset, joinOffsets, type Offset, type RoundTrip } from './clock.ts';
import { inTime } from 'bench-load/deadline';
import { mergeHosts, type HostReport } from './merge.ts';

/** The round trips to an agent of which the shortest gives the offset of its clock. */
const TRIPS = 16;

/** The longest that a generator waits for open answers and late ones after its window. */
const DRAIN_SECONDS = 6;

/** An agent on a host that generates load. */
export interface Agent {
  /** The name of its host, unique in the cluster. */
  readonly name: string;
  /** Its hardware and kernel. */
  readonly host: Pick<HostUse, 'cores' | 'cpuModel' | 'release'>;
  readClock(trips: number): Promise<RoundTrip[]>;
  /** Starts a generator process. */
  open(events: Listener<Report>): Line;
  /** Its process, if that runs on this machine. */
  readonly pid: number | undefined;
}

/** The conditions of a load by several hosts. */
export interface ClusterTerms extends Pick<
  ClusterSpec,
  'processes' | 'leadMs' | 'skewMs' | 'deadlineSeconds' | 'addresses'
> {
  /** Returns the agents of a trial. Throws a trial error if too few hosts are left, or one does not fit. */
  place: () => Promise<Agent[]>;
  /** Reads the accept queue of the server. */
  backlog?: typeof readBacklog;
}

/** A generator process and its agent. */
interface Member {
  agent: Agent;
  generator: Generator;
  connections: number;
}

/** The generator processes of one trial on all hosts. They share its connections exactly. */
export class ClusterSession implements LoadSession {
  readonly #terms: ClusterTerms;
  readonly #spec: LoadSpec;
  #members: Member[] = [];
  #connect: Connect | undefined;

  constructor(terms: ClusterTerms, spec: LoadSpec) {
    this.#terms = terms;
    this.#spec = spec;
  }

  get pids(): number[] {
    return [...new Set(this.#members.flatMap(({ agent }) => agent.pid ?? []))];
  }

  async arm(): Promise<void> {
    const { place, processes, deadlineSeconds, addresses = {}, backlog = readBacklog } = this.#terms;
    const { host, port, barrierSeconds } = this.#spec;
    const agents = await place();
    const capacity = await backlog(host, port);
    const orders = armOrders(this.#spec, agents.length * processes, { session: 0, capacity });
    this.#members = orders.map(({ connections }, index) => {
      const agent = agents[index % agents.length] as Agent;
      const generator = new Generator((events) => agent.open(events), `the generator on ${agent.name}`);
      return { agent, generator, connections };
    });
    const connects = this.#members.map(({ agent, generator }, index) => {
      const sources = addresses[agent.name];
      const order = { ...(orders[index] as OrderOf<'arm'>), ...(sources === undefined ? {} : { sources }) };
      return inTime(generator.ask(order), barrierSeconds + deadlineSeconds, agent.name);
    });
    this.#connect = mergeConnects(await Promise.all(connects));
  }

  async fire(window: Window, mark: (edge: 'opened' | 'closed') => void): Promise<LoadResult> {
    if (this.#connect === undefined) throw new Error('fire before arm');
    const { leadMs, skewMs, deadlineSeconds } = this.#terms;
    const members = this.#members;
    const agents = [...new Set(members.map(({ agent }) => agent))];
    const before = new Map<Agent, Offset>();
    // One after the other: calls at the same time would lengthen the round trips of each other.
    for (const agent of agents) before.set(agent, await this.#readClock(agent).catch(blame(agent)));
    const atMs = Date.now() + leadMs;
    const orders = fireOrders(window, members.length, { session: 0, atMs });
    const edges = countEdges(members.length, mark);
    const seconds = leadMs / 1000 + window.warmupSeconds + window.windowSeconds;
    const outcomes = await Promise.allSettled(
      members.map(async ({ agent, generator }, index) => {
        const order = orders[index] as OrderOf<'fire'>;
        const own = order.atMs + (before.get(agent)?.offsetMs ?? 0);
        generator.mark = edges.mark;
        try {
          const done = generator.ask({ ...order, atMs: own }, own);
          return await inTime(done, seconds + DRAIN_SECONDS + deadlineSeconds, agent.name);
        } finally {
          edges.leave();
        }
      }),
    );
    const hosts = new Map<Agent, HostUse | Error>();
    for (const agent of agents) {
      const now = this.#readClock(agent).then((after): HostUse => {
        const { offsetMs, errorMs } = joinOffsets(before.get(agent) as Offset, after);
        return { name: agent.name, ...agent.host, offsetMs, clockErrorMs: errorMs };
      });
      hosts.set(agent, await now.catch((error: Error) => error));
    }
    const parts: HostReport[] = [];
    const missing: { host: string; why: string }[] = [];
    for (const [index, { agent, connections }] of members.entries()) {
      const outcome = outcomes[index] as PromiseSettledResult<LoadReport>;
      const host = outcome.status === 'rejected' ? (outcome.reason as Error) : hosts.get(agent);
      if (outcome.status === 'fulfilled' && host !== undefined && !(host instanceof Error))
        parts.push({ host, connections, report: outcome.value });
      else missing.push({ host: agent.name, why: (host as Error).message });
    }
    if (parts.length === 0)
      throw new TrialError(missing.map(({ host, why }) => `${host}: ${why}`).join('; '));
    const { timeoutSeconds } = this.#spec;
    return mergeHosts(parts, {
      connect: this.#connect,
      timeoutSeconds,
      opensAtMs: atMs + window.warmupSeconds * 1000,
      planned: members.length,
      missing,
      allowedSkewMs: skewMs,
    });
  }

  async count(): Promise<Counts> {
    const { deadlineSeconds } = this.#terms;
    const counts = this.#members.map(({ agent, generator }) =>
      inTime(generator.ask({ do: 'count', session: 0 }), deadlineSeconds, agent.name),
    );
    return mergeCounts(await Promise.all(counts));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#members.map(({ generator }) => generator.end()));
  }

  async #readClock(agent: Agent): Promise<Offset> {
    const trips = agent.readClock(TRIPS);
    return estimateOffset(await inTime(trips, this.#terms.deadlineSeconds, agent.name));
  }
}

/** Names the host in the error of its agent. */
function blame({ name }: Agent): (error: Error) => never {
  return (error) => {
    throw new TrialError(`${name}: ${error.message}`);
  };
}
