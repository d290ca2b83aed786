/** The committed run as it could have been measured on other days. */
import type { StoredRun } from 'bench-analysis/results/store';
import { readGoldenRun } from './samples.ts';

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
