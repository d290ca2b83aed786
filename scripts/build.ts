import { readStacks, targetsOf } from '@bench/harness/catalogue/stacks';
import { nearest } from '@bench/harness/nearest';
import { BenchError } from '@bench/harness/errors';
import { prepareAll } from '@bench/harness/measure/prepare';
import { parse } from '@bench/harness/options';
import { fail, runMain, tell } from './shell.ts';

await runMain(async () => {
  const { positionals } = parse(process.argv.slice(2), {});
  const stacks = readStacks();
  const names = stacks.map(({ name }) => name);
  const unknown = positionals.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const hint = `did you mean ${nearest(unknown, names).join(', ')}?`;
    throw new BenchError('usage', `there is no stack "${unknown}"`, hint);
  }
  const asked = stacks.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  const { missing } = await prepareAll(asked.flatMap(targetsOf), stacks, tell);
  const codes = missing.map(({ target, reason, hint }) =>
    fail(new BenchError('toolchain', `${target.id}: ${reason}`, hint)),
  );
  return codes[0] ?? 0;
});
