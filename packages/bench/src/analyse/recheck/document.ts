/** Finds autocannon tables and time(1) reports in a pasted text, and pairs them. */

import type { TimeReport } from '../../results/record.ts';
import { present } from '../../plan/options.ts';
import { parseTime } from '../../time-report.ts';
import { cellsOf, readLine, type LineOfTest, type PrintedTest } from './autocannon.ts';

/** One report of time(1) as printed in a text. */
export interface PrintedTime {
  line: number;
  title?: string;
  /** The command that was timed, if the text shows it. */
  command?: string;
  report: TimeReport;
}

/** The tables and reports of a text, in order. */
export interface Document {
  lines: number;
  tests: PrintedTest[];
  times: PrintedTime[];
}

const ESCAPES = new RegExp(String.raw`${String.fromCharCode(27)}\[[0-9;?]*[A-Za-z]`, 'g');
const BSD_LABEL =
  /^\d[\d.,]*\s+(?:real\b|user\b|sys\b|maximum resident|average (?:un)?shared|page (?:reclaims|faults)|swaps$|block (?:in|out)put|messages (?:sent|received)|signals received|(?:in)?voluntary context|instructions retired|cycles elapsed|peak memory)/;
const BSD_FIRST = /^\d[\d.,]*\s+(?:real\b|maximum resident set size$)/;
const GNU_LABEL =
  /^(?:Command (?:being timed|exited|terminated)|(?:User|System) time \(|Percent of CPU|Elapsed \(wall|Average |Maximum resident|M(?:ajor|inor) \(|(?:Inv|V)oluntary context|Swaps:|File system|Socket messages|Signals delivered|Page size|Exit status)/;
const GNU_FIRST =
  /^(?:Command being timed|Command (?:exited|terminated)|User time \(seconds\)|Maximum resident set size)/;

/** Reads a text. Throws a usage error that names `file` if a table row cannot be read. */
export function readDocument(text: string, file: string): Document {
  const lines = text.split(/\r?\n/).map(bareOf);
  const document: Document = { lines: lines.length, tests: [], times: [] };
  let test: PrintedTest | undefined;
  let title: string | undefined;
  let head: string[] | undefined;
  // The command of the next report is below the last report and in the same fold.
  let commandsFrom = 0;
  for (let index = 0; index < lines.length; index += 1) {
    const bare = lines[index] ?? '';
    const fold = /^<(\/?)details\b/i.exec(bare);
    if (fold !== null) {
      test = undefined;
      commandsFrom = index + 1;
      if (fold[1] !== '') title = undefined;
    }
    title = titleAt(lines, index) ?? title;
    const end = endOfTime(lines, index);
    if (end !== undefined) {
      const block = lines.slice(index, end);
      const command = commandOf(block) ?? commandBefore(lines.slice(commandsFrom, index));
      const report = parseTime(block.join('\n'));
      document.times.push({ line: index + 1, ...present({ title, command }), report });
      test = undefined;
      commandsFrom = end;
      index = end - 1;
      continue;
    }
    const cells = cellsOf(bare);
    if (cells?.[0] === 'Stat') head = cells;
    const found = readLine(bare, `${file}:${index + 1}`, head);
    if (found === undefined || (test === undefined && !found.begins)) continue;
    if (test === undefined || repeats(test, found)) {
      test = { line: index + 1, ...present({ title }) };
      document.tests.push(test);
    }
    Object.assign(test, found.fields);
  }
  document.tests = document.tests.filter(
    ({ latencyMs, requests, elapsedSeconds }) => latencyMs ?? requests ?? elapsedSeconds,
  );
  return document;
}

/** Returns a line without colours, quotation marks and margins, and only the last state of a progress bar. */
function bareOf(line: string): string {
  const plain = line.replace(ESCAPES, '');
  const last = plain
    .split('\r')
    .filter((part) => part.trim() !== '')
    .at(-1);
  return (last ?? '').replace(/^[>\s]+/, '').trimEnd();
}

/** The title in a heading or a `<summary>` that begins at this line. */
function titleAt(lines: string[], index: number): string | undefined {
  const bare = lines[index] ?? '';
  const heading = /^#{1,6}\s+(?!of samples|\S*time\s+-)(.+)$/.exec(bare)?.[1];
  if (heading !== undefined || !/<summary>/i.test(bare)) return heading;
  const all = lines.slice(index, index + 5).join(' ');
  return /<summary>\s*(.*?)\s*<\/summary>/i.exec(all)?.[1];
}

/** The index after the last line of a report that begins here; undefined if none begins. */
function endOfTime(lines: string[], index: number): number | undefined {
  const bare = lines[index] ?? '';
  const label = BSD_FIRST.test(bare) ? BSD_LABEL : GNU_FIRST.test(bare) ? GNU_LABEL : undefined;
  if (label === undefined) return undefined;
  let end = index;
  while (label.test(lines[end] ?? '')) end += 1;
  // One line that looks like a report is prose, unless it is BSD's three times in one.
  const first = end === index + 1 ? bare : undefined;
  return first === undefined || /real\s.*user\s.*sys$/.test(first) ? end : undefined;
}

/** Returns true if a line repeats a field of the test, so that another test begins. Only tables and totals count. */
function repeats(test: PrintedTest, { fields, begins }: LineOfTest): boolean {
  return begins && (fields.url !== undefined || Object.keys(fields).some((field) => field in test));
}

function commandOf(block: string[]): string | undefined {
  return block
    .map((line) => /^Command being timed: "(.*)"$/.exec(line)?.[1])
    .find((found) => found !== undefined);
}

/** The command of the last `time` typed at a prompt, without the options of time itself. */
function commandBefore(lines: string[]): string | undefined {
  for (const line of lines.toReversed()) {
    const typed =
      /^(?:\S*[$%#❯]\s+)?(?:[A-Z_]+=\S*\s+)*(?:(?:sudo|command|exec)\s+)*(?:\/\S+\/)?g?time\s+(-.+)$/.exec(
        line,
      )?.[1];
    if (typed === undefined) continue;
    const words = typed.split(/\s+/);
    while (words[0]?.startsWith('-')) {
      const [flag = ''] = words.splice(0, 1);
      if (/^(?:-\w*[of]|--output|--format)$/.test(flag)) words.splice(0, 1);
    }
    if (words.length > 0) return words.join(' ');
  }
  return undefined;
}

/**
 * Pairs each report with a table: the nearest above it, if no other report has it already and the command
 * ran as long as the test. Reports without a matching table are omitted.
 */
export function pair({ tests, times }: Document): Map<PrintedTime, PrintedTest> {
  const pairs = new Map<PrintedTime, PrintedTest>();
  for (const time of times) {
    const nearest = tests.filter(({ line, warmup }) => line < time.line && warmup === undefined).at(-1);
    if (nearest === undefined || [...pairs.values()].includes(nearest)) continue;
    const { elapsedSeconds: life } = time.report;
    const spent = nearest.elapsedSeconds ?? nearest.nominalSeconds;
    if (life !== undefined && spent !== undefined && life < spent) continue;
    pairs.set(time, nearest);
  }
  return pairs;
}
