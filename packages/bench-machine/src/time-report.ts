/** Reads the output of `/usr/bin/time`, from a measured server or from a pasted text. */

import { BenchError } from 'bench-model/errors';
import type { TimeReport } from 'bench-model/record';

/** The fields of a report that are figures. */
type Figure = Exclude<keyof TimeReport, 'format'>;

/** The fields about the resources that a command used. */
export type TimeField = Exclude<Figure, 'exitStatus' | 'terminatedBySignal'>;

/**
 * The processes that a field covers.
 * - `command`: from the start of the command to its end
 * - `tree`: the command and all its descendants that were waited for, added up
 * - `largest process`: the largest single process of that tree, not the sum
 * - `direct child`: the command itself, without its descendants
 */
export type TimeScope = 'command' | 'tree' | 'largest process' | 'direct child';

/** The meaning of a field of a report. */
export interface TimeFieldHead {
  label: string;
  unit: 's' | 'bytes' | 'count';
  scope: TimeScope;
  /** The formats whose platform keeps it. */
  formats: readonly TimeReport['format'][];
}

const BOTH = ['gnu', 'bsd'] as const;
const BSD = ['bsd'] as const;
const counted = (label: string, formats: TimeFieldHead['formats'] = BOTH): TimeFieldHead => ({
  label,
  unit: 'count',
  scope: 'tree',
  formats,
});

/** Every field in the order of a table. */
export const TIME_FIELDS: Readonly<Record<TimeField, TimeFieldHead>> = {
  elapsedSeconds: { label: 'elapsed', unit: 's', scope: 'command', formats: BOTH },
  userSeconds: { label: 'user CPU', unit: 's', scope: 'tree', formats: BOTH },
  systemSeconds: { label: 'system CPU', unit: 's', scope: 'tree', formats: BOTH },
  maxResidentBytes: { label: 'max resident set', unit: 'bytes', scope: 'largest process', formats: BOTH },
  peakFootprintBytes: { label: 'peak footprint', unit: 'bytes', scope: 'direct child', formats: BSD },
  minorFaults: counted('minor page faults'),
  majorFaults: counted('major page faults'),
  voluntarySwitches: counted('voluntary switches'),
  involuntarySwitches: counted('involuntary switches'),
  fileInputs: counted('file system inputs'),
  fileOutputs: counted('file system outputs'),
  messagesSent: counted('messages sent', BSD),
  messagesReceived: counted('messages received', BSD),
  signalsReceived: counted('signals received', BSD),
  instructions: { ...counted('instructions', BSD), scope: 'direct child' },
  cycles: { ...counted('cycles', BSD), scope: 'direct child' },
};

/** The names of all fields, in the order of a table. */
export const TIME_FIELD_NAMES = Object.keys(TIME_FIELDS) as readonly TimeField[];

/** One line of a report: its label, its field, and its unit in the unit of the field. */
type Line = readonly [label: string, field: Figure, unit?: number];

// GNU's messages, signals and swaps are not read: the kernel never fills them in, so their 0 means nothing.
const GNU_LINES: readonly Line[] = [
  ['User time (seconds)', 'userSeconds'],
  ['System time (seconds)', 'systemSeconds'],
  ['Maximum resident set size (kbytes)', 'maxResidentBytes', 1024],
  ['Major (requiring I/O) page faults', 'majorFaults'],
  ['Minor (reclaiming a frame) page faults', 'minorFaults'],
  ['Voluntary context switches', 'voluntarySwitches'],
  ['Involuntary context switches', 'involuntarySwitches'],
  ['File system inputs', 'fileInputs'],
  ['File system outputs', 'fileOutputs'],
];

const BSD_LINES: readonly Line[] = [
  ['real', 'elapsedSeconds'],
  ['user', 'userSeconds'],
  ['sys', 'systemSeconds'],
  ['maximum resident set size', 'maxResidentBytes'],
  ['page reclaims', 'minorFaults'],
  ['page faults', 'majorFaults'],
  ['voluntary context switches', 'voluntarySwitches'],
  ['involuntary context switches', 'involuntarySwitches'],
  ['block input operations', 'fileInputs'],
  ['block output operations', 'fileOutputs'],
  ['messages sent', 'messagesSent'],
  ['messages received', 'messagesReceived'],
  ['signals received', 'signalsReceived'],
  ['instructions retired', 'instructions'],
  ['cycles elapsed', 'cycles'],
  ['peak memory footprint', 'peakFootprintBytes'],
];

/**
 * Reads the report of GNU `time -v` or macOS `time -l`, also if pasted with `> ` before each line. Times are in seconds
 * and sizes in bytes; the field of a missing line is absent. Throws a usage error if the text has no report.
 */
export function parseTime(text: string): TimeReport {
  const bare = text.replace(/^[>\s]+/gm, '');
  const report = /^Maximum resident set size|^Elapsed \(wall clock\)|^User time \(seconds\)/m.test(bare)
    ? parseGnu(bare)
    : parseBsd(bare);
  if (report !== undefined) return report;
  throw new BenchError(
    'usage',
    `no time(1) report in ${text.trim() === '' ? 'an empty text' : JSON.stringify(text.trim().slice(0, 80))}`,
    'paste the output of GNU `/usr/bin/time -v` or macOS `/usr/bin/time -l`',
  );
}

function parseGnu(bare: string): TimeReport {
  const report: TimeReport = { format: 'gnu' };
  const values = new Map<string, string>();
  for (const line of bare.split('\n')) {
    const found = /^(.+?): +(\S+)\s*$/.exec(line);
    if (found?.[1] !== undefined && found[2] !== undefined) values.set(found[1], found[2]);
  }
  for (const [label, field, unit = 1] of GNU_LINES) {
    const value = values.get(label);
    if (value !== undefined) put(report, field, Number(value) * unit);
  }
  const elapsed = values.get('Elapsed (wall clock) time (h:mm:ss or m:ss)');
  if (elapsed !== undefined) put(report, 'elapsedSeconds', secondsOf(elapsed));
  const signal = /^Command terminated by signal (\d+)/m.exec(bare)?.[1];
  const status = /^Command exited with non-zero status (\d+)/m.exec(bare)?.[1] ?? values.get('Exit status');
  // A command that died of a signal has no exit status; GNU prints 0.
  if (signal !== undefined) put(report, 'terminatedBySignal', Number(signal));
  else if (status !== undefined) put(report, 'exitStatus', Number(status));
  return report;
}

function parseBsd(bare: string): TimeReport | undefined {
  const report: TimeReport = { format: 'bsd' };
  for (const [label, field] of BSD_LINES) {
    // `real`, `user` and `sys` may share one line; every other label ends its line.
    const end = label.length <= 4 ? '(?=\\s*$|\\s+\\d)' : '\\s*$';
    const value = new RegExp(`(?:^|\\s)([\\d.,]+)\\s+${label}${end}`, 'm').exec(bare)?.[1];
    // Some locales write a decimal comma.
    if (value !== undefined) put(report, field, Number(value.replace(',', '.')));
  }
  return report.elapsedSeconds === undefined && report.maxResidentBytes === undefined ? undefined : report;
}

function put(report: TimeReport, field: Figure, value: number): void {
  if (Number.isFinite(value)) report[field] = value;
}

/** `h:mm:ss` or `m:ss.ss` in seconds. */
function secondsOf(clock: string): number {
  return clock.split(':').reduce((total, part) => total * 60 + Number(part), 0);
}
