import type { Counts, InsertAccount } from '../../model.ts';

/** Counts the inserts of one trial as they are answered, to the harness and to the generators. */
export class Inserts {
  #acknowledged = 0;
  #unanswered = 0;

  /** An answer that the harness itself got, by its status; undefined for a request without one. */
  addAnswer(status: number | undefined): void {
    if (status === undefined) this.#unanswered++;
    else if (status >= 200 && status <= 299) this.#acknowledged++;
  }

  /** What became of everything that the generators sent, from their first connect. */
  addLoad({ ok, mismatch, timeout, reset, closedEarly, inFlight }: Counts): void {
    this.#acknowledged += ok + mismatch;
    this.#unanswered += timeout + reset + closedEarly + inFlight;
  }

  /** The account, with the rows that the table holds in the end. */
  close(stored: number): InsertAccount {
    return { acknowledged: this.#acknowledged, stored, unanswered: this.#unanswered };
  }
}
