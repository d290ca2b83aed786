import { expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';

it.each(Object.values(COMMANDS))('the help of $name fits 80 columns', (command) => {
  const lines = command.help().split('\n');
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
});
