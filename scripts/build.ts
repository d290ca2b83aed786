import { BUILD } from '@bench/harness/cli/commands';
import { readStacks, targetsOf } from '@bench/harness/catalogue/stacks';
import { nearest } from '@bench/harness/nearest';
import { BenchError } from '@bench/harness/errors';
import { groupMissing, prepareAll } from '@bench/harness/prepare/prepare';
import { describeWork, surveyWork } from '@bench/harness/prepare/survey';
import { fail, runCommand, logLine } from './shell.ts';

await runCommand(BUILD, async ({ stacks: wanted }) => {
  const stacks = readStacks();
  const names = stacks.map(({ name }) => name);
  const unknown = wanted.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const hint = `did you mean ${nearest(unknown, names).join(', ')}?`;
    throw new BenchError('usage', `unknown stack "${unknown}"`, hint);
  }
  const asked = stacks.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
  const targets = asked.flatMap(targetsOf);
  for (const line of describeWork(await surveyWork(targets, stacks))) logLine(line);
  const { missing } = await prepareAll(targets, stacks, logLine);
  const codes = groupMissing(missing).map((group) =>
    fail(new BenchError('toolchain', `${group.targets.join(', ')}: ${group.reason}`, group.hint)),
  );
  return codes[0] ?? 0;
});
