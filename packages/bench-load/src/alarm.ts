import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { programBeside } from 'bench-machine/home';
import { sharedNowMs, type AlarmClock } from './alarm-clock.ts';

const CLOCK = programBeside(import.meta.url, 'alarm-worker');
/** The first reading of a clock takes up to 1 ms. */
const READINGS = 10;

/**
 * Calls functions within some 10 µs of a time, while timers of Node know whole ms only. A thread waits for the time and
 * wakes the event loop by a message.
 */
export class Alarm implements Disposable {
  readonly #clock: AlarmClock = {
    changes: new Int32Array(new SharedArrayBuffer(4)),
    ringsAtMs: new Float64Array(new SharedArrayBuffer(8)).fill(Infinity),
  };
  readonly #worker: Worker;
  readonly #calls = new Map<() => void, number>();
  /** The clock of all threads minus that of this one. Time that passes between the two readings makes it smaller. */
  readonly #offsetMs = Math.max(...Array.from({ length: READINGS }, () => sharedNowMs() - performance.now()));

  private constructor() {
    this.#worker = new Worker(CLOCK, { workerData: this.#clock });
    this.#worker.on('message', () => this.#ring());
  }

  /** Starts the thread of an alarm. */
  static async start(): Promise<Alarm> {
    const alarm = new Alarm();
    await once(alarm.#worker, 'online');
    alarm.#worker.unref();
    return alarm;
  }

  /** Calls a function once, at this time in ms of the monotonic clock. An earlier time for it no longer counts. */
  set(call: () => void, atMs: number): void {
    this.#calls.set(call, atMs);
    this.#arm();
  }

  /** Forgets the call of a function. */
  clear(call: () => void): void {
    this.#calls.delete(call);
  }

  /** Has the thread ring at the earliest time. One that rings too early for all calls does no harm. */
  #arm(): void {
    const atMs = Math.min(...this.#calls.values()) + this.#offsetMs;
    const { changes, ringsAtMs } = this.#clock;
    if (atMs >= (ringsAtMs[0] as number)) return;
    ringsAtMs[0] = atMs;
    Atomics.add(changes, 0, 1);
    Atomics.notify(changes, 0);
  }

  #ring(): void {
    this.#clock.ringsAtMs[0] = Infinity;
    const now = performance.now();
    for (const [call, atMs] of this.#calls) {
      if (atMs > now) continue;
      this.#calls.delete(call);
      call();
    }
    this.#arm();
  }

  [Symbol.dispose](): void {
    this.#calls.clear();
    void this.#worker.terminate();
  }
}
