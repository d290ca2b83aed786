import type { Connect, LoadResult } from 'bench-model/load';
import type { Counts } from 'bench-model/figures';
import { killAndWait, start } from 'bench-machine/subprocess';
import { inTime } from './deadline.ts';
import type { LoadEngine, LoadSession, ShortTurns, Window } from './engine.ts';
import { Generator, type Line } from './line.ts';
import { listenTo, type Listener } from './listen.ts';
import { readBacklog } from 'bench-machine/backlog';
import { mergeConnects, mergeCounts, mergeReports, mergeTurns } from './merge.ts';
import { armOrders, fireOrders } from './orders.ts';
import {
  type ArmedReport,
  type CountedReport,
  type DoneReport,
  type FireOrder,
  type LoadSpec,
  type Order,
  type FinalReport,
  type LeftReport,
  type ReplacedReport,
  type Report,
  type RequestSpec,
  type Turn,
  type TurnedReport,
  type TurnOrder,
  type TurnResult,
} from './protocol.ts';

/** The delay between the order to fire and the warm-up, for each process that must receive it before the first begins. */
const LEAD_MS = 10;

/** The time for which a generator process may be late, as on a machine that pauses, before it counts as hung. */
const LATE_SECONDS = 60;

/** The same for a short turn, before which every process is idle. */
const TURN_LEAD_MS = 2;

/** An engine whose generator processes are started by this command and speak the protocol of `protocol.ts`. */
interface FleetSpec {
  name: string;
  version?: string | undefined;
  /** Prefixed by the command that pins them to their cores. */
  argv: string[];
  env?: Record<string, string>;
  /** True if its processes take short turns. */
  takesTurns?: boolean;
}

/** Creates the engine of this name, with generator processes. */
export function createFleetEngine(fleet: FleetSpec): LoadEngine {
  return {
    name: fleet.name,
    version: fleet.version,
    open(spec, processes) {
      const length = Math.min(processes, spec.connections);
      const generators = Array.from({ length }, () => new Generator((events) => startLine(fleet, events)));
      return new Fleet(fleet, spec, { generators, sessions: 0 });
    },
  };
}

/** Starts a generator process of this machine. */
function startLine({ argv, env }: FleetSpec, events: Listener<Report>): Line {
  const child = start({ stdio: 'pipe', env: { ...process.env, ...env } })`exec ${argv}`;
  listenTo(child, events);
  return {
    pid: child.pid,
    send: (order) => child.stdin?.write(`${JSON.stringify(order)}\n`),
    async end() {
      child.removeAllListeners('exit');
      await killAndWait(child);
    },
  };
}

/** Generator processes, and the sessions that they have had so far. */
interface Crew {
  generators: readonly Generator[];
  sessions: number;
}

/** The connections of generator processes to one server, which they share exactly. */
class Fleet implements LoadSession {
  readonly turns?: ShortTurns;
  readonly replace?: (requests: readonly RequestSpec[]) => Promise<void>;
  readonly beside?: (spec: LoadSpec) => LoadSession;
  readonly leave?: () => Promise<void>;
  readonly #fleet: FleetSpec;
  readonly #crew: Crew;
  readonly #spec: LoadSpec;
  readonly #session: number;
  #connect: Connect | undefined;
  /** The backlog of the server; undefined before `arm`, which sends its orders as soon as this is known. */
  #backlog: Promise<number | undefined> | undefined;

  constructor(fleet: FleetSpec, spec: LoadSpec, crew: Crew) {
    this.#fleet = fleet;
    this.#spec = spec;
    this.#crew = crew;
    this.#session = crew.sessions++;
    if (!fleet.takesTurns) return;
    this.turns = { take: (turn) => this.#take(turn), collect: () => this.#collect() };
    this.replace = (requests) => this.#replace(requests);
    this.beside = (other) => new Fleet(fleet, other, crew);
    this.leave = () => this.#leave();
  }

  get #generators(): readonly Generator[] {
    return this.#crew.generators;
  }

  get pids(): number[] {
    return this.#generators.flatMap(({ pid }) => pid ?? []);
  }

  async arm(): Promise<void> {
    const { host, port } = this.#spec;
    this.#backlog = readBacklog(host, port);
    const capacity = await this.#backlog;
    const orders = armOrders(this.#spec, this.#generators.length, { session: this.#session, capacity });
    const reports = await this.#ask<ArmedReport>(
      'armed',
      this.#spec.barrierSeconds,
      (index) => orders[index] as Order,
    );
    this.#connect = mergeConnects(reports.map((report) => report.connect));
  }

  async fire(window: Window, mark: (edge: 'opened' | 'closed') => void): Promise<LoadResult> {
    if (this.#connect === undefined) throw new Error('fire before arm');
    const seen = { opened: 0, closed: 0 };
    const processes = this.#generators.length;
    const atMs = Date.now() + LEAD_MS * (processes - 1);
    const orders = fireOrders(window, processes, { session: this.#session, atMs });
    for (const generator of this.#generators) {
      generator.mark = (edge) => {
        seen[edge]++;
        // The sampled span runs from the first window that opens to the last that closes.
        if (edge === 'opened' ? seen.opened === 1 : seen.closed === processes) mark(edge);
      };
    }
    const seconds = window.warmupSeconds + window.windowSeconds;
    const reports = await this.#ask<DoneReport>('done', seconds, (index) => orders[index] as FireOrder);
    return mergeReports(reports, this.#connect, this.#spec.timeoutSeconds, this.#fleet.name);
  }

  async #take(turn: Turn): Promise<TurnResult> {
    const atMs = Date.now() + (this.#generators.length > 1 ? TURN_LEAD_MS : 0);
    const order: TurnOrder = { do: 'turn', session: this.#session, atMs, ...turn };
    return mergeTurns(
      await this.#ask<TurnedReport>('turned', turn.rampSeconds + turn.windowSeconds, () => order),
    );
  }

  async #collect(): Promise<LoadResult> {
    if (this.#connect === undefined) throw new Error('collect before arm');
    const order: Order = { do: 'collect', session: this.#session };
    const reports = await this.#ask<DoneReport>('done', 0, () => order);
    return mergeReports(reports, this.#connect, this.#spec.timeoutSeconds, this.#fleet.name);
  }

  async #replace(requests: readonly RequestSpec[]): Promise<void> {
    const order: Order = { do: 'replace', session: this.#session, requests: [...requests] };
    await this.#ask<ReplacedReport>('replaced', 0, () => order);
  }

  async #leave(): Promise<void> {
    if (this.#backlog === undefined) return;
    await this.#backlog;
    const order: Order = { do: 'leave', session: this.#session };
    await this.#ask<LeftReport>('left', 0, () => order);
  }

  async count(): Promise<Counts> {
    // Generators cannot answer for an unknown session.
    if (this.#backlog === undefined) throw new Error('count before arm');
    await this.#backlog;
    const order: Order = { do: 'count', session: this.#session };
    const reports = await this.#ask<CountedReport>('counted', 0, () => order);
    return mergeCounts(reports.map(({ lifetime }) => lifetime));
  }

  /** Gives each process its order, which takes about this long, and returns their reports. Throws if one fails or hangs. */
  #ask<R extends FinalReport>(
    event: R['event'],
    seconds: number,
    orderFor: (index: number) => Order,
  ): Promise<R[]> {
    const reports = this.#generators.map((generator, index) => generator.ask<R>(orderFor(index), event));
    return inTime(Promise.all(reports), seconds + LATE_SECONDS, 'the load generator');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#generators.map((generator) => generator.end()));
  }
}
