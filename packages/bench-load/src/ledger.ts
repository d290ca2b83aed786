import { createHash, type Hash } from 'node:crypto';
import type { JsHistogram } from 'hdr-histogram-js';
import { performance } from 'node:perf_hooks';
import { ownCpuUs } from 'bench-machine/cpu';
import { countAnswers, joinIdleCloses } from 'bench-model/counts';
import { orUndefined } from 'bench-model/errors';
import type { Counts } from 'bench-model/figures';
import type { FirstWrong, IdleCloses, Slices, TlsUse } from 'bench-model/load';
import { present } from 'bench-model/options';
import { Arrivals, createArrival, type Arrival } from './arrivals.ts';
import { createHistogram, encodeHistogram, Latencies, recordMilliseconds } from 'bench-statistics/histogram';
import { idsIn } from 'bench-targets/catalogue/workloads/stamps';
import { haveIds, isConditional } from 'bench-targets/catalogue/workloads/workload';
import type { SchemaCheck } from 'bench-targets/catalogue/workloads/requests/schema';
import { isRightStatus } from 'bench-targets/catalogue/workloads/requests/status';
import { routesOf } from './cycle.ts';
import { Population } from './population.ts';
import type { LoadReport, LoadSpec, RouteReport, RouteSpec, StartReport } from './protocol.ts';

type Outcome = Exclude<keyof Counts, 'sent' | 'inFlight'>;

/** The width of a slice; it divides every width that steadiness needs. */
const SLICE_MS = 50;

/** The most bytes of right bodies that are kept, so that each response is compared with them: far more than most workloads have. */
const KEPT_BYTES = 32 * 2 ** 20;

/** Scatters a number over 32 bits (Mueller's finalizer): neighbours have nothing in common. */
function scatter(number: number): number {
  let bits = Math.imul(number ^ (number >>> 16), 0x45d9f3b);
  bits = Math.imul(bits ^ (bits >>> 16), 0x45d9f3b);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/** The state of one connection, across all its reconnects. */
export class Slot {
  /** True if a request was sent and has no outcome yet. */
  pending = false;
  /** The address that it connects from; undefined if the system chooses. */
  source: string | undefined;
  /** True while its request waits for its connection to be established. */
  isConnecting = false;
  /** The time at which its request was given to the connection, in ms of the monotonic clock. */
  sentAt = 0;
  /** The intended start of its request, in ms of the monotonic clock; undefined in a closed loop. */
  intendedAt: number | undefined;
  /** The time for which it waited although a connection was free, in ms; only in an open loop. */
  lateMs = 0;
  /** True if it pauses until its turn. */
  isHeld = false;
  /** True if its first connect has started. */
  begun = false;
  isEstablished = false;
  /** The end of the previous request, in ms of the monotonic clock; undefined before the first. */
  lastEnd: number | undefined;
  completions = 0;
  /** The index of the open request in the workload. */
  request = 0;
  /** The requests whose responses are alike in their bytes have the same number: the index of the request, or one of its route. */
  shape = 0;
  /** The pieces of a response that is checked against a JSON Schema, or kept if its hash is right. */
  pieces: Buffer[] | undefined;
  /** The right body, with which the response is compared as it arrives; undefined if its hash tells. */
  right: Buffer | undefined;
  /** True if a byte so far was not that of the right body. */
  differs = false;
  /** The id of the request and the received part of its response; undefined if requests have no ids. */
  own: { id: string; answer: Buffer[] } | undefined;
  bodyBytes = 0;
  hash: Hash | undefined;
  /** The time that the current answer reports (Server-Timing), in ms. */
  toldMs: number | undefined;
  readonly arrival: Arrival = createArrival();
}

/** Fills the gaps between slices with 0, and adds empty slices up to this many ms. */
function padSlices(slices: readonly number[], milliseconds: number): number[] {
  const length = Math.max(slices.length, Math.floor(milliseconds / SLICE_MS));
  return Array.from({ length }, (_, slice) => slices[slice] ?? 0);
}

/** True if its request has no outcome yet, whether it was sent or waits for its connection. */
function isOpen({ pending, isConnecting }: Slot): boolean {
  return pending || isConnecting;
}

/** Returns the time since a response arrived, in ms: no response arrives before its request was sent. */
function sinceArrival(arrivedAt: number, now: number, sinceSent: number): number {
  return Math.max(0, Math.min(now - arrivedAt, sinceSent));
}

function copy(bytes: Buffer, from: number, to: number): Buffer {
  return Buffer.from(bytes.subarray(from, to));
}

function compareBytes(slot: Slot, right: Buffer, bytes: Buffer): void {
  const end = slot.bodyBytes + bytes.length;
  slot.differs ||= end > right.length || right.compare(bytes, 0, bytes.length, slot.bodyBytes, end) !== 0;
}

function forgetBody(slot: Slot): void {
  slot.hash = undefined;
  slot.pieces = undefined;
  slot.right = undefined;
}

function emptyCounts(): Counts {
  return { sent: 0, ok: 0, non2xx: 0, mismatch: 0, timeout: 0, reset: 0, closedEarly: 0, inFlight: 0 };
}

/** Adds 1 to a count. The two of nearly every request are written out, which saves looking up their names. */
function increment(counts: Counts, what: Outcome | 'sent'): void {
  if (what === 'sent') counts.sent++;
  else if (what === 'ok') counts.ok++;
  else counts[what]++;
}

/** The age of a request without a response. */
interface Age {
  milliseconds: number;
  /** The index of its route; undefined if it was never sent. */
  route: number | undefined;
}

/** Returns the ages as an encoded histogram; undefined if there are none. */
function encodeAges(ages: readonly Age[]): string | undefined {
  if (ages.length === 0) return undefined;
  const histogram = createHistogram();
  for (const { milliseconds } of ages) recordMilliseconds(histogram, milliseconds);
  return encodeHistogram(histogram);
}

/** The account of all windows since the begin, or since the last restart. */
class Account {
  readonly counts = emptyCounts();
  readonly statusCodes: Record<string, number> = {};
  readonly latencies = new Latencies();
  /** The lower bounds of the same latencies: a busy process reads answers later than they arrive. */
  readonly shortest = new Latencies();
  /** The latencies of an open loop without the time that requests waited although a connection was free. */
  sinceSent: Latencies | undefined;
  /** For the same responses: the reported time and the rest of the latency. Absent until a response reports its time. */
  timing: { metric: string; told: JsHistogram; rest: JsHistogram } | undefined;
  /** The times of the connects. */
  readonly connects = new Latencies();
  readonly cycleUs = { sum: 0, count: 0 };
  readonly slices: Required<Slices> = { milliseconds: SLICE_MS, ok: [], cpuUs: [] };
  bodiesHashed = 0;
  /** The mismatches that carried the id of another request. */
  crossed = 0;
  /** The first response with a wrong body; undefined without any. */
  firstWrong: FirstWrong | undefined;
  /** The requests that were open when a window opened. */
  carried = 0;
  /** The time for which the windows were open, in ms. */
  openMs = 0;
  /** The population over this time, in requests × ms. */
  population = 0;
  /** The completions of each connection before the first window, and the connections without any in the windows. */
  completionsBefore: number[] | undefined;
  silentConnections = 0;
  /** The ages of the requests that were open when a window closed. A load without a window, such as a part of the warm-up, has none. */
  readonly openAges: Age[] = [];
  /** The ages of those that got no response after it either, when the wait for them ended. */
  readonly unansweredAges: Age[] = [];
  /** The part of each route; empty if there is only one. */
  readonly routes: { counts: Counts; histogram: JsHistogram }[];

  constructor(routes: number) {
    this.routes = Array.from({ length: routes }, () => ({
      counts: emptyCounts(),
      histogram: createHistogram(),
    }));
  }
}

/** The part of a load that the ledger needs. */
type LedgerSpec = Pick<LoadSpec, 'expected' | 'hashEvery' | 'requests' | 'routes' | 'timing'>;

/** The part of the report of a session that its ledger knows. */
type LedgerReport = Omit<LoadReport, 'connect' | 'openedAtMs' | 'closedAtMs' | 'windowSeconds' | 'use'>;

/**
 * Accounts for every request of one session exactly once: over the whole life, and over the window, which may open
 * several times (servers that take turns alternate). Requests that were open when the window opened count as sent in it, so that in
 * both accounts
 * sent = ok + non2xx + mismatch + timeout + reset + closedEarly + inFlight.
 */
export class Ledger {
  readonly slots: Slot[] = [];
  readonly lifetime = emptyCounts();
  account: Account;
  /** The correct responses before the first window, in slices of the time under load. */
  readonly warmup: { milliseconds: number; ok: number[] } = { milliseconds: SLICE_MS, ok: [] };
  /** The connections that the server closed because they were idle, since the first connect; undefined without any. */
  idleCloses: IdleCloses | undefined;
  /** The TLS of the connections; undefined for plain HTTP. */
  tls: TlsUse | undefined;
  unsolicited = 0;
  bodyBytes: number | undefined;
  begun = 0;
  standing = 0;
  /** The time at which the last connection was established, in ms of the monotonic clock. */
  stoodAt = -Infinity;
  /**
   * True if latencies and cycles belong to the window in which they began, even if they end after it; by default they
   * belong to the one in which they end. A short window ends before its slow responses do, and would omit them.
   */
  timesByStart = false;
  /** The open requests of an open loop, those that wait for a connection included. */
  readonly population = new Population();
  /** Called when the window closes. */
  onClose: () => void = () => {};
  /** Called when a request has ended. */
  onEnd: () => void = () => {};
  /** The responses of each route so far whose right body is known. */
  readonly #answers: number[] = [];
  /** The counts of each route over the whole life; empty if there is only one. */
  readonly #routeLifetimes: Counts[];
  readonly #routeOf: number[] = [];
  readonly #routes: RouteSpec[];
  readonly #schemas: readonly (SchemaCheck | undefined)[];
  /** For each route and each status: true if it is right. */
  readonly #right: boolean[][];
  #open = false;
  #openedAt = 0;
  /** The slice of the last correct response, and the CPU of this process by then. */
  #slice = 0;
  #cpuUs = 0;
  #closesAt = Infinity;
  #closedAt = -Infinity;
  /** The moment at which a busy process closed it: until then, requests are sent. */
  #endedAt = -Infinity;
  /** The start of the current warm-up, in ms of the monotonic clock; undefined outside a warm-up. */
  #warmingSince: number | undefined;
  /** The time under load in earlier warm-ups, in ms. */
  #warmedBefore = 0;
  /** The responses when the first window opened; undefined before. */
  #answersBefore: number | undefined;
  /** The population at the opening of the window, in requests × ms. */
  #populationBefore = 0;
  readonly #timing: string | undefined;
  readonly #haveIds: boolean;
  readonly #expected: LoadSpec['expected'];
  readonly #hashEvery: number;
  /** The right body of each request, once a response had the right hash. */
  readonly #bodies: (Buffer | undefined)[] = [];
  /** The bytes of right bodies that may still be kept. */
  #roomBytes: number;
  readonly #arrivals: Arrivals;
  /** For each request of the cycle: true if 304 is a correct response. */
  readonly #mayBeUnchanged: boolean[];

  /** `schemas` are the compiled schemas of the routes, by their index. `keptBytes` is the most that right bodies may have together. */
  constructor(
    spec: LedgerSpec,
    arrivals = new Arrivals(),
    schemas: readonly (SchemaCheck | undefined)[] = [],
    keptBytes = KEPT_BYTES,
  ) {
    const { expected, hashEvery, requests, timing } = spec;
    this.#timing = timing;
    this.#haveIds = haveIds(requests);
    this.#expected = expected;
    this.#hashEvery = hashEvery;
    this.#roomBytes = keptBytes;
    this.#arrivals = arrivals;
    this.#mayBeUnchanged = requests.map(isConditional);
    this.#routes = routesOf(spec);
    this.#schemas = schemas;
    this.#right = this.#routes.map(({ statuses }) =>
      Array.from({ length: 600 }, (_, status) => isRightStatus(status, statuses)),
    );
    for (const [route, { first, count }] of this.#routes.entries())
      for (let request = first; request < first + count; request++) this.#routeOf[request] = route;
    this.#routeLifetimes = this.#routes.length > 1 ? this.#routes.map(emptyCounts) : [];
    this.account = new Account(this.#routeLifetimes.length);
  }

  addSlot(): Slot {
    const slot = new Slot();
    this.slots.push(slot);
    return slot;
  }

  /** Forgets all windows so far: the account of a window begins with the next one. That of the session goes on. */
  restart(): void {
    this.account = new Account(this.#routeLifetimes.length);
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /** The open requests, counted from the slots: the independent side of the identity. */
  countInFlight(): number {
    return this.slots.reduce((sum, slot) => sum + (slot.pending ? 1 : 0), 0);
  }

  /** The end of the last request, in ms of the monotonic clock. */
  lastEndMs(): number {
    return Math.max(...this.slots.map((slot) => slot.lastEnd ?? this.#openedAt));
  }

  /** Called before these slots (by default all) send: a paused slot begins its cycle now, not at its last response. */
  wake(slots = this.slots): void {
    const now = performance.now();
    for (const slot of slots) if (!slot.pending && slot.lastEnd !== undefined) slot.lastEnd = now;
  }

  /** Records the start of a connect. */
  begin(slot: Slot): void {
    if (!slot.begun) this.begun++;
    slot.begun = true;
    slot.isConnecting = true;
  }

  /** Records that a connection was opened, this many ms after its connect began. */
  connect(milliseconds: number): void {
    if (this.#open) this.account.connects.record(milliseconds);
  }

  /**
   * Records that the server closed a connection after this silence in ms; `hasRequest` is true if that crossed a request,
   * which is sent again.
   */
  closeIdle(milliseconds: number, hasRequest: boolean): void {
    const seconds = milliseconds / 1000;
    const one = { count: 1, sentAgain: Number(hasRequest), leastSeconds: seconds, mostSeconds: seconds };
    this.idleCloses = joinIdleCloses(this.idleCloses === undefined ? [one] : [this.idleCloses, one]);
  }

  /** Records that a request was sent. */
  send(slot: Slot): void {
    slot.pending = true;
    slot.isConnecting = false;
    slot.bodyBytes = 0;
    this.#count(slot, 'sent', this.#open);
  }

  /** Records that this process has worked outside the delivery of a response. */
  work(): void {
    this.#arrivals.work();
  }

  /** Records received bytes, or the end of the connection. */
  arrive(slot: Slot): void {
    this.#arrivals.note(slot.arrival);
  }

  /** Records a piece of the body of a response. The bytes may change afterwards. */
  receive(slot: Slot, bytes: Buffer, from = 0, to = bytes.length): void {
    if (slot.own !== undefined) slot.own.answer.push(copy(bytes, from, to));
    else if (slot.bodyBytes === 0) this.#choose(slot);
    if (slot.right !== undefined) compareBytes(slot, slot.right, bytes.subarray(from, to));
    slot.bodyBytes += to - from;
    slot.hash?.update(bytes.subarray(from, to));
    slot.pieces?.push(copy(bytes, from, to));
  }

  /**
   * Chooses how every byte of a response is checked: against the right body, against its hash if there is no room for the
   * bodies of all requests, or against a schema. The last two check one in `hashEvery` of each route, by scattered numbers:
   * a server that is wrong every so many responses would be in step with counted ones, and so would its rows.
   */
  #choose(slot: Slot): void {
    const { request } = slot;
    const route = this.#routeOf[request] ?? 0;
    const expected = this.#expected?.[request] ?? undefined;
    const schema = this.#schemas[route];
    if (expected === undefined && schema === undefined) return;
    if (schema === undefined) {
      slot.differs = false;
      slot.right = this.#bodies[request];
      if (slot.right !== undefined) return;
      if (expected !== undefined && expected.bytes <= this.#roomBytes) {
        slot.hash = createHash('sha256');
        slot.pieces = [];
        return;
      }
    }
    const answers = this.#answers[route] ?? 0;
    this.#answers[route] = answers + 1;
    if (scatter(answers) % this.#hashEvery !== 0) return;
    if (schema === undefined) slot.hash = createHash('sha256');
    else slot.pieces = [];
  }

  #keep(request: number, pieces: readonly Buffer[]): void {
    if (this.#bodies[request] !== undefined) return;
    const body = Buffer.concat(pieces);
    this.#roomBytes -= body.length;
    this.#bodies[request] = body;
  }

  /** Counts an event of one request in the account of the session and in that of its route. */
  #count({ request }: Slot, what: Outcome | 'sent', isInWindow: boolean): void {
    const route = this.#routeOf[request] ?? 0;
    const lifetime = this.#routeLifetimes[route];
    increment(this.lifetime, what);
    if (lifetime !== undefined) increment(lifetime, what);
    if (!isInWindow) return;
    const { counts, routes } = this.account;
    const own = routes[route];
    increment(counts, what);
    if (own !== undefined) increment(own.counts, what);
  }

  #countOpen(what: 'sent' | 'inFlight'): void {
    const { counts, routes } = this.account;
    for (const { pending, request } of this.slots) {
      if (!pending) continue;
      counts[what]++;
      const own = routes[this.#routeOf[request] ?? 0];
      if (own !== undefined) own.counts[what]++;
    }
  }

  countAll(): Counts {
    return { ...this.lifetime, inFlight: this.countInFlight() };
  }

  /** Returns the account of all windows, with the starts that the schedule of an open loop has counted. */
  report(starts?: StartReport): LedgerReport {
    const { counts, carried, openMs, population, timing, sinceSent, ...account } = this.account;
    const connects = account.connects.histogram;
    return {
      counts,
      lifetime: this.countAll(),
      statusCodes: account.statusCodes,
      latencyHistogram: encodeHistogram(account.latencies.histogram),
      shortestHistogram: encodeHistogram(account.shortest.histogram),
      sinceSentHistogram: sinceSent && encodeHistogram(sinceSent.histogram),
      openAges: encodeAges(account.openAges),
      unansweredAges: encodeAges(account.unansweredAges),
      timing: timing && {
        metric: timing.metric,
        told: encodeHistogram(timing.told),
        rest: encodeHistogram(timing.rest),
      },
      cycleUs: account.cycleUs,
      silentConnections: account.silentConnections,
      opened: {
        count: connects.totalCount,
        ...(connects.totalCount > 0 && { connects: encodeHistogram(connects) }),
      },
      tls: this.tls,
      idleCloses: this.idleCloses,
      slices: account.slices,
      warmup: { ...this.warmup, answers: this.#answersBefore ?? countAnswers(this.lifetime) },
      bodyBytes: this.bodyBytes,
      bodiesHashed: account.bodiesHashed,
      routes: this.#reportRoutes(),
      crossed: this.#haveIds ? account.crossed : undefined,
      firstWrong: account.firstWrong,
      unsolicited: this.unsolicited,
      schedule: starts && {
        ...starts,
        started: counts.sent - carried,
        meanOpen: population / openMs,
      },
    };
  }

  /** The account of each route; undefined if there is only one. */
  #reportRoutes(): RouteReport[] | undefined {
    const { routes, openAges } = this.account;
    if (routes.length === 0) return undefined;
    return routes.map(({ counts, histogram }, route) => ({
      counts,
      lifetime: {
        ...(this.#routeLifetimes[route] as Counts),
        inFlight: this.slots.filter((slot) => slot.pending && this.#routeOf[slot.request] === route).length,
      },
      latencyHistogram: encodeHistogram(histogram),
      openAges: encodeAges(openAges.filter((age) => age.route === route)),
    }));
  }

  /**
   * Records a complete response, read at `now`, this many ms after its request was sent. Its latency ends with its arrival.
   * Returns its outcome.
   */
  complete(slot: Slot, status: number, milliseconds: number, now = performance.now()): Outcome {
    const { bodyBytes } = slot;
    const body = slot.own === undefined ? this.#judgeBytes(slot) : this.#judgeOwn(slot, slot.own);
    const outcome = !this.#isRight(status, slot) ? 'non2xx' : body === 'right' ? 'ok' : 'mismatch';
    const first = !slot.isEstablished;
    if (now >= this.#closesAt) this.close();
    if (first) {
      slot.isEstablished = true;
      this.standing++;
      this.stoodAt = now;
    }
    if (this.#open) {
      const { statusCodes, slices } = this.account;
      statusCodes[status] = (statusCodes[status] ?? 0) + 1;
      if (outcome === 'mismatch') this.#noteWrong(slot, body, now);
      if (outcome === 'ok') {
        const slice = Math.floor(this.#openMs(now) / SLICE_MS);
        if (slice !== this.#slice) this.#turnTo(slice);
        slices.ok[slice] = (slices.ok[slice] ?? 0) + 1;
        this.bodyBytes = bodyBytes;
      }
    } else if (this.#warmingSince !== undefined && outcome === 'ok') {
      const slice = Math.floor((this.#warmedBefore + now - this.#warmingSince) / SLICE_MS);
      this.warmup.ok[slice] = (this.warmup.ok[slice] ?? 0) + 1;
    }
    if (outcome === 'ok' && !first && this.#isTimed(slot)) this.#record(slot, now, milliseconds);
    this.#end(slot, outcome, now, now - sinceArrival(slot.arrival.by, now, milliseconds));
    return outcome;
  }

  #noteWrong({ request, bodyBytes }: Slot, body: 'right' | 'wrong' | 'crossed', now: number): void {
    if (body === 'crossed') this.account.crossed++;
    else
      this.account.firstWrong ??= {
        seconds: this.#openMs(now) / 1000,
        bytes: bodyBytes,
        ...present({ rightBytes: this.#expected?.[request]?.bytes }),
      };
  }

  /** Records a lost request. */
  lose(slot: Slot, outcome: 'timeout' | 'reset' | 'closedEarly'): void {
    forgetBody(slot);
    const now = performance.now();
    if (now >= this.#closesAt) this.close();
    if (outcome === 'timeout' && !this.#open) this.#noteUnanswered(slot, now);
    this.#end(slot, outcome, now);
  }

  /** Records a request that was due and had no connection when the window closed. `intended` is on the monotonic clock. */
  leave(intended: number): void {
    this.population.end(intended);
    this.account.openAges.push({ milliseconds: this.#closedAt - intended, route: undefined });
  }

  /** Called when the wait for the responses after a window is over. */
  settle(): void {
    const now = performance.now();
    for (const slot of this.slots) if (isOpen(slot)) this.#noteUnanswered(slot, now);
  }

  #ageOf({ intendedAt, sentAt, request }: Slot, at: number): Age {
    return { milliseconds: at - (intendedAt ?? sentAt), route: this.#routeOf[request] ?? 0 };
  }

  /** Records the age of a request that was open when the window closed and is not going to be answered. */
  #noteUnanswered(slot: Slot, now: number): void {
    if (slot.sentAt > this.#endedAt) return;
    const age = this.#ageOf(slot, now);
    this.account.unansweredAges.push(age);
    // The latencies of its window include those of the responses after it.
    if (this.timesByStart) this.account.openAges.push(age);
  }

  /** Records the start of a load before the first window; later ones, between the windows of its turns, do not count. */
  beginWarmup(): void {
    if (this.#answersBefore === undefined) this.#warmingSince = performance.now();
  }

  /** Records the end of the load before a window. */
  endWarmup(): void {
    if (this.#warmingSince === undefined) return;
    this.#warmedBefore += performance.now() - this.#warmingSince;
    this.#warmingSince = undefined;
    this.warmup.ok = padSlices(this.warmup.ok, this.#warmedBefore);
  }

  /** The time under load until now, in seconds. */
  get loadSeconds(): number {
    const now = performance.now();
    const warming = this.#warmingSince === undefined ? 0 : now - this.#warmingSince;
    const open = this.#open ? now - this.#openedAt : 0;
    return (this.#warmedBefore + warming + this.account.openMs + open) / 1000;
  }

  /**
   * Opens the window for this many ms, or opens it again. Open requests count as sent in it. It closes with the first
   * request that ends after its time, or by `close`, whichever comes first: in a loop that is busy with thousands of
   * responses, a timer would be late.
   */
  open(milliseconds: number): void {
    if (milliseconds > 0 && this.#answersBefore === undefined) {
      this.#answersBefore = countAnswers(this.lifetime);
      // Each part of the warm-up ended with open requests, which no window sent. Its bodies were checked.
      const { bodiesHashed } = this.account;
      this.restart();
      this.account.bodiesHashed = bodiesHashed;
    }
    this.#countOpen('sent');
    this.account.carried += this.countInFlight();
    this.account.completionsBefore ??= this.slots.map((slot) => slot.completions);
    this.#openedAt = performance.now();
    this.#closesAt = this.#openedAt + milliseconds;
    this.#populationBefore = this.population.until(this.#openedAt);
    this.population.closesAtMs = this.#closesAt;
    this.#slice = Math.floor(this.account.openMs / SLICE_MS);
    this.#cpuUs = ownCpuUs();
    this.#open = true;
  }

  /** Gives what this process used since the last slice to that slice. */
  #turnTo(slice: number): void {
    const before = this.#cpuUs;
    this.#cpuUs = ownCpuUs();
    const { cpuUs } = this.account.slices;
    cpuUs[this.#slice] = (cpuUs[this.#slice] ?? 0) + this.#cpuUs - before;
    this.#slice = slice;
  }

  /** Closes the window if it is open. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#countOpen('inFlight');
    this.#endedAt = performance.now();
    this.#closedAt = Math.min(this.#endedAt, this.#closesAt);
    const { account } = this;
    account.population += this.population.until(this.#closedAt) - this.#populationBefore;
    this.population.closesAtMs = Infinity;
    if (!this.timesByStart && this.#closesAt > this.#openedAt)
      for (const slot of this.slots)
        if (isOpen(slot)) this.account.openAges.push(this.#ageOf(slot, this.#closedAt));
    account.openMs += this.#closedAt - this.#openedAt;
    this.#turnTo(this.#slice);
    for (const column of ['ok', 'cpuUs'] as const)
      account.slices[column] = padSlices(account.slices[column], account.openMs);
    account.silentConnections = this.slots.filter(
      (slot, index) => slot.completions === account.completionsBefore?.[index],
    ).length;
    this.onClose();
  }

  /** Records the latencies of a response that was read this many ms after its request was sent; both end with its arrival. */
  #record(
    { request, toldMs, intendedAt, lateMs, arrival: { from, by } }: Slot,
    now: number,
    sinceSent: number,
  ): void {
    const since = intendedAt === undefined ? sinceSent : now - intendedAt;
    const milliseconds = since - sinceArrival(by, now, sinceSent);
    const { account } = this;
    account.latencies.record(milliseconds);
    if (intendedAt !== undefined) (account.sinceSent ??= new Latencies()).record(milliseconds - lateMs);
    const own = account.routes[this.#routeOf[request] ?? 0];
    if (own !== undefined) recordMilliseconds(own.histogram, milliseconds);
    account.shortest.record(since - sinceArrival(from, now, sinceSent));
    if (toldMs === undefined || this.#timing === undefined) return;
    account.timing ??= { metric: this.#timing, told: createHistogram(), rest: createHistogram() };
    recordMilliseconds(account.timing.told, toldMs);
    recordMilliseconds(account.timing.rest, milliseconds - toldMs);
  }

  /** The time that the window has been open, in ms. */
  #openMs(now: number): number {
    return this.account.openMs + now - this.#openedAt;
  }

  #end(slot: Slot, outcome: Outcome, now: number, arrivedAt = now): void {
    slot.pending = false;
    if (slot.intendedAt !== undefined) this.population.end(arrivedAt);
    this.#count(slot, outcome, this.#open);
    slot.completions++;
    if (slot.lastEnd !== undefined && this.#isTimed(slot)) {
      this.account.cycleUs.sum += (now - slot.lastEnd) * 1000;
      this.account.cycleUs.count++;
    }
    slot.lastEnd = now;
    this.onEnd();
  }

  /** True if the latency and the cycle of the request that ends belong to the window. */
  #isTimed({ lastEnd = -Infinity }: Slot): boolean {
    if (!this.timesByStart) return this.#open;
    return lastEnd >= this.#openedAt && (this.#open || lastEnd < this.#closedAt);
  }

  #isRight(status: number, { request }: Slot): boolean {
    const isRight = this.#right[this.#routeOf[request] ?? 0]?.[status] === true;
    return isRight || (status === 304 && this.#mayBeUnchanged[request] === true);
  }

  /** Compares the length, and the bytes as was chosen. */
  #judgeBytes(slot: Slot): 'right' | 'wrong' {
    const expected = this.#expected?.[slot.request] ?? undefined;
    const isWrong = expected !== undefined && slot.bodyBytes !== expected.bytes;
    const { right, hash, pieces } = slot;
    forgetBody(slot);
    if (right !== undefined) {
      this.account.bodiesHashed++;
      return isWrong || slot.differs ? 'wrong' : 'right';
    }
    if (hash !== undefined) {
      this.account.bodiesHashed++;
      if (isWrong || hash.digest('hex') !== expected?.sha256) return 'wrong';
      if (pieces !== undefined) this.#keep(slot.request, pieces);
      return 'right';
    }
    if (pieces !== undefined) return this.#judgeSchema(slot, pieces);
    // An empty body is not JSON.
    if (slot.bodyBytes === 0 && this.#schemas[this.#routeOf[slot.request] ?? 0] !== undefined) return 'wrong';
    // For an empty body, the length is enough.
    if (expected?.bytes === 0) this.account.bodiesHashed++;
    return isWrong ? 'wrong' : 'right';
  }

  #judgeSchema(slot: Slot, pieces: Buffer[]): 'right' | 'wrong' {
    this.account.bodiesHashed++;
    const isRight = orUndefined(() => {
      const value: unknown = JSON.parse(Buffer.concat(pieces).toString());
      return this.#schemas[this.#routeOf[slot.request] ?? 0]?.(value) === undefined;
    });
    return isRight === true ? 'right' : 'wrong';
  }

  /** Compares the whole body and the ids in it. */
  #judgeOwn(slot: Slot, { id, answer }: NonNullable<Slot['own']>): 'right' | 'wrong' | 'crossed' {
    this.account.bodiesHashed++;
    const text = (answer.length === 1 ? (answer[0] as Buffer) : Buffer.concat(answer)).toString('latin1');
    const around = this.#expected?.[slot.request]?.around;
    if (around !== undefined && text === around.join(id)) return 'right';
    const ids = idsIn(text);
    if (ids.some((one) => one !== id)) return 'crossed';
    return around === undefined && ids.length > 0 ? 'right' : 'wrong';
  }
}
