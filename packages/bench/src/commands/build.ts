import { commandLine } from 'bench-machine/home';
import { defineCommand } from '../cli/command.ts';
import { readStacks, targetsOf } from 'bench-targets/catalogue/stacks';
import { suggest } from 'bench-model/suggest';
import { ToolchainError, UsageError } from 'bench-model/errors';
import { groupMissing, prepareAll } from 'bench-targets/prepare/prepare';
import { describeWork, surveyWork } from 'bench-targets/prepare/inspect';
import { fail, logLine } from '../terminal/shell.ts';

export default defineCommand({
  name: 'build',
  about:
    'Builds the environments, dependencies and binaries of stacks in advance. Otherwise the first run of a stack builds them.',
  arguments: {
    terms: '[stack...]',
    noun: 'stack',
    help: 'names of stacks (default: all)',
    example: commandLine('build gin'),
  },
  options: {},
  async run({ args: wanted }) {
    const stacks = readStacks();
    const names = stacks.map(({ name }) => name);
    const unknown = wanted.find((name) => !names.includes(name));
    if (unknown !== undefined)
      throw new UsageError(`unknown stack "${unknown}"`, suggest(unknown, names) ?? names.join(', '));
    const named = stacks.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
    const targets = named.flatMap(targetsOf);
    for (const line of describeWork(await surveyWork(targets, stacks))) logLine(line);
    const { missing } = await prepareAll(targets, stacks, logLine);
    const codes = groupMissing(missing).map((group) =>
      fail(new ToolchainError(`${group.targets.join(', ')}: ${group.reason}`, group.hint)),
    );
    return codes[0] ?? 0;
  },
});
