/** The committed run as it could have been measured on other days. */
import type { StoredRun } from 'bench-analysis/results/store';
import { present } from 'bench-model/options';
import type { Interpreter } from 'bench-model/target';
import { okTrial, readGoldenRun, sampleMeasured, samplePlan } from './samples.ts';

const DAY_MS = 86_400_000;

/** Returns the committed run, measured this many days later. */
export function runOn(day: number, change: (run: StoredRun) => Partial<StoredRun> = () => ({})): StoredRun {
  const run = readGoldenRun();
  const later = {
    ...run,
    plan: { ...run.plan, run: `day-${day}` },
    trials: run.trials.map((trial) => ({
      ...trial,
      startedAt: new Date(Date.parse(trial.startedAt) + day * DAY_MS).toISOString(),
    })),
  };
  return { ...later, ...change(later) };
}

/** A runtime of a planted run: its CPU per request in µs, and what differs from CPython 3.x by one maker. */
export interface PlantedRuntime {
  cpu: number;
  version: string;
  build?: Record<string, string>;
  interpreter?: { [Name in keyof Interpreter]?: Interpreter[Name] | undefined };
}

/** Returns a run of one stack on these runtimes, by what is typed for each. The rounds differ by up to 1 %. */
export function runOnRuntimes(
  runtimes: Record<string, PlantedRuntime>,
  line = '--rounds 12 --connections 10',
): StoredRun {
  const drawn = samplePlan(line, ['fastapi']);
  const plan = {
    ...drawn,
    targets: Object.keys(runtimes).map((spec) => ({
      ...drawn.targets[0]!,
      id: `fastapi@${spec}`,
      runtime: { kind: 'python' as const, spec },
    })),
  };
  const trials = Array.from({ length: plan.rounds }, (_, index) =>
    plan.targets.map((target) => {
      const { cpu, version, build = {}, interpreter } = runtimes[target.runtime.spec]!;
      const cost = cpu * (1 + (((index * 7) % 11) - 5) / 1000);
      return {
        ...okTrial(target.id, sampleMeasured({ cpu: cost }), { round: index + 1 }),
        target,
        runtime: { ...target.runtime, version, build },
        interpreter: {
          implementation: 'CPython',
          version,
          ...present({ maker: 'Debian or Ubuntu', ...interpreter }),
        },
      };
    }),
  ).flat();
  return { ...readGoldenRun(), plan, trials };
}
