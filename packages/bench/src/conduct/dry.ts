/** Describes and checks a plan before anything is measured. */
import { findShortBudget } from 'bench-analysis/time-budget';
import { FEWEST_WITH_SPREAD } from 'bench-statistics/two-way';
import { BenchError } from 'bench-model/errors';
import { countOf, formatBudget, typeBudget } from 'bench-report/format';
import { describePlan } from 'bench-report/plan';
import { planFrom, probing, type ResolvedRequest } from './resolve.ts';

/** Throws a usage error if `--fail-on` could find nothing: the plan compares no targets. */
export function refuseFailOn({ raw: { failOn }, plan }: ResolvedRequest): void {
  if (failOn === undefined || plan.background !== undefined) return;
  if (plan.targets.length < 2) {
    throw new BenchError(
      'usage',
      '--fail-on compares the targets of a run, and the plan has one',
      'name a second target',
    );
  }
  if (plan.rounds >= FEWEST_WITH_SPREAD || plan.sequentialTest !== undefined) return;
  throw new BenchError(
    'usage',
    `--fail-on needs a comparison, and ${countOf(plan.rounds, 'round')} cannot show one`,
    'omit --rounds, or write --rounds 12',
  );
}

/** Warm-ups that take longer than is usual for a language make a run up to half as long again. */
const LONGER_WARMUPS = 1.5;

/** Throws a usage error if the budget of a plan ends before its comparisons have the rounds that they need. */
export function refuseBudget({ plan, resumed }: Pick<ResolvedRequest, 'plan' | 'resumed'>): void {
  const short = resumed === undefined ? findShortBudget(plan) : undefined;
  if (short === undefined) return;
  const { budgetSeconds, held, needed, enoughSeconds } = short;
  throw new BenchError(
    'usage',
    `a budget of ${formatBudget(budgetSeconds)} allows about ${countOf(held, 'round')}, and a comparison needs ${needed}`,
    `use --budget ${typeBudget(LONGER_WARMUPS * enoughSeconds)} or more`,
  );
}

/** Describes a plan. If its rate is measured first, the description includes the run that measures it. */
export function describeDry(request: ResolvedRequest): string {
  const { raw, options, plan } = request;
  if (!raw.autoRate) return `${describePlan(plan)}\n`;
  const probe = planFrom(`${plan.run}-probe`, probing(options));
  const first = `first, to find the rate: ${describePlan(probe).split('\n\n')[0]}`;
  return `${first}\n\nthen: ${describePlan(plan, 'open loop at half of the slowest goodput')}\n`;
}
