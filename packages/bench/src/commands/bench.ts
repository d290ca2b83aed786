import { BENCH } from '../cli/bench.ts';
import { createRunner, print } from './shell.ts';

/**
 * Loads the code of a step when the command reaches it: a usage error needs no plan, and a dry run nothing that measures.
 * The code that reports is loaded with the code that measures, so that a run ends with the code that it began with.
 */
export const runBench = createRunner(BENCH, async (asked) => {
  const { foresee } = await import('./request.ts');
  const foreseen = await foresee(asked);
  const { describeDry, refuseBudget, refuseFailOn } = await import('./dry.ts');
  refuseFailOn(foreseen);
  refuseBudget(foreseen);
  if (foreseen.options.dryRun) return print(await describeDry(foreseen));
  const { measureAndReport } = await import('./outcome.ts');
  return measureAndReport(foreseen);
});
