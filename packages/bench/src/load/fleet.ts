import { BenchError } from '../errors.ts';
import type { Connect, LoadResult } from '../results/record.ts';
import type { Counts } from '../model.ts';
import { start, type Child } from '../machine/subprocess.ts';
import type { LoadEngine, LoadSession, ShortTurns, Turn, TurnResult, Window } from './engine.ts';
import { nextSender } from '../catalogue/workloads/ids.ts';
import { readBacklog } from '../machine/backlog.ts';
import { sum } from '../numbers.ts';
import { mergeConnects, mergeCounts, mergeReports, mergeTurns, splitShares } from './merge.ts';
import {
  readLines,
  type ArmedReport,
  type CountedReport,
  type DoneReport,
  type LoadSpec,
  type Order,
  type Report,
  type TurnedReport,
  type TurnOrder,
} from './protocol.ts';

/** The delay between the order to fire and the warm-up, for each process that must receive it before the first begins. */
const LEAD_MS = 10;

/** The same for a short turn, before which every process is idle. */
const TURN_LEAD_MS = 2;

/** An engine whose generator processes are started by this command and speak the protocol of `protocol.ts`. */
export interface FleetSpec {
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
      const generators = Array.from({ length }, () => new Generator(fleet));
      return new Fleet(fleet, spec, generators, 0);
    },
  };
}

class Generator {
  readonly #child: Child;
  readonly #waiting = new Map<Report['event'], PromiseWithResolvers<Report>>();
  #broken: BenchError | undefined;
  #stderr = '';
  mark: (edge: 'opened' | 'closed') => void = () => {};

  constructor({ argv, env }: FleetSpec) {
    this.#child = start({ stdio: 'pipe', env: { ...process.env, ...env } })`exec ${argv}`;
    this.#child.on('error', (error) => this.#break(error.message));
    this.#child.on('exit', (status, signal) =>
      this.#break(`it ended (${signal ?? status}). ${this.#stderr}`),
    );
    this.#child.stdin?.on('error', () => {});
    this.#child.stderr?.on('data', (text: Buffer) => {
      this.#stderr = (this.#stderr + text.toString()).slice(-2000);
    });
    if (this.#child.stdout) readLines<Report>(this.#child.stdout, (report) => this.#take(report));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Sends an order and returns its final report. Throws if the process fails first. */
  ask<R extends ArmedReport | TurnedReport | DoneReport | CountedReport>(
    order: Order,
    event: R['event'],
  ): Promise<R> {
    if (this.#broken) throw this.#broken;
    const waiting = Promise.withResolvers<Report>();
    this.#waiting.set(event, waiting);
    this.#child.stdin?.write(`${JSON.stringify(order)}\n`);
    return waiting.promise as Promise<R>;
  }

  async end(): Promise<void> {
    this.#child.removeAllListeners('exit');
    if (this.#child.exitCode !== null || this.#child.signalCode !== null || this.#child.pid === undefined)
      return;
    const gone = new Promise((resolve) => {
      this.#child.once('exit', resolve);
    });
    this.#child.kill('SIGKILL');
    await gone;
  }

  #take(report: Report): void {
    if (report.event === 'broken') this.#break(report.message);
    else if (report.event === 'opened' || report.event === 'closed') this.mark(report.event);
    else this.#waiting.get(report.event)?.resolve(report);
  }

  #break(why: string): void {
    this.#broken = new BenchError('trial', `the load generator failed: ${why.trim()}`);
    for (const { reject } of this.#waiting.values()) reject(this.#broken);
  }
}

/** The generator processes of one trial. They share its connections exactly. */
class Fleet implements LoadSession {
  readonly turns?: ShortTurns;
  readonly #fleet: FleetSpec;
  readonly #generators: Generator[];
  readonly #spec: LoadSpec;
  readonly #session: number;
  #connect: Connect | undefined;
  /** The backlog of the server; undefined before `arm`, which sends its orders as soon as this is known. */
  #backlog: Promise<number | undefined> | undefined;

  constructor(fleet: FleetSpec, spec: LoadSpec, generators: Generator[], session: number) {
    this.#fleet = fleet;
    this.#spec = spec;
    this.#generators = generators;
    this.#session = session;
    if (fleet.takesTurns) this.turns = { take: (turn) => this.#take(turn), collect: () => this.#collect() };
  }

  beside(spec: LoadSpec): LoadSession {
    return new Fleet(this.#fleet, spec, this.#generators, this.#session + 1);
  }

  get pids(): number[] {
    return this.#generators.flatMap(({ pid }) => pid ?? []);
  }

  async arm(): Promise<void> {
    const { connections, connectsPerSecond, ...rest } = this.#spec;
    const processes = this.#generators.length;
    const shares = splitShares(connections, processes);
    this.#backlog = readBacklog(rest.host, rest.port);
    const capacity = await this.#backlog;
    const reports = await Promise.all(
      this.#generators.map((generator, index) =>
        generator.ask<ArmedReport>(
          {
            do: 'arm',
            session: this.#session,
            sender: nextSender(),
            skippedCycles: index,
            ...rest,
            connections: shares[index] ?? 0,
            connectsPerSecond: connectsPerSecond && connectsPerSecond / processes,
            acceptQueue: { capacity, processes },
          },
          'armed',
        ),
      ),
    );
    this.#connect = mergeConnects(reports.map((report) => report.connect));
  }

  async fire(window: Window, mark: (edge: 'opened' | 'closed') => void): Promise<LoadResult> {
    if (this.#connect === undefined) throw new Error('fire before arm');
    const seen = { opened: 0, closed: 0 };
    const { load } = window;
    const amounts = load.mode === 'amount' ? splitShares(load.requests, this.#generators.length) : [];
    const atMs = Date.now() + LEAD_MS * (this.#generators.length - 1);
    const reports = await Promise.all(
      this.#generators.map((generator, index) => {
        generator.mark = (edge) => {
          seen[edge]++;
          // The sampled span runs from the first window that opens to the last that closes.
          if (edge === 'opened' ? seen.opened === 1 : seen.closed === this.#generators.length) mark(edge);
        };
        return generator.ask<DoneReport>(
          {
            do: 'fire',
            session: this.#session,
            atMs,
            warmupSeconds: window.warmupSeconds,
            windowSeconds: window.windowSeconds,
            amount: amounts[index],
            amountBefore: sum(amounts.slice(0, index)),
            rate: load.mode === 'open' ? load.perSecond / this.#generators.length : undefined,
          },
          'done',
        );
      }),
    );
    return mergeReports(reports, this.#connect, this.#spec.timeoutSeconds, this.#fleet.name);
  }

  async #take({ rampSeconds, windowSeconds, load }: Turn): Promise<TurnResult> {
    const processes = this.#generators.length;
    const order: TurnOrder = {
      do: 'turn',
      session: this.#session,
      atMs: Date.now() + (processes > 1 ? TURN_LEAD_MS : 0),
      rampSeconds,
      windowSeconds,
      rate: load.mode === 'open' ? load.perSecond / processes : undefined,
    };
    const reports = this.#generators.map((generator) => generator.ask<TurnedReport>(order, 'turned'));
    return mergeTurns(await Promise.all(reports));
  }

  async #collect(): Promise<LoadResult> {
    if (this.#connect === undefined) throw new Error('collect before arm');
    const order: Order = { do: 'collect', session: this.#session };
    const reports = this.#generators.map((generator) => generator.ask<DoneReport>(order, 'done'));
    const { timeoutSeconds } = this.#spec;
    return mergeReports(await Promise.all(reports), this.#connect, timeoutSeconds, this.#fleet.name);
  }

  async count(): Promise<Counts> {
    // Generators cannot answer for an unknown session.
    if (this.#backlog === undefined) throw new Error('count before arm');
    await this.#backlog;
    const session = this.#session;
    const asked = this.#generators.map((generator) =>
      generator.ask<CountedReport>({ do: 'count', session }, 'counted'),
    );
    return mergeCounts((await Promise.all(asked)).map(({ lifetime }) => lifetime));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#generators.map((generator) => generator.end()));
  }
}
