import type { Draw } from '../catalogue/workloads/workload.ts';
import type { Counts, InsertAccount } from '../model.ts';

/** The inserts of one trial as they are answered, to the harness and to the generators. */
export class Inserts {
  #acknowledged = 0;
  #unanswered = 0;

  /** The draw, with every answer that is checked counted. */
  watch(draw: Draw): Draw {
    return {
      ...draw,
      check: (answer, index) => {
        if (answer.status >= 200 && answer.status <= 299) this.#acknowledged++;
        return draw.check(answer, index);
      },
    };
  }

  /** What the generators sent from their first connect on. */
  addLoad({ ok, mismatch, timeout, reset, closedEarly, inFlight }: Counts): void {
    this.#acknowledged += ok + mismatch;
    this.#unanswered += timeout + reset + closedEarly + inFlight;
  }

  /** One of the harness itself that came to nothing. */
  addUnanswered(): void {
    this.#unanswered++;
  }

  /** Held against the rows that there are in the end. */
  close(stored: number): InsertAccount {
    return { acknowledged: this.#acknowledged, stored, unanswered: this.#unanswered };
  }
}
