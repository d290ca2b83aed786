import { expect, it } from 'vitest';
import { cureFor } from '../../src/conduct/cures.ts';

it('names the field to remove if a port could not be moved', () => {
  const fault = { kind: 'other-port', namesPort: false } as const;
  const named = { command: 'the command in stack.json', words: [] };
  expect(cureFor(fault, named)).toMatch(/^pass \{port\} in the command/);
  expect(cureFor(fault, { ...named, movesPort: true })).toMatch(/^remove "movesPort"/);
});
