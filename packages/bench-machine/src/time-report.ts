/** Reads the output of `/usr/bin/time`. */

import { UsageError } from 'bench-model/errors';
import type { TimeReport } from 'bench-model/record';

/** The fields about the resources that a command used. */
export type TimeField = Exclude<keyof TimeReport, 'format' | 'exitStatus' | 'terminatedBySignal'>;

/**
 * The processes that a field covers.
 * - `command`: from the start of the command to its end
 * - `tree`: the command and all its descendants that were waited for, added up
 * - `largest process`: the largest single process of that tree, not the sum
 * - `direct child`: the command itself, without its descendants
 */
export type TimeScope = 'command' | 'tree' | 'largest process' | 'direct child';

/** The meaning of a field of a report, and its label in each format; undefined if the platform does not keep it. */
export interface TimeFieldHead {
  label: string;
  unit: 's' | 'bytes' | 'count';
  scope: TimeScope;
  gnu: string | undefined;
  bsd: string;
}

function field(
  label: string,
  unit: TimeFieldHead['unit'],
  scope: TimeScope,
  bsd: string,
  gnu?: string,
): TimeFieldHead {
  return { label, unit, scope, gnu, bsd };
}

/**
 * Every field in the order of a table. GNU's messages, signals and swaps are not read: the kernel never fills them in, so
 * their 0 means nothing.
 */
export const TIME_FIELDS: Readonly<Record<TimeField, TimeFieldHead>> = {
  elapsedSeconds: field('elapsed', 's', 'command', 'real', 'Elapsed (wall clock) time (h:mm:ss or m:ss)'),
  userSeconds: field('user CPU', 's', 'tree', 'user', 'User time (seconds)'),
  systemSeconds: field('system CPU', 's', 'tree', 'sys', 'System time (seconds)'),
  maxResidentBytes: field(
    'max resident set',
    'bytes',
    'largest process',
    'maximum resident set size',
    'Maximum resident set size (kbytes)',
  ),
  peakFootprintBytes: field('peak footprint', 'bytes', 'direct child', 'peak memory footprint'),
  minorFaults: field(
    'minor page faults',
    'count',
    'tree',
    'page reclaims',
    'Minor (reclaiming a frame) page faults',
  ),
  majorFaults: field(
    'major page faults',
    'count',
    'tree',
    'page faults',
    'Major (requiring I/O) page faults',
  ),
  voluntarySwitches: field(
    'voluntary switches',
    'count',
    'tree',
    'voluntary context switches',
    'Voluntary context switches',
  ),
  involuntarySwitches: field(
    'involuntary switches',
    'count',
    'tree',
    'involuntary context switches',
    'Involuntary context switches',
  ),
  fileInputs: field('file system inputs', 'count', 'tree', 'block input operations', 'File system inputs'),
  fileOutputs: field(
    'file system outputs',
    'count',
    'tree',
    'block output operations',
    'File system outputs',
  ),
  messagesSent: field('messages sent', 'count', 'tree', 'messages sent'),
  messagesReceived: field('messages received', 'count', 'tree', 'messages received'),
  signalsReceived: field('signals received', 'count', 'tree', 'signals received'),
  instructions: field('instructions', 'count', 'direct child', 'instructions retired'),
  cycles: field('cycles', 'count', 'direct child', 'cycles elapsed'),
};

/** The names of all fields, in the order of a table. */
export const TIME_FIELD_NAMES = Object.keys(TIME_FIELDS) as readonly TimeField[];

/**
 * Reads the report of GNU `time -v` or macOS `time -l`. Times are in seconds and sizes in bytes; the field of a missing line is absent. Throws a usage error if the text has no report.
 */
export function parseTime(text: string): TimeReport {
  const bare = text.replace(/^\s+/gm, '');
  const report = /^Maximum resident set size|^Elapsed \(wall clock\)|^User time \(seconds\)/m.test(bare)
    ? parseGnu(bare)
    : parseBsd(bare);
  if (report !== undefined) return report;
  throw new UsageError(
    `no time(1) report in ${text.trim() === '' ? 'an empty text' : JSON.stringify(text.trim().slice(0, 80))}`,
  );
}

function parseGnu(bare: string): TimeReport {
  const report: TimeReport = { format: 'gnu' };
  const values = new Map<string, string>();
  for (const line of bare.split('\n')) {
    const found = /^(.+?): +(\S+)\s*$/.exec(line);
    if (found?.[1] !== undefined && found[2] !== undefined) values.set(found[1], found[2]);
  }
  for (const name of TIME_FIELD_NAMES) {
    const { gnu = '', unit } = TIME_FIELDS[name];
    const value = values.get(gnu);
    if (value !== undefined) put(report, name, secondsOf(value) * (unit === 'bytes' ? 1024 : 1));
  }
  const signal = /^Command terminated by signal (\d+)/m.exec(bare)?.[1];
  const status = /^Command exited with non-zero status (\d+)/m.exec(bare)?.[1] ?? values.get('Exit status');
  // A command that died of a signal has no exit status; GNU prints 0.
  if (signal !== undefined) put(report, 'terminatedBySignal', Number(signal));
  else if (status !== undefined) put(report, 'exitStatus', Number(status));
  return report;
}

function parseBsd(bare: string): TimeReport | undefined {
  const report: TimeReport = { format: 'bsd' };
  for (const name of TIME_FIELD_NAMES) {
    const { bsd: label } = TIME_FIELDS[name];
    // `real`, `user` and `sys` may share one line; every other label ends its line.
    const end = label.length <= 4 ? '(?=\\s*$|\\s+\\d)' : '\\s*$';
    const value = new RegExp(`(?:^|\\s)([\\d.,]+)\\s+${label}${end}`, 'm').exec(bare)?.[1];
    // Some locales write a decimal comma.
    if (value !== undefined) put(report, name, Number(value.replace(',', '.')));
  }
  return report.elapsedSeconds === undefined && report.maxResidentBytes === undefined ? undefined : report;
}

function put(report: TimeReport, name: Exclude<keyof TimeReport, 'format'>, value: number): void {
  if (Number.isFinite(value)) report[name] = value;
}

/** `h:mm:ss`, `m:ss.ss` or a number of seconds, in seconds. */
function secondsOf(clock: string): number {
  return clock.split(':').reduce((total, part) => total * 60 + Number(part), 0);
}
