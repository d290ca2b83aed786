import type { Connect, LoadResult } from 'bench-model/load';
import type { Counts } from 'bench-model/figures';
import { killAndWait, start } from 'bench-machine/subprocess';
import { inTime } from './deadline.ts';
import type { LoadEngine, LoadSession, ShortTurns, Window } from './engine.ts';
import { countEdges, Generator, type Line } from './line.ts';
import { listenTo, type Listener } from './listen.ts';
import { readBacklog } from 'bench-machine/backlog';
import { mergeConnects, mergeCounts, mergeReports, mergeTurns } from './merge.ts';
import { armOrders, fireOrders } from './orders.ts';
import type { LoadSpec, OrderOf, Orders, Report, RequestSpec, Turn, TurnResult } from './protocol.ts';

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
    const connects = await this.#ask(orders, this.#spec.barrierSeconds);
    this.#connect = mergeConnects(connects);
  }

  async fire(window: Window, mark: (edge: 'opened' | 'closed') => void): Promise<LoadResult> {
    if (this.#connect === undefined) throw new Error('fire before arm');
    const processes = this.#generators.length;
    const edges = countEdges(processes, mark);
    const atMs = Date.now() + LEAD_MS * (processes - 1);
    const orders = fireOrders(window, processes, { session: this.#session, atMs });
    for (const generator of this.#generators) generator.mark = edges.mark;
    const seconds = window.warmupSeconds + window.windowSeconds;
    const reports = await this.#ask(orders, seconds);
    return mergeReports(reports, this.#connect, this.#spec.timeoutSeconds, this.#fleet.name);
  }

  async #take(turn: Turn): Promise<TurnResult> {
    const atMs = Date.now() + (this.#generators.length > 1 ? TURN_LEAD_MS : 0);
    const turns = await this.#askAll('turn', { atMs, ...turn }, turn.rampSeconds + turn.windowSeconds);
    return mergeTurns(turns);
  }

  async #collect(): Promise<LoadResult> {
    if (this.#connect === undefined) throw new Error('collect before arm');
    const reports = await this.#askAll('collect', {});
    return mergeReports(reports, this.#connect, this.#spec.timeoutSeconds, this.#fleet.name);
  }

  async #replace(requests: readonly RequestSpec[]): Promise<void> {
    await this.#askAll('replace', { requests });
  }

  async #leave(): Promise<void> {
    if (this.#backlog === undefined) return;
    await this.#backlog;
    await this.#askAll('leave', {});
  }

  async count(): Promise<Counts> {
    // Generators cannot answer for an unknown session.
    if (this.#backlog === undefined) throw new Error('count before arm');
    await this.#backlog;
    return mergeCounts(await this.#askAll('count', {}));
  }

  /** Gives all processes the same order, which takes about this long, and returns their results. */
  #askAll<Name extends keyof Orders>(
    name: Name,
    says: Orders[Name]['says'],
    seconds = 0,
  ): Promise<Orders[Name]['result'][]> {
    const order = { do: name, session: this.#session, ...says };
    return this.#ask(
      this.#generators.map(() => order),
      seconds,
    );
  }

  /** Gives each process its order, which takes about this long, and returns their results. Throws if one fails or hangs. */
  #ask<Name extends keyof Orders>(
    orders: readonly OrderOf<Name>[],
    seconds: number,
  ): Promise<Orders[Name]['result'][]> {
    const results = this.#generators.map((generator, index) => generator.ask(orders[index] as OrderOf<Name>));
    return inTime(Promise.all(results), seconds + LATE_SECONDS, 'the load generator');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#generators.map((generator) => generator.end()));
  }
}
