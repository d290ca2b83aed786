/** The reports of time(1) side by side: fields as rows, targets as columns. */
import { basename } from 'node:path';
import { LEAST_CPU_US, type Cover, type PastedUsage } from 'bench-analysis/pasted-times';
import type { Usage } from 'bench-analysis/times';
import type { TimeReport } from 'bench-model/record';
import {
  TIME_FIELD_NAMES,
  TIME_FIELDS,
  type TimeField,
  type TimeFieldHead,
  type TimeScope,
} from 'bench-machine/time-report';
import { countOf, describeConnections, formatCost, formatWhole } from './format.ts';
import type { Model } from './model/model.ts';
import type { View } from './content.ts';
import { describeSetting } from './view.ts';

/** One column of figures; the usage is absent where a target has none at a rung. */
interface Column {
  usage: Usage | undefined;
  sample: string;
}

const SCOPES: Record<TimeScope, string> = {
  command: 'command',
  tree: 'waited-for tree',
  'largest process': 'largest process',
  'direct child': 'direct child',
};

const PLATFORMS: Record<TimeReport['format'], string> = { gnu: 'GNU', bsd: 'BSD' };

/** Every cell of a row in the same unit. */
const FORMATS: Record<TimeFieldHead['unit'], (value: number) => string> = {
  s: (seconds) => `${seconds.toFixed(2)} s`,
  bytes: (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`,
  count: (count) => formatWhole(Math.round(count)),
};

/** Builds the view: one table for each rung, and pasted reports beside the targets in each of them. */
export function toTimesView(model: Model, pasted: readonly PastedUsage[]): View {
  const { times } = model;
  const targets = model.servers
    .map(({ target }) => target.id)
    .filter((id) => times.some(({ target }) => target === id));
  const names = [...targets, ...pasted.map(nameOf)];
  const rungs = [...new Set(times.map(({ connections }) => connections))];
  const beside = pasted.map((usage): Column => ({ usage, sample: countOf(1, 'report') }));
  return {
    title: `${model.run}: /usr/bin/time over the whole life of each server`,
    setting: describeSetting(model),
    columns: ['field', 'scope', 'kept by', ...names],
    words: ['field', 'scope', 'kept by'],
    expendable: [],
    repeated: 3,
    groups: (rungs.length === 0 ? [undefined] : rungs).map((rung) => ({
      heading: rung === undefined ? 'no report in this run' : describeConnections([rung]),
      rows: toRows([
        ...targets.map((target): Column => {
          const usage = times.find((one) => one.target === target && one.connections === rung);
          return { usage, sample: usage === undefined ? '—' : countOf(usage.rounds, 'round') };
        }),
        ...beside,
      ]),
    })),
    signs: [],
    notes: describeScopes(names.length - pasted.length > 0, pasted),
  };
}

function nameOf({ file, number }: PastedUsage): string {
  return `${basename(file)} #${number}`;
}

function toRows(columns: Column[]): string[][] {
  const fields = TIME_FIELD_NAMES.filter((name) =>
    columns.some(({ usage }) => usage?.fields[name] !== undefined),
  );
  const show = (of: (usage: Usage) => number | undefined, format: (value: number) => string): string[] =>
    columns.map(({ usage }) => {
      const value = usage && of(usage);
      return value === undefined ? '—' : format(value);
    });
  const derived = [
    ['answers', '', '', ...show(({ answers }) => answers, FORMATS.count)],
    ['CPU µs/answer', SCOPES.tree, '', ...show(({ cpuUsPerAnswer }) => cpuUsPerAnswer, formatCost)],
  ];
  return [
    ['reports', '', '', ...columns.map(({ sample }) => sample)],
    ['format', '', '', ...columns.map(({ usage }) => (usage === undefined ? '—' : PLATFORMS[usage.format]))],
    ...fields.map((name) => [
      ...headField(name),
      ...show(({ fields: all }) => all[name], FORMATS[TIME_FIELDS[name].unit]),
    ]),
    ...derived.filter((row) => row.slice(3).some((cell) => cell !== '—')),
  ];
}

function headField(name: TimeField): string[] {
  const { label, scope, gnu } = TIME_FIELDS[name];
  const platforms = gnu === undefined ? [PLATFORMS.bsd] : [PLATFORMS.gnu, PLATFORMS.bsd];
  return [label, SCOPES[scope], platforms.join(', ')];
}

function describeScopes(hasRun: boolean, pasted: readonly PastedUsage[]): string[] {
  return [
    ...(hasRun
      ? [
          'Columns of the run: the median of each field over the rounds, from the start of the server to its end. Failed trials do not count.',
        ]
      : []),
    'waited-for tree: the command and all descendants that were waited for. largest process: the largest single process, not a sum. direct child: the command without its descendants.',
    'GNU: time -v (Linux). BSD: time -l (macOS). —: the platform does not keep the field, or there is no report.',
    ...(hasRun
      ? [
          'CPU µs/answer: user and system CPU divided by all answers, right or wrong. It includes start-up and warm-up, unlike CPU µs/req of the report.',
        ]
      : []),
    ...pasted.map(
      (one) =>
        `${nameOf(one)}: ${one.file}:${one.line}, ${one.command ?? 'command unknown'}. It covers ${describeCover(one)}`,
    ),
    ...(pasted.length > 0 && hasRun
      ? [
          'Pasted reports come from another time, and perhaps from another machine and another load: do not rank them against the run.',
        ]
      : []),
  ];
}

/** Says which processes a report covers, and how that is known. */
function describeCover({ cover, command }: PastedUsage): string {
  const { impossibleUs, silent, clockHertz, cores } = cover;
  return [
    describeProcesses(cover, command),
    ...(impossibleUs === undefined
      ? []
      : [
          `${impossibleUs.toFixed(1)} µs of CPU per answer is impossible: the kernel alone takes about ${LEAST_CPU_US} µs to read and write a socket.`,
        ]),
    ...(silent ? ['It sent fewer messages than answers; a server sends at least one for each.'] : []),
    ...(clockHertz === undefined
      ? []
      : [
          `Its cycles divided by its CPU seconds give ${Math.round(clockHertz / 1e6)} MHz, slower than any processor: child processes used nearly all the CPU.`,
        ]),
    ...(cores === undefined
      ? []
      : [
          `It kept ${cores.toFixed(1)} cores busy on average: do not compare it with a server that ran on one.`,
        ]),
  ].join(' ');
}

function describeProcesses({ processes, launcher }: Cover, command = 'the command'): string {
  switch (processes) {
    case 'generator':
      return 'autocannon, not the server.';
    case 'without the server':
      return launcher === undefined
        ? 'a process other than the server that answered.'
        : `the launcher (${launcher}), not the server.`;
    case 'tree':
      return launcher === undefined
        ? `${command} and the processes or threads under it.`
        : `the launcher (${launcher}) together with the server, which it waited for.`;
    case 'server':
      return `${command}: the report is consistent with one process, the server itself.`;
    case 'unknown':
      return launcher === undefined
        ? 'unknown processes: the command is not in the text.'
        : `the launcher (${launcher}), and the server only if the launcher waited for it.`;
  }
}
