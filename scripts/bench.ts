import { randomBytes, randomInt } from 'node:crypto';
import { readStacks } from '@bench/harness/catalogue/stacks';
import { lockHost } from '@bench/harness/measure/lock';
import { parseBenchOptions, type BenchOptions } from '@bench/harness/options';
import { makePlan, nameRun, type Plan } from '@bench/harness/plan';
import { describeDetail } from '@bench/harness/report/detail';
import { renderJson } from '@bench/harness/report/json';
import { renderTerminal } from '@bench/harness/report/terminal';
import { describePlan, toView } from '@bench/harness/report/view';
import { findRun, readRun, shown } from '@bench/harness/results/store';
import { measurePlan } from './measure.ts';
import { runMain, tell, widthFor } from './shell.ts';

await runMain(async () => {
  const options = parseBenchOptions(process.argv.slice(2));
  const stored = options.resume === undefined ? undefined : readRun(findRun(options.resume));
  const plan = stored?.plan ?? planFrom(options);
  if (options.dryRun) return print(`${describePlan(plan)}\n`);
  const token = randomBytes(8).toString('hex');
  using lock = lockHost(plan.run, token);
  for (const line of lock.removed) tell(line);
  const { source, folder, interrupted } = await measurePlan({
    plan,
    token,
    lock,
    stored,
    isNamed: options.targets.length > 0,
  });
  if (options.json) print(renderJson(source));
  else if (source.trials.length > 0) print(renderTerminal(toView(source), widthFor(options)));
  if (options.detail && !options.json) print(describeDetail(source.trials));
  tell(`kept in ${shown(folder)}; pnpm report ${plan.run} shows it again`);
  if (interrupted) tell(`pnpm bench --resume ${plan.run} goes on`);
  if (interrupted) return 130;
  return source.trials.some(({ status }) => status === 'failed') ? 1 : 0;
});

function print(text: string): void {
  process.stdout.write(text);
}

function planFrom(options: BenchOptions): Plan {
  const stacks = readStacks(options.stacks);
  const run = nameRun(options.url === undefined ? options.workload : 'url');
  return makePlan(options, stacks, run, options.seed ?? randomInt(2 ** 32));
}
