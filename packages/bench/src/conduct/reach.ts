/** The differences that a plan finds, and the time that they take, at the noise of this machine's stored runs. */
import { usualMetric } from 'bench-model/planned';
import type { Budget } from 'bench-analysis/budgets';
import type { Sought } from 'bench-analysis/outlook';
import { thresholdFor } from 'bench-model/options';
import type { Plan } from 'bench-model/plan';
import { describeBudget } from 'bench-report/budgets';
import { describeNoise, describePower, describeReach } from 'bench-report/stopping';
import { readNoise } from './noise.ts';
import type { ResolvedRequest } from './resolve.ts';

/** Returns the metric and the threshold by which the targets of a run are compared. */
export function questionOf(plan: Plan): Pick<Sought, 'by' | 'threshold'> {
  const { by = usualMetric(plan), threshold = thresholdFor(by) } = plan.sequentialTest ?? {};
  return { by, threshold };
}

/**
 * Says of a plan, before it runs, which differences it finds: those that reach a verdict, those at which `--fail-on` fails,
 * or those that break the budgets of a job. Empty if it compares nothing; if no stored run tells, only a dry run says so.
 */
export async function foreseeDifferences(
  plan: Plan,
  { raw: { failOn = [] }, budgets }: Pick<ResolvedRequest, 'raw' | 'budgets'>,
  { isDry = false }: { isDry?: boolean } = {},
): Promise<string[]> {
  if (plan.targets.length < 2 || plan.quick) return [];
  const questions = budgets?.flatMap(soughtByBudget) ?? soughtByRun(plan, failOn);
  const lines: string[] = [];
  for (const [by, own] of Map.groupBy(questions, (question) => question.by)) {
    const stored = await readNoise(plan, by);
    lines.push(
      ...own.flatMap(({ label, ...sought }) => describeReach(plan, stored.noise, sought, label)),
      ...(plan.sequentialTest?.by === by ? describePower(plan, stored.noise) : []),
      ...(isDry || stored.noise.length > 0 ? describeNoise(plan, stored, by) : []),
    );
  }
  return lines;
}

/** A question to a plan, and the words for its answer. */
type Labelled = Sought & { label?: string };

function soughtByRun(plan: Plan, failOn: readonly string[]): Labelled[] {
  const question = questionOf(plan);
  const failing = failOn.filter((verdict) => verdict === 'slower' || verdict === 'faster');
  return [
    { ...question, finding: 'verdict' },
    ...(failing.length === 0
      ? []
      : [{ ...question, finding: 'beyond' as const, label: `--fail-on ${failing.join()} fails at` }]),
  ];
}

function soughtByBudget(budget: Budget): Labelled[] {
  const { limit, metric: by } = budget;
  if (limit.kind === 'figure') return [];
  const { share: threshold, against: baseline } = limit;
  return [
    {
      by,
      threshold,
      baseline,
      finding: 'beyond',
      label: `${describeBudget(budget)}: broken by a difference of`,
    },
  ];
}
