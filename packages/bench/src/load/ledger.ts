import { createHash, type Hash } from 'node:crypto';
import type { Histogram } from 'hdr-histogram-js';
import { performance } from 'node:perf_hooks';
import type { Counts } from '../model.ts';
import { Arrivals, createArrival, type Arrival } from './arrivals.ts';
import { createHistogram, recordMilliseconds } from '../histogram.ts';
import { idsIn } from '../catalogue/workloads/ids.ts';
import { isConditional } from '../catalogue/workloads/workload.ts';
import type { ExpectedBody, RequestSpec } from './protocol.ts';

/** What became of one request. */
export type Outcome = Exclude<keyof Counts, 'sent' | 'inFlight'>;

/** Divides every width that steadiness is judged by. */
const SLICE_MS = 50;

/** One connection's place in the load: what it is doing, across all its reconnects. */
export class Slot {
  /** A request has left and nothing has become of it yet. */
  pending = false;
  /** When its request was meant to leave, ms of the monotonic clock; undefined in a closed loop. */
  intendedAt: number | undefined;
  /** It keeps silent until its turn comes. */
  isHeld = false;
  /** Its first connect has been started. */
  begun = false;
  stood = false;
  /** End of the previous request, ms of the monotonic clock; undefined until there is one. */
  lastEnd: number | undefined;
  completions = 0;
  /** Which of the workload's requests is under way. */
  request = 0;
  /** Its own id, and what has come of its answer; undefined where requests have none. */
  own: { id: string; answer: Buffer[] } | undefined;
  bodyBytes = 0;
  hash: Hash | undefined;
  /** What the answer that is being read tells of the time that it took, ms. */
  toldMs: number | undefined;
  /** When the answer that is being read arrived. */
  readonly arrival: Arrival = createArrival();
}

function emptyCounts(): Counts {
  return { sent: 0, ok: 0, non2xx: 0, mismatch: 0, timeout: 0, reset: 0, closedEarly: 0, inFlight: 0 };
}

/**
 * Every request of one session, accounted for once: over the whole life, and over the window, which
 * may be open several times (a duel alternates). Requests that were under way when the window opened
 * count as sent in it, so that in both accounts
 * sent = ok + non2xx + mismatch + timeout + reset + closedEarly + inFlight.
 */
export class Ledger {
  readonly slots: Slot[] = [];
  readonly lifetime = emptyCounts();
  readonly window = emptyCounts();
  readonly statusCodes: Record<string, number> = {};
  readonly histogram = createHistogram();
  /** The same latencies as short as they can have been: a busy process reads answers later than they arrive. */
  readonly shortest = createHistogram();
  /** Of the same answers: what they told of their time, and their latency without that. Absent while none has told. */
  timing: { told: Histogram; rest: Histogram } | undefined;
  readonly cycleUs = { sum: 0, count: 0 };
  readonly slices: { milliseconds: number; ok: number[] } = { milliseconds: SLICE_MS, ok: [] };
  bodiesHashed = 0;
  /** Of the window's mismatches: answers that carried the id of another request. */
  crossed = 0;
  unsolicited = 0;
  bodyBytes: number | undefined;
  begun = 0;
  standing = 0;
  /** When the last connection came to stand, ms of the monotonic clock. */
  stoodAt = -Infinity;
  /** Called at the moment the window closes. */
  onClose: () => void = () => {};
  #answers = 0;
  #open = false;
  #openedAt = 0;
  #closesAt = Infinity;
  #silent = 0;
  #silentBefore: number[] | undefined;
  /** How long the window was open before, ms. */
  #openBefore = 0;
  readonly #expected: ExpectedBody[] | undefined;
  readonly #hashEvery: number;
  readonly #arrivals: Arrivals;
  /** Of each request of the cycle, whether 304 is a right answer to it. */
  readonly #mayBeUnchanged: boolean[];

  constructor(
    expected: ExpectedBody[] | undefined,
    hashEvery: number,
    requests: Pick<RequestSpec, 'headers'>[] = [],
    arrivals = new Arrivals(),
  ) {
    this.#expected = expected;
    this.#hashEvery = hashEvery;
    this.#arrivals = arrivals;
    this.#mayBeUnchanged = requests.map(isConditional);
  }

  addSlot(): Slot {
    const slot = new Slot();
    this.slots.push(slot);
    return slot;
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /** Requests under way now, counted anew from the slots: the independent side of the identity. */
  countInFlight(): number {
    return this.slots.reduce((sum, slot) => sum + (slot.pending ? 1 : 0), 0);
  }

  /** When the last request ended, ms of the monotonic clock. */
  lastEndMs(): number {
    return Math.max(...this.slots.map((slot) => slot.lastEnd ?? this.#openedAt));
  }

  /** These slots are about to ask, all unless told: those that were kept waiting begin their cycle now, not with their last answer. */
  wake(slots = this.slots): void {
    const now = performance.now();
    for (const slot of slots) if (!slot.pending && slot.lastEnd !== undefined) slot.lastEnd = now;
  }

  /** A connect is being started. */
  begin(slot: Slot): void {
    if (!slot.begun) this.begun++;
    slot.begun = true;
  }

  /** A request has left. */
  send(slot: Slot): void {
    slot.pending = true;
    slot.bodyBytes = 0;
    this.lifetime.sent++;
    if (this.#open) this.window.sent++;
    this.#arrivals.work();
  }

  /** Bytes have come, or the end of the connection. */
  arrive(slot: Slot): void {
    this.#arrivals.note(slot.arrival);
  }

  /** A piece of an answer's body has come. */
  receive(slot: Slot, piece: Buffer): void {
    if (slot.own !== undefined) {
      slot.own.answer.push(piece);
    } else if (
      slot.bodyBytes === 0 &&
      this.#expected !== undefined &&
      this.#answers++ % this.#hashEvery === 0
    ) {
      slot.hash = createHash('sha256');
    }
    slot.bodyBytes += piece.length;
    slot.hash?.update(piece);
  }

  /** An answer was completely read, so many ms after its request left. Its latency ends with its arrival. */
  complete(slot: Slot, status: number, milliseconds: number): void {
    const { bodyBytes } = slot;
    const body = slot.own === undefined ? this.#judgeBytes(slot) : this.#judgeOwn(slot, slot.own);
    const outcome = !this.#isRight(status, slot) ? 'non2xx' : body === 'right' ? 'ok' : 'mismatch';
    const first = !slot.stood;
    const now = performance.now();
    if (now >= this.#closesAt) this.close();
    if (first) {
      slot.stood = true;
      this.standing++;
      this.stoodAt = now;
    }
    if (this.#open) {
      this.statusCodes[status] = (this.statusCodes[status] ?? 0) + 1;
      if (outcome === 'mismatch' && body === 'crossed') this.crossed++;
      if (outcome === 'ok') {
        const slice = Math.floor((this.#openBefore + now - this.#openedAt) / SLICE_MS);
        this.slices.ok[slice] = (this.slices.ok[slice] ?? 0) + 1;
        this.bodyBytes = bodyBytes;
        if (!first) this.#record(slot, now, milliseconds);
      }
    }
    this.#end(slot, outcome, now);
  }

  /** A request was lost. */
  lose(slot: Slot, outcome: 'timeout' | 'reset' | 'closedEarly'): void {
    slot.hash = undefined;
    const now = performance.now();
    if (now >= this.#closesAt) this.close();
    this.#end(slot, outcome, now);
  }

  /**
   * Opens the window for so many ms, or once more: what is under way now counts as sent in it. It closes with the
   * first request that ends after its time, or by `close`, whichever comes first: a loop that is busy
   * with thousands of answers would let a timer wait.
   */
  open(milliseconds: number): void {
    this.window.sent += this.countInFlight();
    this.#silentBefore ??= this.slots.map((slot) => slot.completions);
    this.#openedAt = performance.now();
    this.#closesAt = this.#openedAt + milliseconds;
    this.#open = true;
  }

  /** Closes the window if it is open. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.window.inFlight += this.countInFlight();
    this.#openBefore += Math.min(performance.now(), this.#closesAt) - this.#openedAt;
    const length = Math.max(this.slices.ok.length, Math.floor(this.#openBefore / SLICE_MS));
    this.slices.ok = Array.from({ length }, (_, slice) => this.slices.ok[slice] ?? 0);
    this.#silent = this.slots.filter(
      (slot, index) => slot.completions === this.#silentBefore?.[index],
    ).length;
    this.onClose();
  }

  /** Connections that completed nothing in the window; 0 before it is closed. */
  get silentConnections(): number {
    return this.#silent;
  }

  /** An answer that was read so many ms after its request left; both latencies end with its arrival. */
  #record({ toldMs, intendedAt, arrival: { from, by } }: Slot, now: number, sinceSent: number): void {
    const since = intendedAt === undefined ? sinceSent : now - intendedAt;
    // Nothing arrives before it is asked for.
    const milliseconds = since - Math.max(0, Math.min(now - by, sinceSent));
    recordMilliseconds(this.histogram, milliseconds);
    recordMilliseconds(this.shortest, since - Math.max(0, Math.min(now - from, sinceSent)));
    if (toldMs === undefined) return;
    this.timing ??= { told: createHistogram(), rest: createHistogram() };
    recordMilliseconds(this.timing.told, toldMs);
    recordMilliseconds(this.timing.rest, milliseconds - toldMs);
  }

  #end(slot: Slot, outcome: Outcome, now: number): void {
    slot.pending = false;
    this.lifetime[outcome]++;
    slot.completions++;
    if (this.#open) {
      this.window[outcome]++;
      if (slot.lastEnd !== undefined) {
        this.cycleUs.sum += (now - slot.lastEnd) * 1000;
        this.cycleUs.count++;
      }
    }
    slot.lastEnd = now;
  }

  #isRight(status: number, { request }: Slot): boolean {
    return (status >= 200 && status <= 299) || (status === 304 && this.#mayBeUnchanged[request] === true);
  }

  /** By its length, and by its hash where one was taken. */
  #judgeBytes(slot: Slot): 'right' | 'wrong' {
    const expected = this.#expected?.[slot.request];
    const isWrong = expected !== undefined && slot.bodyBytes !== expected.bytes;
    if (slot.hash === undefined) {
      // Of an empty body the length says all.
      if (expected?.bytes === 0) this.bodiesHashed++;
      return isWrong ? 'wrong' : 'right';
    }
    const digest = slot.hash.digest('hex');
    slot.hash = undefined;
    this.bodiesHashed++;
    return isWrong || digest !== expected?.sha256 ? 'wrong' : 'right';
  }

  /** Whole, and by the ids in it. */
  #judgeOwn(slot: Slot, { id, answer }: NonNullable<Slot['own']>): 'right' | 'wrong' | 'crossed' {
    this.bodiesHashed++;
    const text = (answer.length === 1 ? (answer[0] as Buffer) : Buffer.concat(answer)).toString('latin1');
    const around = this.#expected?.[slot.request]?.around;
    if (around !== undefined && text === around.join(id)) return 'right';
    const ids = idsIn(text);
    if (ids.some((one) => one !== id)) return 'crossed';
    return around === undefined && ids.length > 0 ? 'right' : 'wrong';
  }
}
