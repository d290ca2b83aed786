/** `host.json`, the machine that a run was measured on: its definition, and the type derived from it. */
import { Type, type Static } from 'typebox';
import { list, ordinal, shape, text } from './definitions.ts';

export const host = shape({
  platform: text('As Node names it: linux, darwin.'),
  arch: text('As Node names it: x64, arm64.'),
  release: text('Of the kernel.'),
  cpuModel: Type.Optional(text()),
  cores: ordinal('cores: logical ones'),
  memoryBytes: Type.Integer({ description: 'bytes: of main memory', exclusiveMinimum: 0 }),
  virtualised: Type.Optional(Type.Boolean()),
  governor: Type.Optional(text('Of CPU frequency.')),
  cgroup: text('v1 or v2 if each server gets its own cgroup, else the reason why not.'),
  load: list(
    'Before the run: means over 1, 5 and 15 minutes.',
    Type.Number({ description: 'count: runnable tasks', minimum: 0 }),
    { minItems: 3, maxItems: 3 },
  ),
  node: text('Version of Node that the harness ran on.', { pattern: '^v\\d+\\.' }),
});

/** One machine, and its state before the run. A field that it does not report is absent. */
export type Host = Static<typeof host>;
