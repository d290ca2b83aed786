import type { Counts } from 'bench-model/figures';
import type { InsertAccount } from 'bench-model/companions';

/** Counts the inserts of one trial by their responses, to the harness and to the generators. */
export class Inserts {
  #acknowledged = 0;
  #unanswered = 0;

  /** Counts a response to the harness by its status; undefined if a request had no response. */
  addAnswer(status: number | undefined): void {
    if (status === undefined) this.#unanswered++;
    else if (status >= 200 && status <= 299) this.#acknowledged++;
  }

  /** Counts all requests of the generators, from their first connection on. */
  addLoad({ ok, mismatch, timeout, reset, closedEarly, inFlight }: Counts): void {
    this.#acknowledged += ok + mismatch;
    this.#unanswered += timeout + reset + closedEarly + inFlight;
  }

  /** Returns the account with the final number of rows in the table. */
  close(stored: number): InsertAccount {
    return { acknowledged: this.#acknowledged, stored, unanswered: this.#unanswered };
  }
}
