/** The Python process that speaks to Ray: orders with a response each, and events of agents. */
import { once } from 'node:events';
import { commandLine } from 'bench-machine/home';
import { BenchError, TrialError, UsageError } from 'bench-model/errors';
import { hasEnded, start, type Child } from 'bench-machine/subprocess';
import { listenTo } from 'bench-load/listen';
import type { RoundTrip } from './clock.ts';
import { inTime } from 'bench-load/deadline';
import type { Program } from './program.ts';

/** The longest wait for Ray to let the gateway in. */
const JOIN_SECONDS = 60;
/** The longest time that a gateway may take to leave. */
const LEAVE_MS = 10_000;

export interface RayNode {
  node: string;
  address: string;
  hostname: string;
  resources: string[];
  alive: boolean;
}

/** The facts that a host reports about itself; a fact that it does not report is absent. */
export interface HostFacts {
  pid: number;
  /** The same for processes that see each other's ids. */
  machine?: string;
  release: string;
  cores: number;
  cpuModel?: string;
  openFiles?: number;
  /** The ports of outgoing connections. */
  ports?: number;
  load: number;
  /** Of its processes: 0 for those that a user starts, more for those that give way. */
  niceness: number;
  /** The path of the program that pins processes to cores. */
  taskset?: string;
  /** The digest of its checkout; absent without a checkout. */
  digest?: string;
  /** The Node that it would use; empty if none answers. */
  node: { path?: string; version?: string };
}

/** An event of a process of an agent, or the loss of the agent. A `status` below 0 is that of a signal. */
export type AgentEvent =
  | { event: 'line'; process: number; line: string }
  | { event: 'ended'; process: number; status: number; stderr: string }
  | { event: 'late'; process: number; byMs: number }
  | { event: 'lost'; why: string };

/** The orders and the results of their responses. */
interface Answers {
  nodes: RayNode[];
  /** The agents that were placed, with their nodes. */
  place: { agent: number; node: string }[];
  describe: HostFacts;
  clock: RoundTrip[];
  start: null;
  tell: null;
  end: null;
  release: null;
}

type Message =
  | { event: 'joined'; ray: string }
  | { event: 'refused'; why: string }
  | { id: number; result?: unknown; error?: string }
  | ({ agent: number } & AgentEvent);

/** A gateway that has joined a cluster. Disposing leaves it and ends all agents. */
export class Gateway implements AsyncDisposable {
  readonly #child: Child;
  readonly #joined = Promise.withResolvers<string>();
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #watchers = new Map<number, (event: AgentEvent) => void>();
  #last = 0;
  #broken: BenchError | undefined;

  private constructor({ argv, env }: Program, address: string) {
    this.#child = start({
      stdio: 'pipe',
      env: { ...process.env, ...env },
    })`exec ${[...argv, 'gateway', address]}`;
    listenTo<Message>(this.#child, {
      take: (message) => this.#take(message),
      broke: (why) => this.#break(why),
    });
  }

  /** Joins the cluster at this address. Throws a usage error if that is not possible. */
  static async join(program: Program, address: string): Promise<Gateway> {
    const gateway = new Gateway(program, address);
    try {
      await inTime(gateway.#joined.promise, JOIN_SECONDS, 'it');
      return gateway;
    } catch (error) {
      await gateway[Symbol.asyncDispose]();
      throw new UsageError(
        `the Ray cluster at ${address} cannot be joined: ${(error as Error).message}`,
        `start it with ${commandLine('cluster up')} on this host, and copy its token to all hosts`,
      );
    }
  }

  /** Sends an order and returns the result of its response. Throws a trial error if it cannot be carried out. */
  ask<Name extends keyof Answers>(name: Name, fields: object = {}): Promise<Answers[Name]> {
    if (this.#broken) return Promise.reject(this.#broken);
    const id = ++this.#last;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(id, waiting);
    this.#child.stdin?.write(`${JSON.stringify({ id, do: name, ...fields })}\n`);
    return waiting.promise as Promise<Answers[Name]>;
  }

  /** Passes on the events of an agent. */
  watch(agent: number, take: (event: AgentEvent) => void): void {
    this.#watchers.set(agent, take);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (hasEnded(this.#child)) return;
    const gone = once(this.#child, 'exit');
    this.#child.stdin?.end();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), LEAVE_MS);
    await gone;
    clearTimeout(timer);
  }

  #take(message: Message): void {
    if ('id' in message) {
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (message.error === undefined) waiting?.resolve(message.result);
      else waiting?.reject(new TrialError(message.error));
    } else if ('agent' in message) this.#watchers.get(message.agent)?.(message);
    else if (message.event === 'joined') this.#joined.resolve(message.ray);
    else this.#joined.reject(new Error(message.why));
  }

  #break(why: string): void {
    this.#broken ??= new TrialError(`the gateway of the cluster failed: ${why.trim()}`);
    this.#joined.reject(this.#broken);
    for (const { reject } of this.#waiting.values()) reject(this.#broken);
    this.#waiting.clear();
    for (const take of this.#watchers.values()) take({ event: 'lost', why: this.#broken.message });
  }
}
