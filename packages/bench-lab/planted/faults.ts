import type { Account, Answer } from './account.ts';
import { burn, spin, threadCpuUs } from './burner.ts';
import { Hoard } from './hoard.ts';
import { openBurner } from './later.ts';
import type { Options } from './options.ts';

/** The interval of the work that has no request as its cause. */
const UPKEEP_MS = 100;

/** The outcome of a request. */
export type Fate = Answer | 'reset' | 'closeEarly' | 'unanswered';

/** Decides the cost and the outcome of a request by its number. */
export class Faults {
  #heldUntil = -Infinity;
  readonly #options: Options;
  readonly #account: Account;
  readonly #die: () => void;
  readonly #hoard: Hoard;
  readonly #burnLater: (us: number) => void;

  constructor(options: Options, account: Account, die: () => void) {
    this.#options = options;
    this.#account = account;
    this.#die = die;
    const { 'keep-most-mib': mostMib, collects } = options;
    this.#burnLater = openBurner(options['later-us'] > 0 ? options['later-in'] : '');
    const upkeepUs = (options['upkeep-percent'] / 100) * UPKEEP_MS * 1000;
    if (upkeepUs > 0) setInterval(() => burn(upkeepUs), UPKEEP_MS);
    if (options['stall-every'] > 0)
      account.stalls = { everyMs: options['stall-every'], ms: options['stall-ms'], held: 0 };
    this.#hoard = new Hoard(mostMib > 0 ? mostMib * 2 ** 20 : Infinity, collects);
  }

  /** The end of the last quiet stall that has begun (`performance.now()`): no answer leaves before. */
  get heldUntil(): number {
    const { 'stall-every': everyMs, 'stall-ms': ms } = this.#options;
    if (everyMs === 0) return this.#heldUntil;
    const now = performance.now();
    return now - (now % everyMs) + ms;
  }

  /** True after the `--sound-first` requests. */
  get begun(): boolean {
    return this.#account.requests.read >= this.#options['sound-first'];
  }

  /** The number of the last request, from 1; 0 for a `--sound-first` request. */
  get number(): number {
    return Math.max(0, this.#account.requests.read - this.#options['sound-first']);
  }

  /** Applies the faults of request `number` that affect the process: death, stall, memory, burn. */
  suffer(number: number): void {
    const options = this.#options;
    if (options['die-after-requests'] > 0 && number > options['die-after-requests']) this.#die();
    if (options['stall-at'] > 0 && number === options['stall-at']) this.#stall(number);
    if (options['keep-bytes'] > 0) this.#hoard.keep(options['keep-bytes']);
    if (options['keep-per-reset'] > 0 && this.fate(number) === 'reset')
      this.#hoard.keep(options['keep-per-reset']);
    if (number > 0 && options['burn-us'] > 0) burn(options['burn-us']);
    const laterUs = options['later-us'];
    if (number > 0 && laterUs > 0) setTimeout(() => this.#burnLater(laterUs), options['later-ms']);
  }

  /** Returns the outcome of request `number`. If several faults fall on it, the first in this order decides. */
  fate(number: number): Fate {
    const options = this.#options;
    const falls = (every: number): boolean => every > 0 && number % every === 0;
    if (number === 0) return 'ok';
    if (falls(options['reset-every'])) return 'reset';
    if (falls(options['close-early-every'])) return 'closeEarly';
    if (falls(options['unanswered-every'])) return 'unanswered';
    if (falls(options['status-500-every'])) return 'status500';
    if (falls(options['wrong-body-every'])) return 'wrongBody';
    if (falls(options['wrong-length-every'])) return 'wrongLength';
    if (options['answer-wrong-after'] > 0 && number > options['answer-wrong-after']) return 'wrongBody';
    return 'ok';
  }

  /** Returns the delay of the answer to request `number`, in ms. */
  delayMs(number: number): number {
    const { 'delay-ms': mean, 'delay-spread-ms': spread } = this.#options;
    if (number === 0) return 0;
    // Multiples of the golden ratio fill an interval evenly, whichever are selected.
    const share = (number * 0.618_033_988_749_894_9) % 1;
    return Math.max(0, mean - spread + Math.floor(share * (2 * spread + 1)));
  }

  /** Returns true if the answer to request `number` is sent twice. */
  isDoubled(number: number): boolean {
    const every = this.#options['duplicate-every'];
    return number > 0 && every > 0 && number % every === 0;
  }

  #stall(atRequest: number): void {
    const ms = this.#options['stall-ms'];
    const connectionsOpen = this.#account.connections.open;
    const from = performance.now();
    if (this.#options['stall-quietly']) {
      this.#heldUntil = from + ms;
      this.#account.stall = { atRequest, ms, cpuUs: 0, connectionsOpen, held: 0 };
      return;
    }
    const cpu = threadCpuUs();
    spin(ms * 1000);
    const cpuUs = threadCpuUs() - cpu;
    this.#account.stall = { atRequest, ms: performance.now() - from, cpuUs, connectionsOpen };
  }
}
