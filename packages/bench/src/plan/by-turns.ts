/**
 * Chooses the rungs at which the servers of a round run at the same time and take turns, and the length of their turns.
 * Turns share the momentary speed of the machine, so they show smaller differences than trials one after the other.
 */
import { engineNamed } from 'bench-model/engines';
import { workloadOf } from 'bench-targets/catalogue/workloads/index';
import type { Stack } from 'bench-model/stack';
import type { ByTurns, Plan } from 'bench-model/plan';
import type { Capacity } from 'bench-model/options';
import { canTakeTurns } from './refusals.ts';
import { TURN_SECONDS } from 'bench-model/planned';
import { LONGEST_TURN_SECONDS } from './turns.ts';

/** With at least this many rounds, targets are compared. */
const FEWEST_TO_COMPARE = 6;

/** The most connections of all servers together: one generator process holds them all. */
const MOST_CONNECTIONS = 10_000;

/**
 * The most servers of a table. The more there are, the longer each waits for its next turn, and the less two of them
 * share.
 */
const MOST_IN_TABLE = 8;

/** The answers on each connection that a turn has time for. A turn of a comparison is as short as it can be. */
export const TURN_ANSWERS = { comparison: 2, table: 10 };

/** The facts of a plan that decide. */
type TurnFacts = Pick<
  Plan,
  | 'answerSeconds'
  | 'asked'
  | 'attached'
  | 'background'
  | 'cluster'
  | 'engine'
  | 'load'
  | 'quick'
  | 'rounds'
  | 'rungs'
  | 'sequentialTest'
  | 'targets'
  | 'waitSeconds'
  | 'workload'
>;

/** Returns the rungs at which the targets of a plan take turns by default; undefined if there are none. */
export function chooseTurns(
  plan: TurnFacts,
  capacity: Capacity | undefined,
  stacks: readonly Stack[],
): ByTurns | undefined {
  if (capacity === undefined || !mayTakeTurns(plan)) return undefined;
  const compares = comparesRounds(plan);
  if (!(compares && plan.targets.length === 2) && !makesTable(plan, stacks)) return undefined;
  const { length } = plan.targets;
  if (length > capacity.servers) return undefined;
  const most = Math.min(MOST_CONNECTIONS, capacity.connections);
  const rungs = plan.rungs.filter((rung) => length * rung <= most);
  const turnSeconds = compares ? TURN_SECONDS.comparison : TURN_SECONDS.table;
  return rungs.length === 0 ? undefined : { rungs, turnSeconds };
}

function comparesRounds({ sequentialTest, rounds }: TurnFacts): boolean {
  return sequentialTest !== undefined || rounds >= FEWEST_TO_COMPARE;
}

/** Returns true if the targets of a plan can take turns at all. */
function mayTakeTurns(plan: TurnFacts): boolean {
  const { targets, waitSeconds, answerSeconds, background, cluster, load } = plan;
  return (
    targets.length > 1 &&
    canTakeTurns(targets.length, waitSeconds) &&
    fitTurns(answerSeconds) &&
    // The background request of one server would also disturb the others.
    background === undefined &&
    // Several hosts fire once, at one moment.
    cluster === undefined &&
    // Servers of different sizes need different cores.
    targets.every(({ scale }) => scale === undefined) &&
    // In the rest between two turns, requests of an open loop would become due and wait.
    load.mode === 'closed' &&
    [plan.engine, ...targets.flatMap(({ engine }) => engine ?? [])].every((name) => engineNamed(name)?.duels)
  );
}

/** Returns true if a turn has time for the answers that it needs: those of a slower server would come after it. */
export function fitTurns(answerSeconds = 0): boolean {
  return TURN_ANSWERS.comparison * answerSeconds <= LONGEST_TURN_SECONDS;
}

/**
 * Returns true if a plan measures a few stacks on a workload of Bench, without companions. Their servers keep idle
 * connections for longer than the others need for their turns, and do nothing between their own. Short runs measure one
 * server at a time.
 */
function makesTable(plan: TurnFacts, stacks: readonly Stack[]): boolean {
  const { targets, quick, asked, attached, waitSeconds } = plan;
  const workload = workloadOf(plan);
  const own = new Set(targets.map(({ stack }) => stack));
  return (
    targets.length <= MOST_IN_TABLE &&
    !quick &&
    asked === undefined &&
    attached === undefined &&
    waitSeconds === undefined &&
    workload.fixtures === undefined &&
    workload.stores !== true &&
    stacks.every(({ name, surroundings }) => surroundings === undefined || !own.has(name))
  );
}
