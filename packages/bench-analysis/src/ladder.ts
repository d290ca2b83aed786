import type { Figure, Row } from './summary.ts';

/** Goodput within this share of the highest counts as the highest: 5 %. */
export const PLATEAU = 0.05;

const FEWEST_RUNGS = 3;

/** A target over its connection ladder: the effect of more connections. */
export interface Ladder {
  target: string;
  route?: string;
  class: Row['class'];
  /** In ascending order of connections. */
  rungs: Row[];
  knee: Knee | NoKnee;
  /** Where goodput falls again; absent if it does not, or if no rung beyond the highest is valid. */
  fall?: Fall;
}

/** The point at which goodput reaches its ceiling, in connections. */
export interface Knee {
  /** The lowest rung within 5 % of the highest goodput: the knee is there or below. */
  at: number;
  /** The last rung below it that fell short in every round: the knee is above. Absent if none did. */
  above?: number;
  /** An upper bound of N*: with more connections, requests must queue. Absent if the ladder begins above it. */
  queuesFrom?: number;
}

/** The reason for having no knee, and the rung that decides it. */
export interface NoKnee {
  why: 'open-loop' | 'too-few-rungs' | 'none-valid' | 'still-rising' | Doubt;
  connections?: number;
}

/** The reason why a goodput decides nothing. */
export type Doubt = 'not-measured' | 'lower-bound' | 'invalid';

/** The first rung of a lasting fall below every round of the highest, and its share of the highest median. */
export interface Fall {
  connections: number;
  share: number;
}

/**
 * Builds one ladder for each target, in the order of `rows` from `summarise`.
 *
 * A closed loop of N connections gives at most min(N ÷ (R + Z), Xmax) answers a second, where R + Z is the cycle of
 * an unhindered connection in seconds. The two bounds meet at N* = Xmax (R + Z), the knee: beyond it requests must
 * queue, goodput stays level, and the cycle grows as N ÷ Xmax (Lazowska et al. 1984, "Quantitative System Performance",
 * ch. 5; Jain 1991, "The Art of Computer Systems Performance Analysis", 33.6). The ladder brackets it: goodput was
 * short of its highest at one rung and is within 5 % of it at a later one. Fitted elbows (Satopää et al. 2011) need
 * more points than a ladder has.
 *
 * A knee is found only if three goodputs are valid: the highest, that of the knee, and that of the next rung. A lower
 * bound there may hide a higher ceiling. In an open loop, the rate determines the goodput, not the connections.
 */
export function toLadders(rows: Row[], isOpenLoop: boolean): Ladder[] {
  const targets = [...Map.groupBy(rows, ({ target, route }) => JSON.stringify([target, route])).values()];
  return targets.map((rungs) => {
    const [first] = rungs as [Row];
    const fall = findFall(stepsOf(rungs));
    return {
      target: first.target,
      ...(first.route !== undefined && { route: first.route }),
      class: first.class,
      rungs,
      knee: findKnee(rungs, isOpenLoop),
      ...(fall && { fall }),
    };
  });
}

function findKnee(rungs: Row[], isOpenLoop: boolean): Knee | NoKnee {
  if (isOpenLoop) return { why: 'open-loop' };
  if (rungs.length < FEWEST_RUNGS) return { why: 'too-few-rungs' };
  const steps = stepsOf(rungs);
  const highest = highestOf(steps);
  if (highest === undefined) return { why: 'none-valid' };
  const mark = (1 - PLATEAU) * highest.median;
  const at = steps.find(({ median }) => median >= mark) ?? highest;
  const next = rungs.find(({ connections }) => connections > at.connections);
  const decisive = [highest.connections, at.connections, next?.connections];
  for (const row of rungs.filter(({ connections }) => decisive.includes(connections))) {
    const why = doubtOf(row);
    if (why !== undefined) return { why, connections: row.connections };
  }
  if (next === undefined) return { why: 'still-rising', connections: at.connections };

  const exact = steps.filter(({ atLeast }) => !atLeast);
  const above = exact.findLast(({ connections, most }) => connections < at.connections && most < mark);
  // Requests may have queued even in the shortest observed cycle: N* is at most this.
  const cycleSeconds = Math.min(...exact.map(({ connections, median }) => connections / median));
  const queuesFrom = highest.median * cycleSeconds;
  return {
    at: at.connections,
    ...(above && { above: above.connections }),
    ...(queuesFrom < at.connections && { queuesFrom }),
  };
}

/** Finds the first rung beyond the highest that lies below all its rounds, as do all later valid rungs. */
function findFall(steps: Step[]): Fall | undefined {
  const highest = highestOf(steps);
  if (highest === undefined) return undefined;
  const isBelow = ({ median, most, atLeast }: Step): boolean =>
    !atLeast && most < highest.least && median < (1 - PLATEAU) * highest.median;
  const beyond = steps.filter(({ connections }) => connections > highest.connections);
  const first = beyond[beyond.findLastIndex((step) => !isBelow(step)) + 1];
  return first && { connections: first.connections, share: 1 - first.median / highest.median };
}

/** The goodput of a rung. */
interface Step extends Figure {
  connections: number;
}

/** Selects the rungs whose goodput is valid or a lower bound. */
function stepsOf(rungs: Row[]): Step[] {
  return rungs.flatMap(({ connections, figures: { goodput } }) =>
    goodput !== undefined && (goodput.valid || goodput.atLeast) ? [{ ...goodput, connections }] : [],
  );
}

function highestOf(steps: Step[]): Step | undefined {
  return steps.toSorted((a, b) => b.median - a.median)[0];
}

function doubtOf({ figures: { goodput } }: Row): Doubt | undefined {
  if (goodput === undefined) return 'not-measured';
  if (goodput.atLeast) return 'lower-bound';
  return goodput.valid ? undefined : 'invalid';
}
