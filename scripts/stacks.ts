import { readStacks, targetsOf } from '@bench/harness/catalogue/stacks';
import { inspectTarget } from '@bench/harness/measure/prepare';
import { parse } from '@bench/harness/options';
import { renderRows } from '@bench/harness/report/terminal';
import { runMain } from './shell.ts';

await runMain(async () => {
  parse(process.argv.slice(2), {});
  const stacks = readStacks();
  const rows = await Promise.all(
    stacks.flatMap((stack) =>
      targetsOf(stack).map(async (target) => {
        const { state, why } = await inspectTarget(target, stacks);
        const offers = stack.variants[target.variant]?.workloads.join(', ') ?? '';
        return [target.id, target.class, stack.language, offers, state, why];
      }),
    ),
  );
  process.stdout.write(
    `${renderRows(['target', 'class', 'language', 'workloads', 'state', 'runtime, or why not'], rows)}\n`,
  );
});
