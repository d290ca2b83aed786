/** The reports of time(1) side by side: fields as rows, targets as columns. */
import type { TargetUsage } from 'bench-analysis/times';
import { TIME_FIELD_NAMES, TIME_FIELDS, type TimeFieldHead, type TimeScope } from 'bench-model/time-fields';
import { countOf, describeConnections, formatCost, formatWhole } from './format.ts';
import type { Model } from './model/definition.ts';
import type { View } from './content.ts';
import { describeSetting } from './view.ts';

const SCOPES: Record<TimeScope, string> = {
  command: 'command',
  tree: 'waited-for tree',
  'largest process': 'largest process',
  'direct child': 'direct child',
};

type Format = (value: number) => string;

/** Every cell of a row in the same unit. */
const FORMATS: Record<TimeFieldHead['unit'], Format> = {
  s: (seconds) => `${seconds.toFixed(2)} s`,
  bytes: (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`,
  count: (count) => formatWhole(Math.round(count)),
};

/** Builds the view: one table for each rung. */
export function toTimesView(model: Model): View {
  const { times } = model;
  const targets = model.servers
    .map(({ target }) => target.id)
    .filter((id) => times.some(({ target }) => target === id));
  const rungs = [...new Set(times.map(({ connections }) => connections))];
  return {
    title: `${model.run}: /usr/bin/time over the whole life of each server`,
    setting: describeSetting(model),
    columns: ['field', 'scope', ...targets],
    words: ['field', 'scope'],
    expendable: [],
    repeated: 2,
    groups: (rungs.length === 0 ? [undefined] : rungs).map((rung) => ({
      heading: rung === undefined ? 'no report in this run' : describeConnections([rung]),
      rows: toRows(
        targets.map((target) => times.find((one) => one.target === target && one.connections === rung)),
      ),
    })),
    signs: [],
    notes: NOTES,
  };
}

/** Every line of a table: a field with its scope, its value and its format. */
const LINES: [
  label: string,
  scope: string,
  of: (usage: TargetUsage) => number | undefined,
  format: Format,
][] = [
  ['reports', '', ({ rounds }) => rounds, (rounds) => countOf(rounds, 'round')],
  ...TIME_FIELD_NAMES.map((name): (typeof LINES)[number] => {
    const { label, scope, unit } = TIME_FIELDS[name];
    return [label, SCOPES[scope], ({ fields }) => fields[name], FORMATS[unit]];
  }),
  ['answers', '', ({ answers }) => answers, FORMATS.count],
  ['CPU µs/response', SCOPES.tree, ({ cpuUsPerAnswer }) => cpuUsPerAnswer, formatCost],
];

/** Returns the lines that a column has a value for. Each has the usage of a target, undefined where it has none at a rung. */
function toRows(columns: readonly (TargetUsage | undefined)[]): string[][] {
  return LINES.map(([label, scope, of, format]) => {
    const values = columns.map((usage) => usage && of(usage));
    return [label, scope, ...values.map((value) => (value === undefined ? '—' : format(value)))];
  }).filter(([label, , ...cells]) => label === 'reports' || cells.some((cell) => cell !== '—'));
}

const NOTES = [
  'The median of each field over the rounds, from the start of the server to its end. Failed trials do not count.',
  'waited-for tree: the command and all descendants that were waited for. largest process: the largest single process, not a sum. direct child: the command without its descendants.',
  'CPU µs/response: user and system CPU divided by all responses, right or wrong. It includes start-up and warm-up, unlike CPU µs/req of the report.',
];
