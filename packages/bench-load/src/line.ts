/** A generator process as the harness sees it, on this machine or on another one. */
import { BenchError, TrialError } from 'bench-model/errors';
import type { Listener } from './listen.ts';
import type { Order, OrderOf, Orders, Report, UsedUpReport } from './protocol.ts';

/** The way to a running process, by default a generator. */
export interface Line<Message = Order> {
  /** Sends a message. One that has not arrived by `notAfterMs`, in ms since the epoch there, breaks the line. */
  send(message: Message, notAfterMs?: number): void;
  /** Ends the process. */
  end(): Promise<void>;
  /** The id of the process; undefined if it runs on another machine. */
  readonly pid: number | undefined;
}

/** The requests of a route are each sent once, and all were sent before the load ended. */
export class UsedUpError extends BenchError {
  readonly used: Omit<UsedUpReport, 'event'>;

  constructor(used: Omit<UsedUpReport, 'event'>) {
    super(
      'trial',
      `all ${used.requests} requests of a route were sent after ${used.seconds.toFixed(1)} s of load`,
    );
    this.used = used;
  }
}

/** Asks a generator process for reports. */
export class Generator {
  readonly #line: Line;
  readonly #name: string;
  readonly #waiting = new Map<keyof Orders, PromiseWithResolvers<unknown>>();
  #broken: BenchError | undefined;
  mark: (edge: 'opened' | 'closed') => void = () => {};

  /** `name` is used in errors. */
  constructor(open: (events: Listener<Report>) => Line, name = 'the load generator') {
    this.#name = name;
    this.#line = open({ take: (report) => this.#take(report), broke: (why) => this.#break(why) });
  }

  get pid(): number | undefined {
    return this.#line.pid;
  }

  /** Sends an order and returns its result. Throws if the process fails first. */
  ask<Name extends keyof Orders>(order: OrderOf<Name>, notAfterMs?: number): Promise<Orders[Name]['result']> {
    if (this.#broken) throw this.#broken;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(order.do, waiting);
    this.#line.send(order as Order, notAfterMs);
    return waiting.promise as Promise<Orders[Name]['result']>;
  }

  end(): Promise<void> {
    return this.#line.end();
  }

  #take(report: Report): void {
    if (report.event === 'broken') this.#break(report.message);
    else if (report.event === 'used-up') this.#fail(new UsedUpError(report));
    else if (report.event === 'done') this.#waiting.get(report.order)?.resolve(report.result);
    else this.mark(report.event);
  }

  #break(why: string): void {
    this.#fail(new TrialError(`${this.#name} failed: ${why.trim()}`));
  }

  #fail(error: BenchError): void {
    this.#broken ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#broken);
  }
}

/**
 * Passes on the first window of these processes that opens and the last that closes, also if a generator leaves before: the sampled
 * span covers all of them.
 */
export function countEdges(
  processes: number,
  tell: (edge: 'opened' | 'closed') => void,
): { mark: (edge: 'opened' | 'closed') => void; leave: () => void } {
  let [opened, closed, left] = [0, 0, 0];
  let isClosed = false;
  const close = (): void => {
    if (opened === 0 || isClosed) return;
    isClosed = true;
    tell('closed');
  };
  return {
    mark(edge) {
      if (edge === 'opened' && opened++ === 0) tell('opened');
      if (edge === 'closed' && ++closed === processes) close();
    },
    leave() {
      if (++left === processes) close();
    },
  };
}
