/** The commands in the documents: their options as tables, from the declarations that their help comes from. */
import { describeOption, type Command } from '../../bench/src/cli/command.ts';
import { findCommands, loadCommand } from '../../bench/src/cli/main.ts';

const COMMANDS = new Map(
  await Promise.all(
    [...findCommands()]
      .filter(([, file]) => file.pathname.includes('/bench/src/commands/'))
      .map(async ([name, file]) => [name, await loadCommand(file)] as const),
  ),
);

/** The commands of users, by name. */
export const USER_COMMANDS = [...COMMANDS].flatMap(([name, { summary }]) => (summary === '' ? [] : [name]));

/** Draws what a command does, its arguments and its options. */
export function drawCommand(name: string): string {
  const command = COMMANDS.get(name);
  if (command === undefined) throw new Error(`unknown command "${name}"`);
  const usage = /\[options\](?<terms>.*)/.exec(command.help())?.groups?.['terms'] ?? '';
  const rows = name !== 'bench' && takesAllOfBench(command) ? AS_BENCH : listRows(command);
  return [
    `${command.summary}.`,
    '',
    '```',
    `bench-http ${name}${rows.length > 0 ? ' [options]' : ''}${usage}`,
    '```',
    ...(rows.length > 0 ? ['', ...rows] : []),
  ].join('\n');
}

const AS_BENCH = ['It takes the options of [bench](#bench).'];

/** Returns true if a command declares all options of `bench` that it has as `bench` does, and has most of them. */
function takesAllOfBench({ options }: Command<unknown>): boolean {
  const all = COMMANDS.get('bench')?.options ?? {};
  const same = Object.entries(options).filter(([name, one]) => all[name]?.help === one.help);
  return same.length === Object.keys(options).length && 2 * same.length > Object.keys(all).length;
}

/** An item for each option, below the headings of the help. */
function listRows({ options }: Command<unknown>): string[] {
  let heading: string | undefined;
  return Object.entries(options).flatMap(([name, one]) => {
    const begins = one.group !== undefined && one.group !== heading;
    heading = one.group;
    const term = one.value === undefined ? `--${name}` : `--${name} ${one.value}`;
    return [...(begins ? [`\n**${one.group}**\n`] : []), `- \`${term}\`: ${describeOption(one)}`];
  });
}
