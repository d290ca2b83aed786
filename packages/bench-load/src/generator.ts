/**
 * One generator process: clients of autocannon with the accounting of `ledger.ts`. It speaks the protocol of `protocol.ts` on stdin
 * and stdout, and ends with its stdin, so that it never outlives the harness.
 */
import { flushCompileCache } from 'node:module';
import { performance, type EventLoopUtilization } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import pWaitFor from 'p-wait-for';
import { Alarm } from './alarm.ts';
import { Arrivals } from './arrivals.ts';
import { type AutocannonClient, Client, version } from './autocannon.ts';
import { runConnection, type ConnectionContext, type Gate } from './client.ts';
import { createSender, type Sender } from './sender.ts';
import { Ledger, type Slot } from './ledger.ts';
import { Pacer } from './pacer.ts';
import { findRoom } from './room.ts';
import { Schedule } from './schedule.ts';
import { Shapes } from './shapes.ts';
import { createTimingReader } from './timing.ts';
import {
  readLines,
  type FireOrder,
  type LoadReport,
  type Order,
  type OrderOf,
  type Orders,
  type Report,
  type TurnOrder,
  type TurnResult,
} from './protocol.ts';
import type { SchemaCheck } from 'bench-targets/catalogue/workloads/requests/schema';
import type { Connect } from 'bench-model/load';
import type { Counts } from 'bench-model/figures';
import { countCompletions } from 'bench-model/counts';
import { ownCpuUs } from 'bench-machine/cpu';
import { readWaiting } from 'bench-machine/procfs';
import { tlsOptions } from 'bench-machine/tls';
import { clamp, sum } from 'bench-statistics/numbers';
import { createRandom } from 'bench-statistics/random';

const POLL_MS = 5;
/**
 * The interval of requests until all connections are established: short enough to keep them alive (servers close idle
 * connections after 5 s), too long to be a load.
 */
const REST_MS = { least: 1000, most: 4000, perConnection: 1 };
/** The time for which the load continues after the window, so that the server is still under load when it is read. */
const EDGE_MS = 10;
/** The time for the harness to read the idle server before a fixed amount of requests begins. */
const AMOUNT_LEAD_MS = 50;
/** The longest wait for an unsolicited response after the first load, when no response is due. */
const STRAGGLER_MS = { least: 10, most: 250 };
/** The longest wait for open answers at the end of the window. */
const DRAIN_SECONDS = 5;

/** The size of the buffer that all sockets read into: as much as libuv reads at a time. */
const BUFFER_BYTES = 65_536;

/** All sessions share the event loop and the buffer. */
const arrivals = new Arrivals();
const buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
/** Wakes all open loops of this process; started with the first. */
let alarm: Promise<Alarm> | undefined;
/** The sessions by the number from the harness. Orders that follow at once wait for a session to be created. */
const sessions = new Map<number, Promise<Session>>();

// It is ended by SIGKILL, which leaves no time to store what was compiled. Does nothing if all of it is stored.
flushCompileCache();
process.stdin.on('end', () => process.exit(0));
readLines<Order>(
  process.stdin,
  (order) => {
    void carryOut(order).catch((error: unknown) => {
      tell({ event: 'broken', message: error instanceof Error ? error.message : String(error) });
    });
  },
  (line) => tell({ event: 'broken', message: `no order: ${line}` }),
);

async function carryOut(order: Order): Promise<void> {
  if (order.do === 'arm')
    sessions.set(
      order.session,
      compileSchemas(order).then((schemas) => new Session(order, schemas)),
    );
  const session = await sessions.get(order.session);
  if (order.do === 'leave') sessions.delete(order.session);
  if (session !== undefined)
    tell({ event: 'done', order: order.do, result: await session[order.do](order as never) });
}

/** Compiles the schemas of the routes, by their index. The compiler is loaded only if there is one. */
async function compileSchemas({ routes = [] }: OrderOf<'arm'>): Promise<(SchemaCheck | undefined)[]> {
  if (routes.every(({ schema }) => schema === undefined)) return [];
  const { compileSchema } = await import('bench-targets/catalogue/workloads/requests/schema');
  return routes.map(({ schema }) =>
    schema === undefined ? undefined : compileSchema(schema, 'the expected schema'),
  );
}

function tell(report: Report): void {
  process.stdout.write(`${JSON.stringify(report)}\n`);
}

/** Waits until a condition holds or the time is up. */
async function until(condition: () => boolean, mostMs: number): Promise<void> {
  const timeout = { milliseconds: Math.ceil(mostMs), fallback: () => {} };
  await pWaitFor(condition, { interval: POLL_MS, timeout });
}

/** Sleeps until a moment in ms since the epoch; returns at once if it has passed. */
async function sleepUntil(atMs: number): Promise<void> {
  const milliseconds = atMs - Date.now();
  if (milliseconds > 0) await sleep(milliseconds);
}

/** Carries out each order by the method of its name. */
type Orderly = {
  [Name in keyof Orders]: (order: OrderOf<Name>) => Orders[Name]['result'] | Promise<Orders[Name]['result']>;
};

/** One moment on the clocks of this process. */
interface Mark {
  nowMs: number;
  epochMs: number;
  cpuUs: number;
  loop: EventLoopUtilization;
}

/** The connections of this process to one server, from the first connect to the end of the last drain. */
class Session implements Orderly {
  readonly #order: OrderOf<'arm'>;
  readonly #ledger: Ledger;
  readonly #pacer: Pacer;
  readonly #sender: Sender;
  readonly #startedAt = performance.now();
  readonly #clients: AutocannonClient[] = [];
  readonly #lines: Line[] = [];
  #arming = true;
  /** The number of requests that may still be sent; infinite except for an amount. */
  #budget = Infinity;
  /** The number of requests that the sender still has. */
  #left: number;
  /** The number of released requests; those that wait for their connection are not sent yet. */
  #reserved = 0;
  /** The schedule of an open loop, from the warm-up on. */
  #schedule: Schedule | undefined;
  #hasFired = false;
  /** Totals over all openings of the window. */
  #openedAtMs: number | undefined;
  #closedAtMs = 0;
  #windowSeconds = 0;
  readonly #use = { cpuUs: 0, seconds: 0, activeSeconds: 0 };

  constructor(order: OrderOf<'arm'>, schemas: (SchemaCheck | undefined)[]) {
    if (version !== '9.0.0')
      throw new Error(`autocannon ${version} is installed, but the driver changes members of 9.0.0 alone`);
    this.#order = order;
    this.#ledger = new Ledger(order, arrivals, schemas);
    this.#pacer = new Pacer(() => this.#room());
    const restMs = clamp(order.connections * REST_MS.perConnection, REST_MS.least, REST_MS.most);
    const gate: Gate = {
      reserve: (slot, ask) => {
        if (this.#budget <= 0 || slot.isHeld) return false;
        if (this.#left <= 0) {
          this.#reportUsedUp();
          return false;
        }
        if (this.#schedule !== undefined) {
          const due = this.#schedule.take(ask);
          if (due === undefined) return false;
          slot.intendedAt = due.intendedAt;
          slot.lateMs = due.lateMs;
        }
        this.#budget--;
        this.#left--;
        this.#reserved++;
        return true;
      },
      refund: (slot) => {
        if (!this.#arming) return false;
        slot.isConnecting = false;
        this.#budget++;
        this.#left++;
        this.#reserved--;
        return true;
      },
      restMs: () => (this.#arming ? restMs : 0),
    };
    this.#sender = createSender(order);
    this.#left = this.#sender.countLeft();
    const context: ConnectionContext = {
      ledger: this.#ledger,
      pacer: this.#pacer,
      gate,
      sender: this.#sender,
      tls: order.tls && {
        ...tlsOptions(order.tls),
        secureContext: process.getBuiltinModule('node:tls').createSecureContext(),
      },
      shapes: new Shapes(buffer, order.parsesAll === true ? 0 : undefined),
      readTiming: order.timing === undefined ? undefined : createTimingReader(order.timing),
    };
    for (let index = 0; index < order.connections; index++) this.#addClient(context, index);
  }

  #addClient(context: ConnectionContext, index: number): void {
    const { host, port, timeoutSeconds, requests, sources = [] } = this.#order;
    const setupClient = (client: AutocannonClient): void => {
      // The option of autocannon must be at least 1 s.
      client.timeout = timeoutSeconds * 1000;
      const slot = this.#ledger.addSlot();
      slot.source = sources[index % sources.length];
      const ask = runConnection(client, slot, context);
      this.#lines.push({ slot, ask, first: { atMs: 0, completions: 0 } });
    };
    // It sends what the sender gives it.
    this.#clients.push(new Client({ hostname: host, port, requests: requests.slice(0, 1), setupClient }));
  }

  /** Waits until every connection has answered once, or until the deadline. */
  async arm(): Promise<Connect> {
    const { connections, barrierSeconds } = this.#order;
    await until(() => this.#ledger.standing >= connections, barrierSeconds * 1000);
    return this.#connect((performance.now() - this.#startedAt) / 1000);
  }

  /** Sends these requests from now on. */
  replace({ requests }: OrderOf<'replace'>): null {
    this.#sender.replace(requests);
    return null;
  }

  /** Closes its connections. */
  leave(): null {
    this.#budget = -Infinity;
    this.#pacer[Symbol.dispose]();
    for (const client of this.#clients) client.destroy();
    return null;
  }

  /** Returns the number of connections that may start now. */
  #room(): number {
    const { begun, standing, stoodAt } = this.#ledger;
    const { acceptQueue, port } = this.#order;
    const queue = acceptQueue.capacity === undefined ? undefined : () => readWaiting(port);
    const progress = { begun, standing, stoodAt: Math.max(stoodAt, this.#startedAt) };
    return findRoom({ ...acceptQueue, readWaiting: queue }, progress, performance.now());
  }

  #connect(seconds: number): Connect {
    const { retries, refused } = this.#pacer;
    return {
      planned: this.#order.connections,
      established: this.#ledger.standing,
      seconds,
      refused,
      retried: retries,
    };
  }

  /** Warms up, opens the window (again), closes it, drains, and returns the account of all its openings. */
  async fire(order: FireOrder): Promise<LoadReport> {
    const ledger = this.#ledger;
    if (order.isApart === true) this.#restart();
    await this.#begin(order, order.warmupSeconds);
    if (order.amount !== undefined) {
      await this.#fallSilent();
      // The server is idle now. Its CPU is read before the first request, or the reading would miss some.
      tell({ event: 'opened' });
      await sleep(AMOUNT_LEAD_MS);
    }
    const connect = this.#connect(0);
    const opened = this.#mark();
    const closing = Promise.withResolvers<Mark>();
    ledger.onClose = () => {
      // The response that closes the window is followed by no other request.
      for (const intended of this.#schedule?.close() ?? []) ledger.leave(intended);
      closing.resolve(this.#mark());
      tell({ event: 'closed' });
    };
    const isDone = () => this.#budget <= 0 && this.#isQuiet();
    ledger.open(order.windowSeconds * 1000);
    this.#schedule?.open(opened.nowMs, opened.nowMs + order.windowSeconds * 1000);
    if (order.amount === undefined) tell({ event: 'opened' });
    else {
      this.#budget = order.amount;
      this.#sender.restart(order.amountBefore ?? 0);
      this.#left = this.#sender.countLeft();
      this.#askAll();
    }
    if (order.amount === undefined) await sleep(order.windowSeconds * 1000);
    else await until(isDone, order.windowSeconds * 1000);
    ledger.close();
    const closed = await closing.promise;
    // Without a window, nobody reads the server at its edge.
    if (order.amount === undefined && order.windowSeconds > 0) await sleep(EDGE_MS);
    await this.#fallSilent();
    ledger.settle();
    if (!this.#hasFired) await this.#awaitStragglers();
    this.#hasFired = true;
    const endMs = order.amount === undefined ? endOf(order, opened, closed) : ledger.lastEndMs();
    this.#add(opened, closed, endMs, order.windowSeconds > 0);
    return this.#report(connect);
  }

  /**
   * Loads the server from silence to silence, with a window in between. No timer separates the last response from the
   * report: with short turns, the pauses between them would be a large part of the time.
   */
  async turn(order: TurnOrder): Promise<TurnResult> {
    const ledger = this.#ledger;
    const okBefore = ledger.lifetime.ok;
    const endedBefore = this.#ended();
    ledger.timesByStart = true;
    await this.#begin({ atMs: order.atMs, rate: undefined }, order.rampSeconds);
    const opened = this.#mark();
    const closing = Promise.withResolvers<Mark>();
    ledger.onClose = () => {
      // The response that closes the window is the last to be followed by another request.
      this.#budget = -Infinity;
      closing.resolve(this.#mark());
    };
    ledger.open(order.windowSeconds * 1000);
    // A timer can fire up to 1 ms early.
    await Promise.race([closing.promise, sleep(order.windowSeconds * 1000 + 1)]);
    ledger.close();
    const closed = await closing.promise;
    await this.#fallSilent();
    ledger.settle();
    this.#hasFired = true;
    this.#add(opened, closed, endOf(order, opened, closed), true);
    const answers = ledger.lifetime.ok - okBefore;
    const ended = this.#ended() - endedBefore;
    return {
      seconds: Math.max(0, ...this.#lines.map(({ slot, first }) => spanOf(slot, first))),
      answers,
      goodputPerSecond: ended === 0 ? 0 : (answers / ended) * this.#pace(),
    };
  }

  /** Starts the load, and returns at the end of the time before the window. */
  async #begin(
    { atMs, rate, gapSeed }: Pick<FireOrder, 'atMs' | 'rate' | 'gapSeed'>,
    leadSeconds: number,
  ): Promise<void> {
    const running = rate === undefined ? undefined : await (alarm ??= Alarm.start());
    await sleepUntil(atMs);
    this.#arming = false;
    this.#budget = Infinity;
    if (rate !== undefined && running !== undefined) {
      const { population } = this.#ledger;
      const random = gapSeed === undefined ? undefined : createRandom(gapSeed);
      this.#schedule = new Schedule(rate, running, this.#schedule?.report, population, random);
    }
    this.#ledger.beginWarmup();
    const { spreadSeconds } = this.#order;
    if (spreadSeconds === undefined || rate !== undefined) this.#askAll();
    else this.#askInTurn(spreadSeconds * 1000);
    await sleepUntil(atMs + leadSeconds * 1000);
    this.#ledger.endWarmup();
  }

  #restart(): void {
    this.#ledger.restart();
    this.#schedule = undefined;
    this.#openedAtMs = undefined;
    this.#windowSeconds = 0;
    Object.assign(this.#use, { cpuUs: 0, seconds: 0, activeSeconds: 0 });
  }

  /** Adds one opening of the window, which ended at this moment of the monotonic clock, to the totals. */
  #add(opened: Mark, closed: Mark, endMs: number, isWindow: boolean): void {
    if (isWindow) this.#openedAtMs ??= opened.epochMs;
    this.#closedAtMs = closed.epochMs;
    this.#windowSeconds += (endMs - opened.nowMs) / 1000;
    const seconds = (closed.nowMs - opened.nowMs) / 1000;
    this.#use.seconds += seconds;
    this.#use.cpuUs += closed.cpuUs - opened.cpuUs;
    this.#use.activeSeconds +=
      seconds * performance.eventLoopUtilization(closed.loop, opened.loop).utilization;
  }

  /** Returns the account of all openings of the window. */
  collect(): LoadReport {
    return this.#report(this.#connect(0));
  }

  #report(connect: Connect): LoadReport {
    const { cpuUs, seconds, activeSeconds } = this.#use;
    return {
      connect,
      openedAtMs: this.#openedAtMs ?? this.#closedAtMs,
      closedAtMs: this.#closedAtMs,
      windowSeconds: this.#windowSeconds,
      ...this.#ledger.report(this.#schedule?.report),
      use: { seconds, cpuUs, utilisation: activeSeconds / seconds },
    };
  }

  /** Returns the requests that ended so far, whatever their outcome. */
  #ended(): number {
    return countCompletions(this.#ledger.lifetime);
  }

  /**
   * Returns the responses per second of the last turn, summed over the connections. Each counts from its first request to
   * its last response: a count between two moments would be one response too high or too low, which is much in a short turn.
   */
  #pace(): number {
    return sum(
      this.#lines.map(({ slot, first }) => {
        const seconds = spanOf(slot, first);
        return seconds > 0 ? (slot.completions - first.completions) / seconds : 0;
      }),
    );
  }

  count(): Counts {
    return this.#ledger.countAll();
  }

  /** Reports that a route has no more requests. The harness ends the load. */
  #reportUsedUp(): void {
    this.#budget = -Infinity;
    const { routes = [], acceptQueue } = this.#order;
    const counts = routes.flatMap(({ count, once }) => (once === true ? [count] : []));
    const requests = Math.min(...counts) * acceptQueue.processes;
    tell({ event: 'used-up', requests, seconds: this.#ledger.loadSeconds });
  }

  /** Stops sending, and waits for the open requests until the last is answered or lost, or the drain ends. */
  async #fallSilent(): Promise<void> {
    this.#budget = -Infinity;
    if (this.#isQuiet()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const patience = setTimeout(resolve, Math.min(DRAIN_SECONDS, this.#order.timeoutSeconds) * 1000);
    this.#ledger.onEnd = () => {
      if (this.#ended() === this.#reserved && this.#isQuiet()) resolve();
    };
    await promise;
    clearTimeout(patience);
    this.#ledger.onEnd = () => {};
  }

  /** Waits for as long as the slowest response took: unsolicited responses show only when none is due. */
  async #awaitStragglers(): Promise<void> {
    const slowestMs = this.#ledger.account.latencies.histogram.maxValue / 1000;
    await sleep(clamp(slowestMs, STRAGGLER_MS.least, STRAGGLER_MS.most));
  }

  /** True if no request is open or waits for its connection. */
  #isQuiet(): boolean {
    return this.#reserved === this.#ledger.lifetime.sent && this.#ledger.countInFlight() === 0;
  }

  #askAll(): void {
    this.#ledger.wake();
    const atMs = performance.now();
    for (const line of this.#lines) {
      line.first = { atMs, completions: line.slot.completions };
      line.ask();
    }
  }

  /** Starts the slots one after the other over this time. A slot that is answered before its turn waits for it. */
  #askInTurn(spanMs: number): void {
    for (const [index, line] of this.#lines.entries()) {
      const { slot, ask } = line;
      const afterMs = (index / this.#lines.length) * spanMs;
      const begin = (): void => {
        line.first = { atMs: performance.now(), completions: slot.completions };
      };
      slot.isHeld = true;
      // A short turn may end before this slot has its turn: it has no responses in it then.
      begin();
      setTimeout(() => {
        slot.isHeld = false;
        this.#ledger.wake([slot]);
        begin();
        ask();
      }, afterMs);
    }
  }

  #mark(): Mark {
    return {
      nowMs: performance.now(),
      epochMs: performance.timeOrigin + performance.now(),
      cpuUs: ownCpuUs(),
      loop: performance.eventLoopUtilization(),
    };
  }
}

/** One connection, across all its reconnects. */
interface Line {
  slot: Slot;
  /** Makes a paused connection send again. */
  ask: () => void;
  /** The start of its current turn on the monotonic clock, and the requests that had ended before. */
  first: { atMs: number; completions: number };
}

/** The end of a window: its planned time, if a busy process closed it later. Nothing that comes after it is counted. */
function endOf({ windowSeconds }: Pick<FireOrder, 'windowSeconds'>, opened: Mark, closed: Mark): number {
  return Math.min(closed.nowMs, opened.nowMs + windowSeconds * 1000);
}

/** Returns the time from the start of a connection's turn to its last response, in seconds; 0 without a response. */
function spanOf({ completions, lastEnd }: Slot, first: Line['first']): number {
  return completions > first.completions && lastEnd !== undefined ? (lastEnd - first.atMs) / 1000 : 0;
}
