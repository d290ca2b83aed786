/** The requests of one server: its draw, the login, what the load sends, and the responses that are verified. */
import { describeSent } from 'bench-targets/catalogue/workloads/requests/sent';
import { workloadOf } from 'bench-targets/catalogue/workloads/index';
import { UnansweredError } from 'bench-targets/catalogue/workloads/send';
import {
  describeDifference,
  type Draw,
  type Route,
  type WorkloadRequest,
} from 'bench-targets/catalogue/workloads/workload';
import type { LoadSession } from 'bench-load/engine';
import type { LoadSpec, RouteSpec } from 'bench-load/protocol';
import type { Server } from 'bench-machine/launch';
import { TrialError } from 'bench-model/errors';
import type { LoadResult } from 'bench-model/load';
import { present } from 'bench-model/options';
import type { Plan, PlannedTrial } from 'bench-model/plan';
import { makeReason } from 'bench-model/reasons';
import { createRandom } from 'bench-statistics/random';
import { shareOf } from '../plan/rows.ts';
import type { TrialEffects } from './effects.ts';
import type { LifeTrial, SeenAnswers } from './trial.ts';
import type { Expected } from './verify.ts';

/** What a new token of a login concerns. */
export interface Renewal {
  session?: Pick<LoadSession, 'replace'>;
  trial?: LifeTrial | undefined;
  /** Takes the step of the login, whose CPU belongs to no figure. */
  aside?: <T>(step: () => Promise<T>) => Promise<T>;
}

interface Asking {
  planned: PlannedTrial;
  plan: Plan;
  effects: TrialEffects;
  /** Called with the status of each response that is checked; with undefined for a missing one. */
  onAnswer: (status: number | undefined) => void;
}

/** The bytes of a response that are kept to show where it has changed. */
const KEPT_BYTES = 2 ** 16;

/** The requests of one server, for all of its trials. */
export class Requests {
  /** The responses to requests of the harness so far, and those of the load in sessions that have ended. */
  answers = 0;
  /** The error in the last response that had one. */
  wrong: string | undefined;
  /** True until a login is answered. */
  isLoggingIn = false;
  readonly #asking: Asking;
  #draw: Draw;
  /** Undefined before it was launched. */
  #server: Server | undefined;
  /** The draw before the login, and the time of the last one in ms of the monotonic clock; undefined without a login. */
  #loggedIn: { draw: Draw; atMs: number } | undefined;

  constructor(asking: Asking) {
    const { plan, planned } = asking;
    this.#asking = asking;
    const random = createRandom(planned.seed);
    const share = shareOf(plan, planned);
    this.#draw = this.#watch(workloadOf(plan).draw(() => random.float(), plan.params ?? {}, share));
  }

  /** The draw, with the token of now. */
  get draw(): Draw {
    return this.#draw;
  }

  /** Counts and tells every response that is checked. */
  #watch(draw: Draw): Draw {
    const { login } = draw;
    return {
      ...draw,
      ...(login && {
        login: {
          ...login,
          complete: (answer) => {
            this.answers++;
            return login.complete(answer);
          },
        },
      }),
      check: (answer, index) => {
        this.answers++;
        this.#asking.onAnswer(answer.status);
        const wrong = draw.check(answer, index);
        this.wrong = wrong ?? this.wrong;
        return wrong;
      },
    };
  }

  /** Describes the requests of a trial in its record. */
  describe(trial: LifeTrial): void {
    const { userRequests } = this.#asking.plan;
    if (userRequests === undefined) return;
    trial.head.requests = describeSent(
      trial.requestsOf(userRequests),
      trial.drawOf(this.#draw),
      trial.verified,
    );
  }

  /** Logs in to a server that has just been launched, and waits for its first correct response. */
  async awaitServer(server: Server): Promise<void> {
    const { effects, plan } = this.#asking;
    const { draw } = this;
    this.#server = server;
    if (draw.login !== undefined) await this.#logIn(server, draw);
    await effects.awaitRightAnswer(server, this.#draw, plan.startSeconds);
  }

  /** Sends the login of a draw, whose token is used from now on. */
  async #logIn(server: Server, draw: Draw): Promise<void> {
    const { effects, plan } = this.#asking;
    if (effects.logIn === undefined) return;
    this.#loggedIn = { draw, atMs: performance.now() };
    this.isLoggingIn = true;
    this.#draw = this.#watch(await effects.logIn(server, draw, plan.startSeconds));
    this.isLoggingIn = false;
  }

  /**
   * Sends the login again if its token would be older than planned after this many seconds of load. Called while the server
   * is idle: its cost is in no figure.
   */
  async renewToken(
    seconds: number,
    { session, trial, aside = (step) => step() }: Renewal = {},
  ): Promise<void> {
    const { every = Infinity } = this.#asking.plan.userRequests?.login ?? {};
    const server = this.#server;
    if (this.#loggedIn === undefined || server === undefined) return;
    const { draw, atMs } = this.#loggedIn;
    if ((performance.now() - atMs) / 1000 + seconds <= every) return;
    await aside(() => this.#logIn(server, draw));
    await session?.replace?.(this.#toSend(trial?.drawOf(this.#draw) ?? this.#draw));
  }

  /** Returns the requests of a draw as the load sends them. */
  #toSend({ requests }: Draw): WorkloadRequest[] {
    if (this.#asking.plan.load.newConnections !== true) return requests;
    // A connection is closed after its response (RFC 9112, section 9.6).
    return requests.map((one) => ({ ...one, headers: { ...one.headers, connection: 'close' } }));
  }

  /** Returns the load of a trial, or of all requests but those that are sent once, whose rows belong to their trials. */
  specOf(trial: LifeTrial | undefined): LoadSpec {
    const { plan, planned } = this.#asking;
    const { host, port, tls } = this.#server as Server;
    const draw = trial?.drawOf(this.#draw) ?? this.#draw;
    const { order, routes } = draw;
    return {
      host,
      port,
      tls,
      requests: this.#toSend(draw),
      routes: routes?.map(toRouteSpec),
      order: trial === undefined ? order?.filter((route) => routes?.[route]?.once === undefined) : order,
      connections: planned.connections,
      timeoutSeconds: plan.timeoutSeconds,
      barrierSeconds: plan.barrierSeconds,
      expected: trial?.verified?.expected,
      spreadSeconds: plan.waitSeconds ?? plan.answerSeconds,
      hashEvery: plan.hashEvery,
      timing: draw.timing,
    };
  }

  /** Returns true if the load of all requests includes those of a trial. */
  isWarmedUp(trial: LifeTrial): boolean {
    return trial.drawOf(this.#draw).routes?.every(({ once }) => once === undefined) ?? true;
  }

  /** Verifies the requests of a trial before its load. Throws if they are answered wrongly. */
  async verifyBefore(trial: LifeTrial): Promise<void> {
    const seen = openSeen();
    trial.verified = { expected: await this.#verify(trial, seen, 'before'), seen };
    // The answers to requests that the server must refuse are not passed to the check.
    this.answers += trial.drawOf(this.#draw).refused?.length ?? 0;
  }

  /** Throws if the responses are wrong now. A server that still works for clients that have left only becomes suspect. */
  async verifyAfter(trial: LifeTrial, { lifetime }: LoadResult): Promise<void> {
    const { expected, seen: before = openSeen() } = trial.verified ?? {};
    const seen = openSeen();
    const after = await this.#verify(trial, seen, 'after').catch((error: unknown) => {
      if (!(error instanceof UnansweredError) || !lifetime?.inFlight) throw error;
      trial.add(makeReason('not-verified', { problem: error.message, inFlight: lifetime.inFlight }));
      return expected;
    });
    const changed = expected?.findIndex((one, at) => one !== null && one.sha256 !== after?.[at]?.sha256);
    if (changed === undefined || changed === -1) return;
    const { method, path } = trial.drawOf(this.#draw).requests[changed] ?? { method: '', path: '' };
    const seconds = ((seen.atMs - before.atMs) / 1000).toFixed(1);
    const [then, now] = [before, seen].map(({ bodies }) => bodies.get(changed));
    const where = then === undefined || now === undefined ? '' : `: ${describeDifference(now, then)}`;
    throw new TrialError(
      `${method} ${path}: the correct response after the load differs from that before it, ${seconds} s earlier${where}. If it may differ: "expect": { "status": 200 } of that request in stack.json`,
    );
  }

  async #verify(trial: LifeTrial, { bodies }: SeenAnswers, when: 'before' | 'after'): Promise<Expected> {
    const { effects, onAnswer } = this.#asking;
    const draw = trial.drawOf(this.#draw);
    const check: Draw['check'] = (answer, index) => {
      // A copy: the body can be large.
      if (!bodies.has(index)) bodies.set(index, Buffer.from(answer.body.subarray(0, KEPT_BYTES)));
      return draw.check(answer, index);
    };
    try {
      return await effects.verify(this.#server as Server, { ...draw, check }, `${when} the load`);
    } catch (error) {
      onAnswer(undefined);
      throw error;
    }
  }
}

function openSeen(): SeenAnswers {
  return { atMs: performance.now(), bodies: new Map() };
}

/** The requests of a route for the load: those of the checks are left out if each is sent once. */
function toRouteSpec({ first, count, statuses, schema, once }: Route): RouteSpec {
  const own =
    once === undefined
      ? { first, count }
      : { first: first + once, count: Math.max(0, count - once), once: true as const };
  return { ...own, statuses, ...present({ schema }) };
}
