/** `bench-http upgrade [target...]`: the runtime of now against the newer ones. */
import { UsageError } from 'bench-model/errors';
import { commandLine } from 'bench-machine/home';
import { defineCommand, type Parsed } from '../cli/command.ts';
import type { BenchRequest } from '../plan/request.ts';
import { SPEC, OPTIONS, readBench } from './bench.ts';

export default defineCommand({
  ...SPEC,
  name: 'upgrade',
  about:
    'Compares the runtime of a project with the newer ones on this machine. Builds an environment for each, leaves out those for which a package has no wheel, prefers builds of one maker, and measures in turns until each difference is decided. With --with, compares packages with the locked ones instead.',
  arguments: {
    ...SPEC.arguments,
    help: 'stack[/variant][@runtime] (default: the stack.json of this project)',
    example: commandLine('upgrade'),
  },
  options: OPTIONS,
  examples: [],
  usual: 'run get connections with by budget fail-on dry-run wait',
  listedBy: 'bench',
  read(values: Parsed<typeof OPTIONS>, words: readonly string[]): BenchRequest {
    const refused = (['python', 'node', 'quick'] as const).find((name) => values[name] || undefined);
    if (refused === undefined) return readBench(values, words, { upgrade: true });
    throw new UsageError(
      `upgrade does not take --${refused}`,
      refused === 'quick'
        ? 'omit --quick to get a verdict'
        : `compare --${refused} compares those that you name`,
    );
  },
});
