/** One trial in the life of a server: its requests, what was found and its record. */
import { warmupSecondsOf, ROUTE_SECONDS } from 'bench-model/planned';
import { toBenchError } from 'bench-model/errors';
import type { CompanionName } from 'bench-model/companions';
import type { FailedTrial, Placement, Trial, TrialHead, TrialTail } from 'bench-model/record';
import type { Measured } from 'bench-model/measured';
import { isFatal, isFinding, makeReason, type Reason } from 'bench-model/reasons';
import { present } from 'bench-model/options';
import type { Plan, PlannedTrial } from 'bench-model/plan';
import type { Target } from 'bench-model/target';
import { RECORD_SCHEMA } from 'bench-model/versions';
import type { UserRequests } from 'bench-model/requests';
import { drawRoute, type Draw } from 'bench-targets/catalogue/workloads/workload';
import { CompanionError, type RunningCompanion } from '../services/companion.ts';
import type { TrialContext, TrialEffects } from './effects.ts';
import type { Expected } from './verify.ts';

/** The responses of a verification by the index of their request, and its begin on the monotonic clock. */
export interface SeenAnswers {
  atMs: number;
  bodies: Map<number, Buffer>;
}

/** A trial while it is measured. */
export class LifeTrial {
  readonly planned: PlannedTrial;
  readonly head: TrialHead;
  /** The correct responses to its requests, and the responses that showed them; undefined until it is verified. */
  verified: { expected: Expected; seen: SeenAnswers } | undefined;
  measured: Measured | undefined;
  beside: Partial<Record<CompanionName, Measured['server']>> = {};
  /** The opening of its first window. */
  opening: { nowMs: number; answers: number; cores: number[] | undefined } | undefined;
  /** The time under load before its first window, in seconds. */
  #warmedSeconds = 0;
  readonly #reasons: Reason[] = [];
  readonly #explain: (error: unknown) => Reason;
  /** The index of the only request that it sends; undefined if it sends all. */
  readonly #route: number | undefined;
  #failed = false;

  /** `explain` returns the reason of a failure. */
  constructor(
    planned: PlannedTrial,
    context: TrialContext,
    effects: TrialEffects,
    explain: (error: unknown) => Reason,
  ) {
    this.planned = planned;
    this.#explain = explain;
    this.head = headOf(planned, context, effects);
    const { route } = planned;
    this.#route = route === undefined ? undefined : context.plan.routes?.indexOf(route);
  }

  get failed(): boolean {
    return this.#failed;
  }

  /** Adds the time of a warm-up, in seconds: with all requests, or with its own. */
  addWarmup(seconds: number): void {
    this.#warmedSeconds += seconds;
    this.head.warmupSeconds = Math.round(1000 * this.#warmedSeconds) / 1000;
  }

  /** Returns the draw of its own requests. */
  drawOf(draw: Draw): Draw {
    const route = this.#route === undefined ? undefined : draw.routes?.[this.#route];
    return route === undefined ? draw : drawRoute(draw, route);
  }

  /** Returns those of the asked requests that it sends. */
  requestsOf(userRequests: UserRequests): UserRequests {
    const { requests } = userRequests;
    return this.#route === undefined
      ? userRequests
      : { ...userRequests, requests: requests.slice(this.#route, this.#route + 1) };
  }

  /** Adds reasons; a fatal one fails the trial and comes before the others, after those that failed it already. */
  add(...reasons: readonly Reason[]): void {
    const fatal = reasons.filter(isFatal);
    this.#reasons.splice(this.#reasons.findLastIndex(isFatal) + 1, 0, ...fatal);
    this.#reasons.push(...reasons.filter((reason) => !isFatal(reason)));
    this.#failed ||= fatal.length > 0;
  }

  fail(error: unknown): void {
    this.#reasons.unshift(this.#explain(error));
    this.#failed = true;
  }

  /** Returns its record, with the last lines of the server if there is anything to explain. */
  record(known: TrialTail, logTail: string[] | undefined, companions: Pick<Measured, 'companions'>): Trial {
    const { head } = this;
    const reasons = this.#reasons;
    const tail: TrialTail = { ...known, ...(reasons.length > 0 && present({ logTail })) };
    const measured = this.measured && { ...this.measured, ...companions };
    if (this.#failed || measured === undefined) {
      const partial = measured ?? companions;
      const failed: FailedTrial = { ...head, ...tail, status: 'failed', reasons };
      return Object.keys(partial).length === 0 ? failed : { ...failed, partial };
    }
    // What the server did takes no figure away.
    const status = reasons.every(isFinding) ? 'ok' : 'suspect';
    return { ...head, ...tail, status, reasons, measured };
  }
}

function headOf(
  planned: PlannedTrial,
  { plan, target, prepared, placed }: TrialContext,
  effects: TrialEffects,
): TrialHead {
  const { name, version } = effects.load();
  return {
    ...plannedHead(planned, { plan, target, placement: placed.placement, atMs: effects.now() }),
    engine: name,
    ...present({
      runtime: prepared?.runtime,
      driver: version === undefined ? undefined : { name, version },
    }),
    ...headsOf(effects.companions, target),
  };
}

function headsOf(companions: readonly RunningCompanion[], target: Target): Pick<TrialHead, 'companions'> {
  const heads = companions
    .map((running) => [running.name, running.head(target)] as const)
    .filter(([, head]) => head !== undefined);
  return heads.length === 0 ? {} : { companions: Object.fromEntries(heads) };
}

/** Returns the head of a trial as far as its plan defines it. `atMs` is its beginning, in ms since the epoch. */
export function plannedHead(
  planned: PlannedTrial,
  { plan, target, placement, atMs }: { plan: Plan; target: Target; placement: Placement; atMs: number },
): TrialHead {
  const { run, workload, params, engine, load, workers, threads, cores, timeoutSeconds } = plan;
  return {
    schema: RECORD_SCHEMA,
    run,
    ...planned,
    target,
    attested: [],
    workload,
    startedAt: new Date(atMs).toISOString(),
    engine,
    load,
    workers,
    ...present({ params, threads, cores }),
    placement,
    warmupSeconds: warmupSecondsOf(plan, planned) + (planned.life === undefined ? 0 : ROUTE_SECONDS.warmup),
    timeoutSeconds,
    ...(plan.quick && { quick: true as const }),
  };
}

/** Returns the reason of a failure. */
export function toReason(error: unknown): Reason {
  // A bug in Bench is data too, but it must be recognisable.
  const code = error instanceof CompanionError ? 'companion' : toBenchError(error) ? 'trial' : 'defect';
  if (code === 'defect' && process.env['DEBUG'] !== undefined) console.error(error);
  return makeReason(code, { message: messageOf(error) });
}

/** Returns the message of an error. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
