/**
 * Chooses the rungs at which the servers of a round run at the same time and take turns, and the length of their turns.
 * Turns share the momentary speed of the machine, so they show smaller differences than trials one after the other.
 */
import { engineNamed } from 'bench-model/engines';
import { workloadOf } from 'bench-targets/catalogue/workloads/index';
import type { Stack } from 'bench-model/stack';
import type { Plan } from 'bench-model/plan';
import type { BenchOptions, Capacity } from 'bench-model/options';
import type { Untried } from './refusals.ts';
import { TURN_SECONDS } from 'bench-model/planned';
import { canTakeTurns, IDLE_SECONDS, LONGEST_TURN_SECONDS, sizeTurn } from './turns.ts';

/** With at least this many rounds, targets are compared. */
const FEWEST_TO_COMPARE = 6;

/** The most connections of all servers together: one generator process holds them all. */
const MOST_CONNECTIONS = 10_000;

/** The most servers that take turns: of more, each waits for longer, and two of them share less. */
const MOST_AT_ONCE = 8;

/** The answers on each connection that a turn has time for. A turn of a comparison is as short as it can be. */
export const TURN_ANSWERS = { comparison: 2, table: 10 };

/** A plan before its turns and windows are chosen. */
export type TurnFacts = Omit<Untried, 'windowSeconds' | 'byTurns' | 'apart'>;

/** The rungs at which the servers of a plan take turns, and the reason why they do not at the others. */
type TurnChoice = Pick<Plan, 'byTurns' | 'apart'>;

/** Chooses the rungs at which the targets of a plan take turns. The reason is absent for plans that never take turns. */
export function chooseTurns(
  plan: TurnFacts,
  { interleave, capacity }: Pick<BenchOptions, 'interleave' | 'capacity'>,
  stacks: readonly Stack[],
): TurnChoice {
  const { targets, rungs, quick } = plan;
  if (interleave === false) return {};
  if (interleave === true) return { byTurns: { rungs, turnSeconds: TURN_SECONDS.comparison } };
  const compares = plan.sequentialTest !== undefined || plan.rounds >= FEWEST_TO_COMPARE;
  if (targets.length < 2 || quick || !mayTakeTurns(plan) || !(compares || makesTable(plan, stacks)))
    return {};
  const apart = whyApart(plan, capacity, stacks);
  if (apart !== undefined || capacity === undefined) return apart === undefined ? {} : { apart };
  const most = Math.min(MOST_CONNECTIONS, capacity.connections);
  const together = rungs.filter((rung) => targets.length * rung <= most);
  const turnSeconds = compares ? TURN_SECONDS.comparison : TURN_SECONDS.table;
  return {
    ...(together.length > 0 && { byTurns: { rungs: together, turnSeconds } }),
    ...(together.length < rungs.length && {
      apart: `the ${targets.length} servers of a round together can have ${most.toLocaleString('en-US')} connections`,
    }),
  };
}

/** Returns true if the load of a plan can be split into turns. */
function mayTakeTurns({ targets, background, cluster, load }: TurnFacts): boolean {
  return (
    // The background request of one server would also disturb the others.
    background === undefined &&
    // Several hosts fire once, at one moment.
    cluster === undefined &&
    // Servers of different sizes need different cores.
    targets.every(({ scale }) => scale === undefined) &&
    // In the rest between two turns, requests of an open loop would become due and wait.
    load.mode === 'closed'
  );
}

/** Returns the reason why the targets of a plan cannot take turns at any rung; undefined if they can. */
function whyApart(
  plan: TurnFacts,
  capacity: Capacity | undefined,
  stacks: readonly Stack[],
): string | undefined {
  const { targets, waitSeconds, engine } = plan;
  const { length } = targets;
  const workload = workloadOf(plan);
  const own = stacks.filter(({ name }) => targets.some(({ stack }) => stack === name));
  const fixed = findFixedPort(own);
  const reasons: [boolean, string][] = [
    [engineNamed(engine)?.takesTurns !== true, `${engine} does not load servers in turn`],
    [capacity === undefined, 'the CPU time of each server cannot be read between turns without a cgroup'],
    [
      length > (capacity?.servers ?? Infinity),
      `the memory of this machine may not hold the ${length} servers of a round`,
    ],
    [
      own.some(({ port }) => port !== undefined),
      'a server always listens on one port. If it read PORT, they could take turns, which shows smaller differences',
    ],
    [length > MOST_AT_ONCE, `more than ${MOST_AT_ONCE} servers would wait too long for their turns`],
    [!canTakeTurns(length, waitSeconds), `each response waits ${waitSeconds} s`],
    [
      fixed !== undefined,
      `each server needs its own service ${fixed?.name}, which has the fixed port ${fixed?.port}`,
    ],
    [
      length > 2 && (workload.fixtures !== undefined || workload.stores === true),
      `the servers of ${workload.name} share their companion`,
    ],
  ];
  return reasons.find(([applies]) => applies)?.[1];
}

/** Returns the first service that only one server at a time can have. */
function findFixedPort(stacks: readonly Stack[]): { name: string; port: number } | undefined {
  const all = stacks.flatMap(({ surroundings }) => Object.entries(surroundings?.services ?? {}));
  for (const [name, service] of all)
    if ('command' in service && service.port !== undefined && service.per !== 'run')
      return { name, port: service.port };
  return undefined;
}

/**
 * Returns true if turns have time for the responses that they need, on the connections of this many servers: those of a slower
 * server would come after its turn, or its connections would be idle for longer than servers keep them. One core computes
 * the responses of all connections one after the other.
 */
export function fitTurns(
  answerSeconds = 0,
  { servers = 2, connections = 1 }: { servers?: number; connections?: number } = {},
): boolean {
  if (TURN_ANSWERS.comparison * answerSeconds > LONGEST_TURN_SECONDS) return false;
  const needs = { leastSeconds: TURN_SECONDS.comparison, turnAnswers: TURN_ANSWERS.comparison };
  const { rampSeconds, spanSeconds } = sizeTurn(connections * answerSeconds, needs);
  return (servers - 1) * (rampSeconds + spanSeconds) <= IDLE_SECONDS;
}

/** Returns true if a plan of a few rounds measures stacks without companions, whose own figures count in a table. */
function makesTable(plan: TurnFacts, stacks: readonly Stack[]): boolean {
  const { targets, attached, waitSeconds } = plan;
  const workload = workloadOf(plan);
  const own = new Set(targets.map(({ stack }) => stack));
  return (
    targets.length <= MOST_AT_ONCE &&
    attached === undefined &&
    waitSeconds === undefined &&
    workload.fixtures === undefined &&
    workload.stores !== true &&
    stacks.every(({ name, surroundings }) => surroundings === undefined || !own.has(name))
  );
}
