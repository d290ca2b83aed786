/** What a report of time(1) covers, as sentences. */

import type { CheckedTime } from '../analyse/recheck/recheck.ts';
import { LEAST_CPU_US, type TimeCheck } from '../analyse/recheck/timed.ts';
import { formatBytes, formatCost } from './format.ts';
import type { Note } from './recheck-table.ts';

/** Paragraphs on one report, their names in front. */
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
    ['covers', [sayCover(check, command), ...sayEvidence(check)].join(' ')],
    ...wrapped('cpu', sayCpu(check)),
    ...wrapped('life', sayLife(check)),
    ...wrapped('fields', sayFields(check, report.format)),
  ];
}

function sayCover({ covers, launcher }: TimeCheck, command: string | undefined): string {
  switch (covers) {
    case 'launcher':
      return `the launcher (${launcher}), not the server.`;
    case 'not-the-server':
      return 'something else than the server that answered.';
    case 'generator':
      return 'autocannon, not the server.';
    case 'tree':
      return launcher === undefined
        ? `${command ?? 'the command'} and the processes or threads under it.`
        : `the launcher (${launcher}) together with the server, which it waited for.`;
    case 'process':
      return `${command ?? 'the command'}: nothing in the report speaks against it being one process, the server itself.`;
    case 'unknown':
      return launcher === undefined
        ? 'not told: the command is not in the text.'
        : `not told: it wraps a launcher (${launcher}), and holds the server only if that waited for it.`;
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
      `${cpuUsPerAnswer.toFixed(1)} µs of CPU for each answer is not possible: a read and a write of a socket cost the kernel about ${LEAST_CPU_US}.`,
    );
  if (messagesPerAnswer !== undefined && (silent || check.covers === 'tree'))
    evidence.push(
      silent
        ? `It sent ${messagesPerAnswer === 0 ? 'no messages' : `${messagesPerAnswer.toFixed(2)} messages for each answer`}; a server sends at least one for each.`
        : `It sent ${messagesPerAnswer.toFixed(2)} messages for each answer, as a server does.`,
    );
  if (directChildOnly && clockHertz !== undefined)
    evidence.push(
      `Its cycles over its CPU seconds make ${Math.round(clockHertz / 1e6)} MHz, slower than any processor: nearly all the CPU is of processes under the one that was started.`,
    );
  if (cores > 1.1)
    evidence.push(
      `${cores.toFixed(1)} cores were busy on average over its life: compare it with nothing that ran on one.`,
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
  if (cpuUsPerAnswer === undefined) return 'for each answer: not known, for the answers are not.';
  return `${formatCost(cpuUsPerAnswer)} µs for each answer, over its whole life: start-up and errors are in it, processes that it did not wait for are not.`;
}

function sayLife({ lifeSeconds, beyondSeconds }: TimeCheck): string | undefined {
  if (lifeSeconds === undefined || beyondSeconds === undefined) return undefined;
  return `${seconds(lifeSeconds)}, of which ${seconds(beyondSeconds)} were not the test.`;
}

function sayFields(
  { maxResidentBytes, directChildOnly, covers }: TimeCheck,
  format: 'gnu' | 'bsd',
): string | undefined {
  const sentences: string[] = [];
  if (maxResidentBytes !== undefined)
    sentences.push(
      `${formatBytes(maxResidentBytes)} maximum resident set size is the largest single process${covers === 'tree' ? ', whichever that was,' : ','} not a sum.`,
    );
  if (format === 'bsd')
    sentences.push(
      `Instructions, cycles and peak footprint are of the direct child only${directChildOnly ? ', which is not what served' : ''}.`,
    );
  return sentences.length === 0 ? undefined : sentences.join(' ');
}

function wrapped(name: string, text: string | undefined): Note[] {
  return text === undefined ? [] : [[name, text]];
}

function seconds(value: number): string {
  return `${value.toFixed(2)} s`;
}
