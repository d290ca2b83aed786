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
  const rows = listRows(command);
  return [
    `${command.summary}.`,
    '',
    '```',
    `bench-http ${name}${rows.length > 0 ? ' [options]' : ''}${usage}`,
    '```',
    ...(rows.length > 0 ? ['', ...rows] : []),
  ].join('\n');
}

/** An item for each option, below the headings of the help. Options that `bench` has too are only named. */
function listRows({ name: of, options }: Command<unknown>): string[] {
  const all = of === 'bench' ? {} : (COMMANDS.get('bench')?.options ?? {});
  const [shared, own] = partition(
    Object.entries(options),
    ([name, { value }]) => Object.hasOwn(all, name) && all[name]?.value === value,
  );
  const rows = [...Map.groupBy(own, ([, { group = '' }]) => group)].flatMap(([group, items]) => [
    ...(group === '' ? [] : [`\n**${group}**\n`]),
    ...items.map(([name, one]) => {
      const term = one.value === undefined ? `--${name}` : `--${name} ${one.value}${one.many ? '…' : ''}`;
      const short = one.short === undefined ? '' : `-${one.short}, `;
      return `- \`${short}${term}\`: ${describeOption({ ...one, many: false })}`;
    }),
  ]);
  const names = shared.map(([name]) => `\`--${name}\``).join(', ');
  const isMost = 2 * shared.length > Object.keys(all).length;
  return [
    ...rows,
    ...(shared.length === 0 ? [] : [`- as for [bench](#bench): ${isMost ? 'all its options' : names}`]),
  ];
}

function partition<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}
