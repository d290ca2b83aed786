import type { Account, Answer } from './account.ts';
import type { Connection } from './connection.ts';
import type { Faults } from './faults.ts';

/** An answer before its time. */
interface Waiting {
  connection: Connection;
  answer: Answer;
  readAt: number;
  close: boolean;
}

/**
 * Answers that wait for their delay or for the end of a stall, in the order of their requests.
 * Timers have a resolution of 1 ms: no answer is early, and the latencies of the account are exact.
 */
export class Queue {
  readonly #delayMs: number;
  readonly #faults: Faults;
  readonly #account: Account;
  #waiting: Waiting[] = [];
  #next = 0;
  #armed = false;

  constructor(delayMs: number, faults: Faults, account: Account) {
    this.#delayMs = delayMs;
    this.#faults = faults;
    this.#account = account;
  }

  add(waiting: Waiting): void {
    this.#waiting.push(waiting);
    if (!this.#armed) this.#arm(waiting);
  }

  #dueAt({ readAt }: Waiting): number {
    return Math.max(readAt + this.#delayMs, this.#faults.heldUntil);
  }

  #arm(first: Waiting): void {
    this.#armed = true;
    setTimeout(() => this.#release(), Math.max(1, Math.ceil(this.#dueAt(first) - performance.now())));
  }

  #release(): void {
    this.#armed = false;
    for (;;) {
      const first = this.#waiting[this.#next];
      if (first === undefined) break;
      if (this.#dueAt(first) > performance.now()) {
        this.#arm(first);
        break;
      }
      this.#next++;
      const answered = first.connection.answerLater(first.answer, first.readAt, first.close);
      if (answered) this.#countHeld(first.readAt + this.#delayMs);
    }
    this.#waiting.splice(0, this.#next);
    this.#next = 0;
  }

  #countHeld(ownDueAt: number): void {
    const { stall, stalls } = this.#account;
    if (ownDueAt >= this.#faults.heldUntil) return;
    if (stalls !== undefined) stalls.held++;
    else if (stall?.held !== undefined) stall.held++;
  }
}
