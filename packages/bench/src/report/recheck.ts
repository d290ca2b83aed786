/** The findings of a recheck as sentences: the printed figures, what they prove, and why. */

import type { Recheck } from '../analyse/recheck/recheck.ts';
import { count, describeTable } from './recheck-table.ts';
import { describeTime } from './recheck-time.ts';

const WIDTH = 100;
const INDENT = 14;

/** Renders the findings for a terminal. */
export function renderRecheck({ file, tests, times }: Recheck): string {
  const reports = tests.filter(({ time }) => time !== undefined).length + times.length;
  const blocks = [
    ...tests.map((test) => ({
      at: test.printed.line,
      head: headOf(test.printed.title ?? test.printed.url ?? 'autocannon', file, test.printed.line),
      notes: [...describeTable(test), ...(test.time === undefined ? [] : describeTime(test.time))],
    })),
    ...times.map((time) => ({
      at: time.printed.line,
      head: headOf(time.printed.title ?? 'time(1)', file, time.printed.line),
      notes: [
        [
          'unpaired',
          'no table above matches: each has its report already, or its test took longer than this command ran.',
        ] as const,
        ...describeTime(time),
      ],
    })),
  ];
  return [
    `${file}: ${count(tests.length, 'autocannon table')}, ${count(reports, 'time(1) report')}`,
    ...blocks
      .toSorted((a, b) => a.at - b.at)
      .flatMap(({ head, notes }) => ['', head, ...notes.flatMap(([name, text]) => wrap(name, text))]),
    '',
  ].join('\n');
}

/** Renders the findings as one JSON document. */
export function renderRecheckJson(found: Recheck): string {
  return `${JSON.stringify({ schema: 1, ...found }, null, 2)}\n`;
}

function headOf(name: string, file: string, line: number): string {
  return `${name} (${file}:${line})`;
}

/** Wraps one paragraph, with its name in the margin. */
function wrap(name: string, text: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').filter((part) => part !== '')) {
    if (line !== '' && INDENT + 2 + line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  lines.push(line);
  return lines.map((part, index) => `  ${(index === 0 ? name : '').padEnd(INDENT)}${part}`);
}
