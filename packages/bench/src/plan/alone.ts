/** Plans that measure targets of a run alone, on one machine: for profiles, and for the A/A trials of hosts. */
import type { Target } from 'bench-model/target';
import type { Plan, PlannedTrial } from 'bench-model/plan';
import { nameTrial } from './plan.ts';
import { fewestBusy } from './rungs.ts';

/**
 * Returns the plan of fresh servers of these targets, one at a time in a closed loop of the load driver of Bench, at the busy
 * rung of a plan. `run` is its id.
 */
export function planAlone(plan: Plan, run: string, targets: readonly Target[], rounds = 1): Plan {
  const {
    byTurns: _byTurns,
    sequentialTest: _test,
    background: _background,
    cluster: _cluster,
    spread: _spread,
    ...rest
  } = plan;
  const connections = fewestBusy(plan.rungs);
  const cells = Array.from({ length: rounds }, (_, index) =>
    targets.map(({ id }) => ({ target: id, round: index + 1 })),
  ).flat();
  return {
    ...rest,
    run,
    targets: [...targets],
    rungs: [connections],
    rounds,
    load: { mode: 'closed' },
    engine: 'autocannon',
    // On one machine: those of a cluster are spread over its hosts.
    generators: plan.cluster === undefined ? plan.generators : 1,
    trials: cells.map((cell, order) => planOne(plan.seed, { ...cell, connections, order })),
  };
}

function planOne(
  seed: number,
  { target, connections, round, order }: Omit<PlannedTrial, 'id' | 'seed'>,
): PlannedTrial {
  return {
    id: nameTrial({ target, connections, round, order }),
    target,
    connections,
    round,
    order,
    seed: (seed + order) % 2 ** 32,
  };
}
