import type { Figure, Row } from './summary.ts';

/** Goodput this close to the highest counts as the highest, a share: 5 %. */
export const PLATEAU = 0.05;

const FEWEST_RUNGS = 3;

/** A target over its connection ladder: what more connections buy. */
export interface Ladder {
  target: string;
  class: Row['class'];
  /** By rising connections. */
  rungs: Row[];
  knee: Knee | NoKnee;
  /** Where goodput falls again; absent where it stands, or nothing holds beyond its highest. */
  fall?: Fall;
}

/** Where goodput reaches its ceiling, all in connections. */
export interface Knee {
  /** The least rung within 5 % of the highest goodput: the knee is there or below. */
  at: number;
  /** The last rung below it that fell short in every round: the knee is beyond. Absent where none did. */
  above?: number;
  /** N*, at most: with more connections requests must queue. Absent where the ladder begins beyond it. */
  queuesFrom?: number;
}

/** Why there is no knee to name, and the rung that decides it. */
export interface NoKnee {
  why: 'open-loop' | 'too-few-rungs' | 'nothing-holds' | 'still-rising' | Doubt;
  connections?: number;
}

/** Why a goodput cannot decide anything. */
export type Doubt = 'not-measured' | 'lower-bound' | 'invalid';

/** The rung from which on goodput lies below every round of the highest, and by which share of its median. */
export interface Fall {
  connections: number;
  share: number;
}

/**
 * One ladder for each target, in the order of `rows` as `summarise` gives them.
 *
 * A closed loop of N connections gives at most min(N ÷ (R + Z), Xmax) answers a second, where R + Z is the cycle of
 * an unhindered connection in seconds. The two bounds meet at N* = Xmax (R + Z), the knee: beyond it requests must
 * queue, goodput stays, and the cycle grows as N ÷ Xmax (Lazowska et al. 1984, "Quantitative System Performance",
 * ch. 5; Jain 1991, "The Art of Computer Systems Performance Analysis", 33.6). The ladder brackets it: goodput was
 * short of its highest at one rung and is within 5 % of it at a later one. Fitted elbows (Satopää et al. 2011) need
 * more points than a ladder has.
 *
 * It is named only where the highest goodput, the knee's own and that of the rung after it hold: a lower bound there
 * may hide a higher ceiling. In an open loop the rate sets goodput, not the connections.
 */
export function toLadders(rows: Row[], isOpenLoop: boolean): Ladder[] {
  const targets = [...Map.groupBy(rows, ({ target }) => target).values()];
  return targets.map((rungs) => {
    const [first] = rungs as [Row];
    const fall = findFall(stepsOf(rungs));
    return {
      target: first.target,
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
  if (highest === undefined) return { why: 'nothing-holds' };
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
  // Requests may have queued in the shortest cycle seen, too: N* is at most this.
  const cycleSeconds = Math.min(...exact.map(({ connections, median }) => connections / median));
  const queuesFrom = highest.median * cycleSeconds;
  return {
    at: at.connections,
    ...(above && { above: above.connections }),
    ...(queuesFrom < at.connections && { queuesFrom }),
  };
}

/** The first rung beyond the highest that lies below all its rounds, with every later one that holds. */
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

/** The rungs whose goodput holds, be it as a lower bound. */
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
