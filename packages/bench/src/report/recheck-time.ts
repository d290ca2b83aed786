/** Sentences on the processes that a report of time(1) covers. */

import type { CheckedTime } from '../analyse/recheck/recheck.ts';
import { LEAST_CPU_US, type TimeCheck } from '../analyse/recheck/timed.ts';
import { formatBytes, formatCost } from './format.ts';
import type { Note } from './recheck-table.ts';

/** Describes one report of time(1) in named paragraphs. */
export function describeTime({ printed, check }: CheckedTime): Note[] {
  const { command, line, report } = printed;
  const { userSeconds = 0, systemSeconds = 0 } = report;
  const cpu =
    check.cpuSeconds === undefined
      ? 'no CPU'
      : `${seconds(userSeconds)} user and ${seconds(systemSeconds)} system`;
  return [
    [
      'time(1)',
      `line ${line}: ${command ?? 'the command is not in the text'}; ${cpu}${check.lifeSeconds === undefined ? '' : ` in ${seconds(check.lifeSeconds)}`}`,
    ],
    ['covers', describeCover(check, command)],
    ...wrapped('cpu', sayCpu(check)),
    ...wrapped('life', sayLife(check)),
    ...wrapped('fields', sayFields(check, report.format)),
  ];
}

/** Says which processes a report covers, and how that is known. */
export function describeCover(check: TimeCheck, command: string | undefined): string {
  return [sayCover(check, command), ...sayEvidence(check)].join(' ');
}

function sayCover({ covers, launcher }: TimeCheck, command: string | undefined): string {
  switch (covers) {
    case 'launcher':
      return `the launcher (${launcher}), not the server.`;
    case 'not-the-server':
      return 'a process other than the server that answered.';
    case 'generator':
      return 'autocannon, not the server.';
    case 'tree':
      return launcher === undefined
        ? `${command ?? 'the command'} and the processes or threads under it.`
        : `the launcher (${launcher}) together with the server, which it waited for.`;
    case 'process':
      return `${command ?? 'the command'}: the report is consistent with one process, the server itself.`;
    case 'unknown':
      return launcher === undefined
        ? 'unknown: the command is not in the text.'
        : `unknown: it wraps a launcher (${launcher}) and includes the server only if the launcher waited for it.`;
  }
}

function sayEvidence(check: TimeCheck): string[] {
  const {
    cpuUsPerAnswer,
    impossible,
    silent,
    messagesPerAnswer,
    directChildOnly,
    clockHertz,
    cores = 0,
  } = check;
  const evidence: string[] = [];
  if (impossible && cpuUsPerAnswer !== undefined)
    evidence.push(
      `${cpuUsPerAnswer.toFixed(1)} µs of CPU per answer is impossible: the kernel alone takes about ${LEAST_CPU_US} µs to read and write a socket.`,
    );
  if (messagesPerAnswer !== undefined && (silent || check.covers === 'tree'))
    evidence.push(
      silent
        ? `It sent ${messagesPerAnswer === 0 ? 'no messages' : `${messagesPerAnswer.toFixed(2)} messages per answer`}; a server sends at least one for each.`
        : `It sent ${messagesPerAnswer.toFixed(2)} messages per answer, as a server does.`,
    );
  if (directChildOnly && clockHertz !== undefined)
    evidence.push(
      `Its cycles divided by its CPU seconds give ${Math.round(clockHertz / 1e6)} MHz, slower than any processor: child processes used nearly all the CPU.`,
    );
  if (cores > 1.1)
    evidence.push(
      `It kept ${cores.toFixed(1)} cores busy on average: do not compare it with a server that ran on one.`,
    );
  return evidence;
}

function sayCpu({ cpuUsPerAnswer, cpuSeconds, covers }: TimeCheck): string | undefined {
  if (
    cpuSeconds === undefined ||
    covers === 'launcher' ||
    covers === 'not-the-server' ||
    covers === 'generator'
  )
    return undefined;
  if (cpuUsPerAnswer === undefined) return 'per answer: unknown, because the number of answers is unknown.';
  return `${formatCost(cpuUsPerAnswer)} µs per answer over its whole life. This includes start-up and errors, but no process that it did not wait for.`;
}

function sayLife({ lifeSeconds, beyondSeconds }: TimeCheck): string | undefined {
  if (lifeSeconds === undefined || beyondSeconds === undefined) return undefined;
  return `${seconds(lifeSeconds)}, of which ${seconds(beyondSeconds)} were outside the test.`;
}

function sayFields(
  { maxResidentBytes, directChildOnly, covers }: TimeCheck,
  format: 'gnu' | 'bsd',
): string | undefined {
  const sentences: string[] = [];
  if (maxResidentBytes !== undefined)
    sentences.push(
      `${formatBytes(maxResidentBytes)} maximum resident set size is that of the largest single process${covers === 'tree' ? ', whichever it was,' : ','} not a sum.`,
    );
  if (format === 'bsd')
    sentences.push(
      `Instructions, cycles and peak footprint cover the direct child only${directChildOnly ? ', which was not the server' : ''}.`,
    );
  return sentences.length === 0 ? undefined : sentences.join(' ');
}

function wrapped(name: string, text: string | undefined): Note[] {
  return text === undefined ? [] : [[name, text]];
}

function seconds(value: number): string {
  return `${value.toFixed(2)} s`;
}
