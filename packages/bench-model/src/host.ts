/** `host.json`, the machine that a run was measured on: its definition, and the type derived from it. */
import { Type, type Static } from 'typebox';
import { ordinal, shape, span, text } from './definitions.ts';

const fileLimit = Type.Union([ordinal('count: files'), Type.Literal('unlimited')]);
const port = (description: string) => Type.Integer({ description, minimum: 1, maximum: 65_535 });

export const host = shape({
  platform: text('As Node names it: linux, darwin.'),
  arch: text('As Node names it: x64, arm64.'),
  release: text('Of the kernel.'),
  cpuModel: Type.Optional(text()),
  cores: ordinal('cores: logical ones'),
  memoryBytes: Type.Integer({ description: 'bytes: of main memory', exclusiveMinimum: 0 }),
  virtualised: Type.Optional(Type.Boolean()),
  governor: Type.Optional(text('Of CPU frequency.')),
  openFiles: Type.Optional(
    shape(
      { soft: fileLimit, hard: fileLimit },
      { description: 'The number of files that a process may open.' },
    ),
  ),
  ephemeralPorts: Type.Optional(
    shape(
      { first: port('port: the lowest'), last: port('port: the highest') },
      { description: 'The ports that connects are made from.' },
    ),
  ),
  somaxconn: Type.Optional(ordinal('count: the longest accept queue')),
  cgroup: text('v1 or v2 if each server gets its own cgroup, else the reason why not.'),
  neighbours: Type.Optional(
    shape(
      {
        ratio: span('ratio: CPU while the load’s core is busy ÷ CPU while it is idle'),
        low: span('ratio: the lower end of its 95 % interval'),
        high: span('ratio: the upper end'),
      },
      {
        description:
          'CPU for the same work on the server’s core beside a busy load, as doctor last measured it since this machine was started. Absent if it was not measured. Bench never fills the idle time of a core.',
      },
    ),
  ),
  load: Type.Array(Type.Number({ description: 'count: runnable tasks', minimum: 0 }), {
    description: 'Before the run: means over 1, 5 and 15 minutes.',
    minItems: 3,
    maxItems: 3,
  }),
  node: Type.String({
    description: 'Version of Node that the harness ran on.',
    pattern: '^v\\d+\\.',
  }),
});

/** One machine, and its state before the run. A field that it does not report is absent. */
export type Host = Static<typeof host>;

export const HOST_HEAD = {
  title: "The machine that a run was measured on: a run's host.json",
  description:
    'A field that the machine does not report is absent. No environment variables, no names of users or hosts, no paths.',
};
