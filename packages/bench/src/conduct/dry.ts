/** Describes and checks a plan before anything is measured. */
import { findShortBudget } from 'bench-analysis/time-budget';
import { FEWEST_WITH_SPREAD } from 'bench-statistics/two-way';
import { BenchError } from 'bench-model/errors';
import { commandLine } from 'bench-machine/home';
import { countOf, formatBudget } from 'bench-report/format';
import { describePlan } from 'bench-report/plan';
import { typeBudget } from 'bench-report/stopping';
import { foreseeDifferences } from './reach.ts';
import { planFrom, probing, type Foreseen } from './request.ts';

/** Throws a usage error if `--fail-on` could find nothing: the plan compares no targets. */
export function refuseFailOn({ plan, old, options: { failOn } }: Foreseen): void {
  if (failOn === undefined || plan.background !== undefined) return;
  if (plan.targets.length < 2) {
    throw new BenchError(
      'usage',
      '--fail-on compares the targets of a run, and the plan has one',
      old === undefined
        ? 'name a second target'
        : `measure its commit and another in one run: ${commandLine(`bench --again ${old.plan.run} --rev HEAD --fail-on ${failOn.join()}`)}`,
    );
  }
  if (plan.rounds >= FEWEST_WITH_SPREAD || plan.sequentialTest !== undefined) return;
  throw new BenchError(
    'usage',
    '--fail-on needs a comparison, and one round shows no noise to compare with',
    'add --until-decided, or --rounds 12',
  );
}

/** Throws a usage error if the budget of a plan ends before its comparisons have the rounds that they need. */
export function refuseBudget({ plan, stored }: Pick<Foreseen, 'plan' | 'stored'>): void {
  const short = stored === undefined ? findShortBudget(plan) : undefined;
  if (short === undefined) return;
  const { budgetSeconds, held, needed, enoughSeconds } = short;
  throw new BenchError(
    'usage',
    `a budget of ${formatBudget(budgetSeconds)} allows about ${countOf(held, 'round')}, and a comparison needs ${needed}`,
    `use --budget ${typeBudget(enoughSeconds)} or more`,
  );
}

/** Describes a plan. If its rate is measured first, the description includes the run that measures it. */
export async function describeDry(foreseen: Foreseen): Promise<string> {
  const { plan, options } = foreseen;
  const power = await foreseeDifferences(plan, foreseen);
  if (!options.autoRate) return `${describePlan(plan, { power })}\n`;
  const probe = planFrom(`${plan.run}-probe`, probing(options), undefined);
  const first = `first, to find the rate: ${describePlan(probe).split('\n\n')[0]}`;
  return `${first}\n\nthen: ${describePlan(plan, { load: 'open loop at half of the slowest goodput' })}\n`;
}
