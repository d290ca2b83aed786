/** Plans that measure targets of a run alone, on one machine: for profiles, and for the A/A trials of hosts. */
import type { Target } from 'bench-model/target';
import type { Plan } from 'bench-model/plan';
import { nameTrial } from './plan.ts';
import { fewestBusy } from './rungs.ts';

/**
 * Returns the plan of fresh servers of these targets, one at a time in a closed loop of the load driver of Bench, at the busy
 * rung of a plan: A B, B A, and so on. `run` is its id.
 */
export function planAlone(plan: Plan, run: string, targets: readonly Target[], rounds: number): Plan {
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
    (index % 2 === 0 ? targets : targets.toReversed()).map(({ id }) => ({ target: id, round: index + 1 })),
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
    trials: cells.map((cell, order) => {
      const placed = { ...cell, connections, order };
      return { ...placed, id: nameTrial(placed), seed: (plan.seed + order) % 2 ** 32 };
    }),
  };
}
