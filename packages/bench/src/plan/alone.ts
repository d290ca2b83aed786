/** Plans that measure targets of a run alone, on one machine: for studies of warm-up, and for the A/A trials of hosts. */
import type { Target } from '../model.ts';
import type { Plan, PlannedTrial } from './definition.ts';
import { fewestBusy } from './warmup.ts';

/**
 * Returns the plan of fresh servers of these targets, one at a time in a closed loop of the load driver of Bench, at the busy
 * rung of a plan. `run` is its id.
 */
export function planAlone(plan: Plan, run: string, targets: readonly Target[], rounds = 1): Plan {
  const {
    byTurns: _byTurns,
    sequentialTest: _test,
    autoWarmup: _auto,
    background: _background,
    cluster: _cluster,
    spread: _spread,
    warmups: _warmups,
    ...rest
  } = plan;
  const own = targets.map(({ engine: _engine, ...target }) => target);
  const connections = fewestBusy(plan.rungs);
  const cells = Array.from({ length: rounds }, (_, index) =>
    own.map(({ id }) => ({ target: id, round: index + 1 })),
  ).flat();
  return {
    ...rest,
    run,
    targets: own,
    rungs: [connections],
    rounds,
    load: { mode: 'closed' },
    engine: 'autocannon',
    // On one machine: those of a cluster are spread over its hosts.
    generators: plan.cluster === undefined ? plan.generators : 1,
    proveLimit: false,
    trials: cells.map(({ target, round }, order): PlannedTrial => ({
      id: `${String(order + 1).padStart(3, '0')}-${target.replaceAll(/[^\w.+-]+/g, '_')}`,
      target,
      connections,
      round,
      order,
      seed: (plan.seed + order) % 2 ** 32,
    })),
  };
}
