/** Reads the reports of time(1) in a pasted text, as usage that can be compared with that of a run. */
import { BenchError } from '../../errors.ts';
import { TIME_FIELD_NAMES } from '../../time-report.ts';
import type { Usage } from '../times.ts';
import { answersOf } from './goodput.ts';
import { recheck, type CheckedTest, type CheckedTime } from './recheck.ts';

/** One pasted report. */
export interface PastedUsage extends Usage {
  file: string;
  /** Its number among the reports of the text, from 1 on. */
  number: number;
  /** The report, and the processes that it covers. */
  checked: CheckedTime;
}

/** Covers of a report that do not include the server: its CPU is not that of the answers. */
const WITHOUT_SERVER = ['launcher', 'not-the-server', 'generator'];

/** Reads all reports of a text in order. Throws a usage error if it has none. */
export function readPastedTimes(text: string, file: string): PastedUsage[] {
  const { tests, times } = recheck(text, file);
  const all = [
    ...tests.flatMap((test) => (test.time === undefined ? [] : [{ checked: test.time, test }])),
    ...times.map((checked) => ({ checked, test: undefined })),
  ].toSorted((a, b) => a.checked.printed.line - b.checked.printed.line);
  if (all.length === 0) {
    throw new BenchError(
      'usage',
      `${file}: no time(1) report`,
      'paste the output of GNU `/usr/bin/time -v` or macOS `/usr/bin/time -l`',
    );
  }
  return all.map(({ checked, test }, index) => ({
    ...toUsage(checked, test),
    file,
    number: index + 1,
    checked,
  }));
}

function toUsage({ printed: { report }, check }: CheckedTime, test: CheckedTest | undefined): Usage {
  const fields = TIME_FIELD_NAMES.flatMap((name) => {
    const value = report[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const usage = { format: report.format, fields: Object.fromEntries(fields) };
  if (test === undefined || WITHOUT_SERVER.includes(check.covers)) return usage;
  const answers = answersOf(test.printed)?.count;
  const { cpuUsPerAnswer } = check;
  return {
    ...usage,
    ...(answers !== undefined && { answers }),
    ...(cpuUsPerAnswer !== undefined && { cpuUsPerAnswer }),
  };
}
