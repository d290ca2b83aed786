/** The program of the checkout on another host, which the agent there starts. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BenchError } from 'bench-model/errors';
import type { Gateway, HostFacts } from './gateway.ts';
import type { CompanionOrder, CompanionStep, HostMessage, HostOrder, StopOrder } from './host-protocol.ts';
import { RemoteProcesses } from './process.ts';

/** The longest that a program may take to stop. */
const STOP_MS = 15_000;

/** A program at work on another host. */
export interface RunningProgram {
  send(step: CompanionStep): void;
  /** Resolves when its order is carried out. Rejects with a trial error that says why it was not. */
  readonly over: Promise<void>;
  /** Asks it to stop. */
  stop(): void;
  /** Stops it, and returns when it has ended. */
  end(): Promise<void>;
}

/** The program of another host, which carries out one order after the other. */
export class RemoteProgram {
  readonly name: string;
  readonly #processes: RemoteProcesses;
  readonly #checkout: string;
  readonly #argv: string[];

  constructor(
    gateway: Gateway,
    { agent, name, facts }: { agent: number; name: string; facts: HostFacts },
    checkout: string,
  ) {
    this.name = name;
    this.#checkout = checkout;
    this.#processes = new RemoteProcesses(gateway, agent);
    const program = join(checkout, 'packages', 'bench', 'bench-http.mjs');
    this.#argv = [facts.node.path ?? 'node', program, 'host'];
  }

  /** The reason why its host was lost; undefined while it is there. */
  get lost(): string | undefined {
    return this.#processes.lost;
  }

  /** Starts the program with an order. Its messages go to `take`, without those of its end. */
  run(order: HostOrder | CompanionOrder, take: (message: HostMessage) => void): RunningProgram {
    const over = Promise.withResolvers<void>();
    over.promise.catch(() => {});
    const ended = Promise.withResolvers<void>();
    let refusal: string | undefined;
    let isDone = false;
    let hasEnded = false;
    const running = this.#processes.start<HostMessage>(() => this.#argv, this.#checkout, {
      take: (message) => {
        if (message.event === 'refused') refusal = describeRefusal(message);
        else if (message.event === 'done') isDone = true;
        else take(message);
      },
      // The next order waits for the end of the program, which releases its machine.
      broke: (why) => {
        hasEnded = true;
        ended.resolve();
        if (isDone) over.resolve();
        else over.reject(new BenchError('trial', refusal ?? why));
      },
    });
    running.send(order);
    const stop = (): void => running.send({ do: 'stop' } satisfies StopOrder);
    return {
      send: (step) => running.send(step),
      over: over.promise,
      stop,
      async end() {
        if (!hasEnded) {
          stop();
          // It stops its servers first.
          await Promise.race([ended.promise, sleep(STOP_MS, undefined, { ref: false })]);
        }
        await running.end();
      },
    };
  }
}

function describeRefusal({ message, hint }: { message: string; hint?: string }): string {
  return hint === undefined ? message : `${message} (${hint})`;
}
