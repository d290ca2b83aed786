import { randomInt } from 'node:crypto';
import { compareRuns, compareWithin } from '../analyse/compare.ts';
import { describeUnknown, unlikeRuns } from '../analyse/unlike.ts';
import { FEWEST_ROUNDS } from '../analyse/verdict.ts';
import { BENCH, type BenchRequest } from '../cli/bench.ts';
import { readStacks } from '../catalogue/stacks.ts';
import { findCrossCheck } from '../load/engines.ts';
import { tryCgroup } from '../machine/cgroup.ts';
import { BenchError } from '../errors.ts';
import { DEFAULT_THRESHOLD, type BenchOptions } from '../plan/options.ts';
import { enginesOf, makePlan, nameRun, repeatPlan } from '../plan/plan.ts';
import type { Plan } from '../plan/definition.ts';
import { hide, secretsOf } from '../redact.ts';
import { describeChanges } from '../report/changes.ts';
import { renderComparison } from '../report/compare.ts';
import { describeDetail } from '../report/detail.ts';
import { renderJson } from '../report/json.ts';
import { renderTerminal } from '../report/terminal.ts';
import { describeEnding, describeProspects } from '../report/stopping.ts';
import { describePlan, toView } from '../report/view.ts';
import { restoreSecrets } from '../plan/secrets.ts';
import { findRun, readRun, shown, type StoredRun } from '../results/store.ts';
import { measurePlan, type Job } from './measure.ts';
import { openSession } from './session.ts';
import { print, printJson, createRunner, logLine, widthFor } from './shell.ts';

/** A closed loop that measures roughly how fast each target is. */
const PROBE = { load: { mode: 'closed' as const }, rounds: 1, warmupSeconds: 1, windowSeconds: 2 };

export const runBench = createRunner(BENCH, async (asked) => {
  const mayDuel = (await tryCgroup()).version !== undefined;
  const crossCheck = asked.crossCheck === 'any' ? { crossCheck: await findCrossCheck() } : {};
  const options = { ...asked, ...crossCheck, mayDuel };
  const stored = options.resume === undefined ? undefined : readRun(findRun(options.resume));
  const old = options.again === undefined ? undefined : readRun(findRun(options.again));
  const run = stored?.plan.run ?? nameRun(old?.plan.workload ?? options.workload);
  // If the rate is still to be measured, this plan lacks only the rate.
  const foreseen = stored?.plan ?? planFrom(run, options, old);
  if (options.dryRun) return print(describeDry(foreseen, options));
  const ready = restore(foreseen, options);
  if (ready.url !== undefined) hide(secretsOf(ready.url));

  using session = await openSession(run, options);
  const means = { session, isNamed: namesAll(options) };
  const plan = options.autoRate ? await planAtHalf(run, options, means) : ready;
  if (plan === undefined) return 130;
  for (const line of describeProspects(plan)) logLine(`warning: ${line}`);
  const { source, folder, interrupted } = await measurePlan({ ...means, plan, stored });

  if (options.json) printJson(renderJson(source));
  else if (source.trials.length > 0) print(renderTerminal(toView(source), widthFor(options)));
  if (options.detail && !options.json) print(describeDetail(source.trials));
  if (!options.json) print(describeComparison(readRun(folder), old));
  for (const line of describeEnding(plan, source.trials, interrupted)) logLine(line);
  logLine(`saved in ${shown(folder)}; to show it again: pnpm report ${plan.run}`);
  if (interrupted) logLine(`to continue: pnpm bench --resume ${plan.run}`);
  if (interrupted) return 130;
  return source.trials.some(({ status }) => status === 'failed') ? 1 : 0;
});

/**
 * Returns true if every target was named in full. A missing one is then an error; in a matrix or a glob it is
 * omitted.
 */
function namesAll({ targets, matrix }: BenchOptions): boolean {
  const isMatrix = Object.values(matrix).some((alternatives) => alternatives.length > 1);
  return targets.length > 0 && !isMatrix && !targets.some((pattern) => pattern.includes('*'));
}

function planFrom(run: string, options: BenchOptions, old: StoredRun | undefined): Plan {
  const seed = options.seed ?? randomInt(2 ** 32);
  if (old !== undefined) return repeatPlan(old.plan, run, seed);
  return makePlan(options, readStacks(options.stacks), run, seed);
}

/** Returns a stored plan with its secrets restored. */
function restore(plan: Plan, { resume, again = '', secrets }: BenchRequest): Plan {
  if (secrets === undefined) return plan;
  const named =
    resume === undefined ? { flag: 'again' as const, run: again } : { flag: 'resume' as const, run: resume };
  return restoreSecrets(plan, secrets, named);
}

/** Describes a plan. If its rate is measured first, the description includes the run that measures it. */
function describeDry(plan: Plan, options: BenchRequest): string {
  if (!options.autoRate) return `${describePlan(plan)}\n`;
  const probe = planFrom(`${plan.run}-probe`, probing(options), undefined);
  const first = `first, to find the rate: ${describePlan(probe).split('\n\n')[0]}`;
  return `${first}\n\nthen: ${describePlan(plan, 'open loop at half of the slowest goodput')}\n`;
}

/** Returns the options of the probe: a closed loop, long enough to show roughly how fast each target is. */
function probing({ sitting: _sitting, ...rest }: BenchOptions): BenchOptions {
  return { ...rest, ...PROBE, aa: false, duel: false };
}

/**
 * Returns the plan at half of the slowest target's goodput, which it measures first; undefined if interrupted.
 * Throws if a target fails.
 */
async function planAtHalf(
  run: string,
  options: BenchOptions,
  means: Pick<Job, 'session' | 'isNamed'>,
): Promise<Plan | undefined> {
  const plan = planFrom(`${run}-probe`, probing(options), undefined);
  const { source, folder, interrupted } = await measurePlan({ ...means, plan, stored: undefined });
  if (interrupted) return undefined;
  const goodputs = source.trials.map((trial) => {
    if (trial.status !== 'failed') return { trial, goodput: trial.measured.load.goodputPerSecond };
    throw new BenchError(
      'trial',
      `${trial.target.id} failed, so the rate cannot be derived from its goodput: ${trial.reasons[0]?.text ?? ''}`,
      'give a rate, e.g. --rate 1000',
    );
  });
  const slowest = goodputs.toSorted((a, b) => a.goodput - b.goodput)[0];
  const perSecond = Math.max(1, Math.floor((slowest?.goodput ?? 0) / 2));
  logLine(
    `rate: ${perSecond}/s, half of the goodput of ${slowest?.trial.target.id} at ${slowest?.trial.connections} connections (${shown(folder)})`,
  );
  return planFrom(run, { ...options, load: { mode: 'open', perSecond } }, undefined);
}

/**
 * Returns the verdicts on the targets, or on the run and the old one that it repeats; empty if the run is not meant
 * to compare.
 */
function describeComparison(run: StoredRun, old: StoredRun | undefined): string {
  const { plan } = run;
  // A second engine only checks the goodput of the first.
  const usual = enginesOf(plan).length > 1 ? 'goodput' : 'cpu';
  const { by = usual, threshold = DEFAULT_THRESHOLD } = plan.sitting ?? {};
  const title = `run ${plan.run}`;
  if (plan.quick) return '';
  if (old !== undefined) {
    const table = compareRuns(old, run, { by, threshold });
    return renderComparison(table, `${old.plan.run} → ${plan.run}`, [
      ...unlikeRuns(old, run, undefined).map((difference) => `UNLIKE: ${difference}`),
      ...describeUnknown(old, run),
      ...describeChanges(old, run),
    ]);
  }
  // The cost of a background request is the purpose of the run, however many rounds it has.
  if (plan.background !== undefined) {
    const metrics = plan.sitting === undefined ? (['goodput', 'p99'] as const) : [by];
    return metrics
      .map((metric) => renderComparison(compareWithin(run, { by: metric, threshold }), title, []))
      .join('');
  }
  const targets = new Set(run.trials.map(({ target }) => target.id));
  if (targets.size < 2 || (plan.rounds < FEWEST_ROUNDS && plan.sitting === undefined)) return '';
  return renderComparison(compareWithin(run, { by, threshold }), title, []);
}
