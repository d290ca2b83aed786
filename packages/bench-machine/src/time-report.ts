/** Reads the output of `/usr/bin/time`. */
import { UsageError } from 'bench-model/errors';
import type { TimeReport } from 'bench-model/record';
import { TIME_FIELD_NAMES, TIME_FIELDS } from 'bench-model/time-fields';

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
    // Times are `h:mm:ss`, `m:ss.ss` or a number of seconds.
    const figure = value?.split(':').reduce((total, part) => total * 60 + Number(part), 0);
    if (figure !== undefined) put(report, name, figure * (unit === 'bytes' ? 1024 : 1));
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
