/** Hosts that exist only on fake timers: their clocks are wrong, their network is slow, and some fail. */
import { createHistogram, encodeHistogram } from 'bench-statistics/histogram';
import type { RoundTrip } from '../src/clock.ts';
import type { Agent } from '../src/session.ts';
import type { Line } from 'bench-load/line';
import type { Listener } from 'bench-load/listen';
import type { ArmOrder, FireOrder, LoadReport, Order, Report } from 'bench-load/protocol';
import type { Random } from 'bench-statistics/random';
import { sampleCounts } from '../../bench-lab/testing/samples.ts';

const SLICE_MS = 50;

/** Sleeps on fake timers, which do not replace those of `node:timers`. */
function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}

export type Fault =
  | 'dies-at-arm'
  | 'dies-in-window'
  | 'never-reports'
  | 'late-order'
  | 'opens-late'
  | 'clock-steps';

export interface Nature {
  name: string;
  /** Its clock minus true time, in ms. */
  offsetMs: number;
  /** The longest one-way delay, in ms. */
  delayMs: number;
  perSecond: number;
  fault?: Fault | undefined;
  /** The delay of its order, or of its window, if that is its fault. */
  faultMs: number;
}

/** One answered request, in true time. */
interface Answer {
  atMs: number;
  latencyUs: number;
}

/** A host with its true history. */
export class SimulatedAgent implements Agent {
  readonly name: string;
  readonly pid = undefined;
  readonly host = { cores: 8 };
  readonly nature: Nature;
  /** The window in true time; undefined before. */
  window: { fromMs: number; toMs: number } | undefined;
  /** Every response, in the window and around it. */
  readonly answers: Answer[] = [];
  readonly #random: Random;
  #connections = 0;
  #offsetMs: number;

  constructor(nature: Nature, random: Random) {
    this.nature = nature;
    this.name = nature.name;
    this.#random = random;
    this.#offsetMs = nature.offsetMs;
  }

  async readClock(trips: number): Promise<RoundTrip[]> {
    const all: RoundTrip[] = [];
    for (let trip = 0; trip < trips; trip++) {
      const sentMs = Date.now();
      await sleep(this.#delay());
      const readMs = this.#now();
      await sleep(this.#delay());
      all.push({ sentMs, readMs, returnedMs: Date.now() });
    }
    return all;
  }

  open(events: Listener<Report>): Line {
    return {
      pid: undefined,
      send: (order, notAfterMs) => void this.#take(order, notAfterMs, events),
      end: async () => {},
    };
  }

  async #take(
    order: Order,
    notAfterMs: number | undefined,
    { take, broke }: Listener<Report>,
  ): Promise<void> {
    const { fault, faultMs } = this.nature;
    const isFire = order.do === 'fire';
    await sleep(this.#delay() + (isFire && fault === 'late-order' ? faultMs : 0));
    if (notAfterMs !== undefined && this.#now() > notAfterMs) return broke('its order came too late');
    if (order.do === 'arm') {
      if (fault === 'dies-at-arm') return broke('it ended (SIGKILL)');
      return take({ event: 'done', order: 'arm', result: this.#arm(order) });
    }
    if (order.do !== 'fire') return;
    const done = await this.#fire(order);
    if (fault === 'dies-in-window') return broke('it ended (SIGKILL)');
    await sleep(this.#delay());
    if (fault !== 'never-reports') take({ event: 'done', order: 'fire', result: done });
  }

  #arm({ connections: planned }: ArmOrder): LoadReport['connect'] {
    this.#connections = planned;
    return { planned, established: planned, seconds: 0.1, refused: 0, retried: 0 };
  }

  async #fire({ atMs, warmupSeconds, windowSeconds }: FireOrder): Promise<LoadReport> {
    const { fault, faultMs, perSecond } = this.nature;
    const startMs = atMs - this.#offsetMs;
    const opensMs = startMs + warmupSeconds * 1000 + (fault === 'opens-late' ? faultMs : 0);
    const closesMs = opensMs + windowSeconds * 1000;
    const stepMs = 1000 / perSecond;
    for (let at = startMs + this.#random.float() * stepMs; at < closesMs + 100; at += stepMs)
      this.answers.push({ atMs: at, latencyUs: 100 + this.#random.below(50_000) });
    await sleep(opensMs - Date.now());
    if (fault === 'clock-steps') this.#offsetMs += faultMs;
    const openedAtMs = opensMs + this.nature.offsetMs;
    await sleep(closesMs - Date.now());
    this.window = { fromMs: opensMs, toMs: closesMs };
    const counted = this.counted();
    const ok = Array.from({ length: Math.ceil((windowSeconds * 1000) / SLICE_MS) }, () => 0);
    for (const { atMs: at } of counted) ok[Math.floor((at - opensMs) / SLICE_MS)]!++;
    return {
      connect: {
        planned: this.#connections,
        established: this.#connections,
        seconds: 0,
        refused: 0,
        retried: 0,
      },
      openedAtMs,
      closedAtMs: openedAtMs + windowSeconds * 1000,
      windowSeconds,
      counts: sampleCounts({ ok: counted.length }),
      lifetime: sampleCounts({ ok: this.answers.length }),
      statusCodes: { 200: counted.length },
      latencyHistogram: encodeLatencies(counted),
      timing: undefined,
      cycleUs: { sum: (this.#connections * 1e6 * counted.length) / perSecond, count: counted.length },
      silentConnections: 0,
      slices: { milliseconds: SLICE_MS, ok },
      bodyBytes: 10,
      bodiesHashed: counted.length,
      schedule: undefined,
      use: { cpuUs: 1000, seconds: windowSeconds, utilisation: 0.1 },
    };
  }

  counted(): Answer[] {
    const { fromMs, toMs } = this.window ?? { fromMs: 0, toMs: 0 };
    return this.within(fromMs, toMs);
  }

  /** The responses in a span of true time. */
  within(fromMs: number, toMs: number): Answer[] {
    return this.answers.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
  }

  #now(): number {
    return Date.now() + this.#offsetMs;
  }

  #delay(): number {
    return 1 + this.#random.below(this.nature.delayMs);
  }
}

export function encodeLatencies(answers: readonly Answer[]): string {
  const histogram = createHistogram();
  for (const { latencyUs } of answers) histogram.recordValue(latencyUs);
  return encodeHistogram(histogram);
}
