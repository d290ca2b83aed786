import { defineCommand } from '../cli/command.ts';
import { RELEASES } from 'bench-targets/catalogue/releases';
import { RUNTIMES } from 'bench-targets/catalogue/runtimes';
import { readStacks, targetsOf } from 'bench-targets/catalogue/stacks';
import { inspectRuntime, inspectTarget } from 'bench-targets/prepare/inspect';
import { renderRows } from 'bench-report/terminal';
import { print, widthFor } from '../terminal/shell.ts';

export default defineCommand({
  name: 'list',
  about:
    'Lists every target with its workloads and its state: ready, built on first use, or missing with the reason. Then lists the runtimes in the same way, with newer releases.',
  options: {},
  async run() {
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
    const runtimes = await Promise.all(
      RUNTIMES.map(async (runtime) => {
        const { state, why } = await inspectRuntime(runtime);
        return [`@${runtime.spec}`, runtime.kind, state, why];
      }),
    );
    const width = widthFor();
    const heads = ['target', 'class', 'language', 'workloads', 'state', 'runtime, or what is missing'];
    print(`${renderRows(heads, rows, heads, width)}\n`);
    const kinds = ['runtime', 'kind', 'state', 'version, or what is missing'];
    print(`\n${renderRows(kinds, runtimes, kinds, width)}\n\nReleases as of ${RELEASES.asOf}.\n`);
  },
});
