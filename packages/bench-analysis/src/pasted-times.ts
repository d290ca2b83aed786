/** Reads the reports of time(1) in a pasted text, as usage that can be compared with that of a run. */
import { stripVTControlCharacters } from 'node:util';
import { BenchError } from 'bench-model/errors';
import type { TimeReport } from 'bench-model/record';
import { parseTime, TIME_FIELD_NAMES } from 'bench-machine/time-report';
import type { Usage } from './times.ts';

/** One pasted report. */
export interface PastedUsage extends Usage {
  file: string;
  /** Its number among the reports of the text, from 1 on. */
  number: number;
  line: number;
  /** The command that was timed, if the text shows it. */
  command?: string;
  cover: Cover;
}

/** The processes that a report covers, and the figures that show it. */
export interface Cover {
  /** `generator`: autocannon. `tree`: several processes or threads, with the server. `unknown`: it cannot be told. */
  processes: 'server' | 'tree' | 'without the server' | 'generator' | 'unknown';
  /** The launcher that the command begins with, as typed: `pnpm run`. */
  launcher?: string;
  /** CPU per answer, if it is less than a server needs. */
  impossibleUs?: number;
  /** True if it sent fewer messages than a server sends answers. Only BSD counts them. */
  silent: boolean;
  /** Cycles of the direct child per second of CPU, if no processor is that slow: its children used the CPU. */
  clockHertz?: number;
  /** The cores that were busy on average, if more than one was. */
  cores?: number;
}

/**
 * The least CPU for one request and its answer over loopback TCP, one at a time, in µs: the kernel alone needs this to
 * read and write a socket.
 */
export const LEAST_CPU_US = 5;
/** No processor in use runs slower than this. */
const LEAST_HERTZ = 300e6;
/** Above this number of cores, more than one process or thread was busy. */
const MORE_THAN_ONE = 1.1;

const LAUNCHERS: readonly RegExp[] = [
  /^(?:pnpm|npm|yarn|bun|deno)\s+(?:run\b|task\b|start\b|exec\b|dlx\b)/,
  /^(?:pnpm|npm|yarn)\b/,
  /^(?:npx|pnpx|bunx|uvx|tsx|nodemon|concurrently)\b/,
  /^(?:uv|poetry|pipenv|hatch|pdm|rye|pixi|conda)\s+run\b/,
  /^(?:ba|z|da|k|fi)?sh\b/,
  /^(?:make|just|task|turbo|nx)\b/,
  /^(?:docker|podman|nerdctl)\b/,
  /^(?:go|cargo|dotnet)\s+(?:run|watch)\b/,
];

/** The lines of one report of GNU. */
const GNU =
  /(?:Command (?:exited|terminated).*\n)?(?:Command being timed.*\n)?(?:User time \(|Maximum resident set size \().*(?:\n(?!Command )[A-Z].*: \S.*)+/;
/** The lines of one report of BSD, which prints its three times on one line, or each on its own. */
const BSD =
  /\d[\d.,]*\s+(?:real\b.*\ssys|(?:real|maximum resident set size)(?=\n\d))(?:\n\d[\d.,]*\s+(?!real\b)[a-z].*)*/;
const REPORTS = new RegExp(`^(?:${GNU.source}|${BSD.source})$`, 'gm');

/** Reads all reports of a text in order. Throws a usage error if it has none. */
export function readPastedTimes(text: string, file: string): PastedUsage[] {
  const bare = bareOf(text);
  let end = 0;
  const reports = [...bare.matchAll(REPORTS)].map((found, index): PastedUsage => {
    const [block] = found;
    const before = bare.slice(end, found.index);
    end = found.index + block.length;
    const command = /^Command being timed: "(.*)"$/m.exec(block)?.[1] ?? commandIn(before);
    return {
      file,
      number: index + 1,
      line: bare.slice(0, found.index).split('\n').length,
      ...(command !== undefined && { command }),
      ...toUsage(parseTime(block), command, answersIn(before)),
    };
  });
  if (reports.length > 0) return reports;
  throw new BenchError(
    'usage',
    `${file}: no time(1) report`,
    'paste the output of GNU `/usr/bin/time -v` or macOS `/usr/bin/time -l`',
  );
}

/** Returns a text without colours, quotation marks and margins. */
function bareOf(text: string): string {
  const lines = stripVTControlCharacters(text).split(/\r?\n/);
  return lines.map((line) => line.replace(/^[>\s]+/, '').trimEnd()).join('\n');
}

/** The command of the last `time` typed at a prompt, without the options of time itself. */
function commandIn(before: string): string | undefined {
  const typed = [
    ...before.matchAll(
      /^(?:\S*[$%#❯]\s+)?(?:[A-Z_]+=\S*\s+)*(?:(?:sudo|command|exec)\s+)*(?:\/\S+\/)?g?time((?:\s+-(?:\w*[of]|-output|-format)\s+\S+|\s+-\S+)+)\s+(\S.*)$/gm,
    ),
  ];
  return typed.at(-1)?.[2];
}

/**
 * The answers that the last table of autocannon counts: the mean per tick times the ticks. Undefined without a table, and
 * if requests were pipelined: such answers share the work of the kernel.
 */
function answersIn(before: string): number | undefined {
  const start = before.lastIndexOf('Req/Sec');
  if (start === -1) return undefined;
  const setting = before.slice(Math.max(0, before.lastIndexOf('Running ', start)), start);
  const table = before.slice(start);
  const mean = parseFigure(/^Req\/Sec\s*(?:[│|][^│|\n]*){4}[│|]([^│|\n]*)/.exec(table)?.[1] ?? '');
  const samples = /^# of samples: (\d+)$/m.exec(table)?.[1];
  if (mean === undefined || samples === undefined || /pipelining factor$/m.test(setting)) return undefined;
  // The samples of all workers are added up, although their ticks are merged.
  const workers = Number(/^(\d+) workers?$/m.exec(setting)?.[1] ?? 1);
  return Math.round((mean * Number(samples)) / workers);
}

/** A number with the separators of any locale. No figure of a table has more than two decimals. */
function parseFigure(cell: string): number | undefined {
  const [, whole, fraction = ''] = /^(\d[\d.,\s'’]*?)(?:[.,](\d{1,2}))?$/.exec(cell.trim()) ?? [];
  return whole === undefined ? undefined : Number(`${whole.replace(/\D/g, '')}.${fraction}`);
}

/** The usage of a report. Its CPU is divided by the answers only if it includes the server. */
function toUsage(
  report: TimeReport,
  command: string | undefined,
  answers: number | undefined,
): Usage & { cover: Cover } {
  const { format, userSeconds, systemSeconds } = report;
  const fields = TIME_FIELD_NAMES.flatMap((name) => {
    const value = report[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const cpuUs =
    userSeconds === undefined || systemSeconds === undefined
      ? undefined
      : (userSeconds + systemSeconds) * 1e6;
  const cpuUsPerAnswer = ratio(cpuUs, answers);
  const cover = coverOf(report, command, answers, cpuUs);
  const includesServer = cover.processes !== 'generator' && cover.processes !== 'without the server';
  return {
    format,
    fields: Object.fromEntries(fields),
    cover,
    ...(includesServer && answers !== undefined && { answers }),
    ...(includesServer && cpuUsPerAnswer !== undefined && { cpuUsPerAnswer }),
  };
}

function coverOf(
  { elapsedSeconds, messagesSent, cycles }: TimeReport,
  command: string | undefined,
  answers: number | undefined,
  cpuUs: number | undefined,
): Cover {
  const perAnswer = ratio(cpuUs, answers);
  const launcher = command === undefined ? undefined : launcherIn(command);
  const impossible = perAnswer !== undefined && perAnswer < LEAST_CPU_US;
  // A server sends at least one message for each answer.
  const silent = messagesSent !== undefined && messagesSent < (answers ?? 1) / 2;
  const clockHertz = ratio(cycles, cpuUs === undefined ? undefined : cpuUs / 1e6);
  const slow = clockHertz !== undefined && clockHertz < LEAST_HERTZ;
  const cores = ratio(cpuUs, elapsedSeconds === undefined ? undefined : elapsedSeconds * 1e6);
  const many = cores !== undefined && cores > MORE_THAN_ONE;
  return {
    processes: processes(),
    ...(launcher !== undefined && { launcher }),
    ...(impossible && { impossibleUs: perAnswer }),
    silent,
    ...(slow && { clockHertz }),
    ...(many && { cores }),
  };

  function processes(): Cover['processes'] {
    if (/\bautocannon\b/.test(command ?? '')) return 'generator';
    if (impossible || silent) return 'without the server';
    if (slow || many) return 'tree';
    if (command === undefined) return 'unknown';
    if (launcher === undefined) return 'server';
    // A launcher with enough CPU for the answers waited for the server, so its CPU includes that of the server.
    return perAnswer === undefined ? 'unknown' : 'tree';
  }
}

/** The launcher that a command begins with, as typed. */
function launcherIn(command: string): string | undefined {
  const bare = command
    .replace(/^(?:(?:env|nohup|nice|exec)\s+|[A-Za-z_]\w*=\S*\s+)*/, '')
    .replace(/^\S*\//, '');
  return LAUNCHERS.map((pattern) => pattern.exec(bare)?.[0]).find((found) => found !== undefined);
}

function ratio(of: number | undefined, by: number | undefined): number | undefined {
  return of === undefined || by === undefined || by === 0 ? undefined : of / by;
}
