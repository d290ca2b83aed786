/** Open loops on one server, one after the other: the search of its capacity, and the other loads of a plan. */
import { CURVE, curveStepSeconds } from 'bench-model/planned';
import type { Plan } from 'bench-model/plan';
import type { Promised } from 'bench-model/promise';
import type { LoadMode } from 'bench-model/settings';
import type { Window } from 'bench-load/engine';
import { joinSampled } from 'bench-machine/resources/sampler';
import {
  CapacitySearch,
  GAP_SEEDS,
  paceOf,
  type Curve,
  type MeasuredStep,
  type PlannedStep,
} from './capacity.ts';
import { attempt, openWindow, type Loaded } from './loaded.ts';

/** Takes open loops on one server, each apart, on the same connections. */
export class OpenLoops {
  readonly #one: Loaded;
  readonly #plan: Plan;
  #taken = 0;

  constructor(one: Loaded, plan: Plan) {
    this.#one = one;
    this.#plan = plan;
  }

  /** Returns the goodput of a closed loop of this length, without a window. */
  async pace(seconds: number): Promise<number> {
    const load = { mode: 'closed', ...this.#connecting } as const;
    const closed = await openWindow(this.#one, { warmupSeconds: seconds, windowSeconds: 0, load });
    return paceOf(closed.load, seconds);
  }

  /** Returns the seed of the gaps of the next loop: targets of one round get the same gaps. */
  gaps(): { gapSeed: number } {
    const { round } = this.#one.side.outcome.planned;
    return { gapSeed: this.#plan.seed + GAP_SEEDS * (GAP_SEEDS * round + this.#taken++) };
  }

  async take(step: PlannedStep): Promise<MeasuredStep> {
    const window: Window = {
      warmupSeconds: step.rampSeconds,
      windowSeconds: step.seconds,
      load: { mode: 'open', perSecond: step.perSecond, ...this.#connecting },
      ...this.gaps(),
      isApart: true,
    };
    return { ...step, ...(await openWindow(this.#one, window)) };
  }

  /** Measures the other loads of the plan; shares are of this capacity. */
  async measureCurve(capacity = 0): Promise<void> {
    const { load } = this.#plan;
    const { outcome, result } = this.#one.side;
    const points = 'curve' in load ? (load.curve ?? []) : [];
    await attempt(outcome, async () => {
      const curve: Curve = [];
      for (const point of points) {
        const perSecond = 'share' in point ? point.share * capacity : point.perSecond;
        const seconds = curveStepSeconds(this.#plan, perSecond);
        curve.push({
          ...('share' in point && point),
          ...(await this.take({ perSecond, rampSeconds: CURVE.rampSeconds, seconds })),
        });
      }
      if (curve.length > 0) result.curve = curve;
    });
  }

  get #connecting(): Pick<LoadMode, 'newConnections'> {
    const { newConnections } = this.#plan.load;
    return newConnections === true ? { newConnections } : {};
  }
}

/** The closed loop before a search, whose pace tells the first rate: its shortest time, and the responses of a connection. */
const PACE_SECONDS = 0.5;
const PACE_CYCLES = 3;

/**
 * Searches the capacity of a server that keeps these promises, by open loops. `warm` warms it up, and returns the time between the
 * responses of a connection, in seconds.
 */
export async function searchCapacity(
  one: Loaded,
  plan: Plan,
  promises: readonly Promised[],
  warm: () => Promise<number>,
): Promise<void> {
  const { life, outcome, result, samples } = one.side;
  const loops = new OpenLoops(one, plan);
  await attempt(outcome, async () => {
    const cycleSeconds = await warm();
    if (outcome.failed) return;
    const pacePerSecond = await loops.pace(Math.max(PACE_SECONDS, PACE_CYCLES * cycleSeconds));
    const search = new CapacitySearch(promises, {
      seconds: plan.windowSeconds,
      pacePerSecond,
      earlier: life.earlier,
      isBrief: plan.sequentialTest !== undefined,
    });
    const steps: MeasuredStep[] = [];
    for (let step = search.next(); step !== undefined; step = search.next()) {
      const measured = await loops.take(step);
      search.add(step, measured.load);
      steps.push(measured);
    }
    const found = search.result();
    await loops.measureCurve(found.perSecond);
    const { load, sampled } = steps[found.nearest] as MeasuredStep;
    Object.assign(result, { load, search: { found, pacePerSecond, steps } });
    const all = joinSampled(steps.flatMap((step) => step.sampled ?? []));
    // What disturbed any of the steps disturbed the search.
    if (sampled !== undefined && all !== undefined) samples.push({ ...sampled, host: all.host });
  });
}
