/** Finds the process that a report of time(1) covers, by its command and its figures. */

import { present } from '../../plan/options.ts';
import type { PrintedTest } from './autocannon.ts';
import type { PrintedTime } from './document.ts';
import { answersOf } from './goodput.ts';

/** The check of a report and of the process that it covers. */
export interface TimeCheck {
  /** The launcher that the command begins with, as typed: `pnpm run`. */
  launcher?: string;
  /**
   * `launcher`: the command that started the server, without the server. `generator`: autocannon itself.
   * `tree`: the server and further processes. `process`: the figures are consistent with one process.
   */
  covers: 'launcher' | 'not-the-server' | 'generator' | 'tree' | 'process' | 'unknown';
  cpuSeconds?: number;
  /** CPU seconds per second of its life. */
  cores?: number;
  /** CPU ÷ answers, whole life. An impossibly small figure shows that the server is not included. */
  cpuUsPerAnswer?: number;
  impossible: boolean;
  /** BSD: messages sent per answer. A server sends at least one. */
  messagesPerAnswer?: number;
  silent: boolean;
  /** BSD: cycles ÷ CPU seconds. Below any clock rate, cycles and CPU belong to different processes. */
  clockHertz?: number;
  /** True if instructions, cycles and peak footprint exclude the process that used the CPU. */
  directChildOnly: boolean;
  lifeSeconds?: number;
  /** The part of its life outside the test, in seconds. */
  beyondSeconds?: number;
  maxResidentBytes?: number;
}

/**
 * The least CPU for one request and its answer over loopback TCP, one at a time: the kernel alone needs this to read
 * and write a socket.
 */
export const LEAST_CPU_US = 5;
/** No processor in use runs slower than this. */
const LEAST_HERTZ = 300e6;
/** Above this number of cores, more than one process or thread was busy. */
const MORE_THAN_ONE = 1.1;
/** With fewer messages per answer, another process answered. */
const FEW_MESSAGES = 0.5;

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

/** Checks a report, with its table if there is one. */
export function checkTime({ command, report }: PrintedTime, test?: PrintedTest): TimeCheck {
  const { userSeconds, systemSeconds, elapsedSeconds: life, cycles, messagesSent, maxResidentBytes } = report;
  const answers = test === undefined ? undefined : answersOf(test)?.count;
  const cpuSeconds =
    userSeconds === undefined || systemSeconds === undefined ? undefined : userSeconds + systemSeconds;
  const cores = ratio(cpuSeconds, life);
  const cost = ratio(cpuSeconds, answers);
  const cpuUsPerAnswer = cost === undefined ? undefined : cost * 1e6;
  const messagesPerAnswer = ratio(messagesSent, answers);
  const clockHertz = ratio(cycles, cpuSeconds);
  const spent = test?.elapsedSeconds ?? test?.nominalSeconds;
  const launcher = command === undefined ? undefined : launcherOf(command);
  // Pipelined requests share the work of the kernel.
  const alone = (test?.pipelining ?? 1) === 1;
  const impossible = alone && (cpuUsPerAnswer ?? LEAST_CPU_US) < LEAST_CPU_US;
  const silent = (messagesPerAnswer ?? 1) < FEW_MESSAGES;
  const directChildOnly = (clockHertz ?? LEAST_HERTZ) < LEAST_HERTZ;
  return {
    ...present({
      launcher,
      cpuSeconds,
      cores,
      cpuUsPerAnswer,
      messagesPerAnswer,
      clockHertz,
      lifeSeconds: life,
      beyondSeconds: life === undefined || spent === undefined ? undefined : life - spent,
      maxResidentBytes,
    }),
    impossible,
    silent,
    directChildOnly,
    covers: coverOf(),
  };

  function coverOf(): TimeCheck['covers'] {
    if (/\bautocannon\b/.test(command ?? '')) return 'generator';
    if (impossible || silent) return launcher === undefined ? 'not-the-server' : 'launcher';
    if (directChildOnly || (cores ?? 0) > MORE_THAN_ONE) return 'tree';
    if (command === undefined) return 'unknown';
    if (launcher === undefined) return 'process';
    // A launcher with enough CPU for the answers waited for the server, so its CPU includes the server's.
    return cpuUsPerAnswer !== undefined && alone ? 'tree' : 'unknown';
  }
}

/** The launcher in a command, as typed; undefined if the command is not a known launcher. */
function launcherOf(command: string): string | undefined {
  const bare = command
    .replace(/^(?:(?:env|nohup|nice|exec)\s+|[A-Za-z_]\w*=\S*\s+)*/, '')
    .replace(/^\S*\//, '');
  return LAUNCHERS.map((pattern) => pattern.exec(bare)?.[0]).find((found) => found !== undefined);
}

function ratio(of: number | undefined, by: number | undefined): number | undefined {
  return of === undefined || by === undefined || by === 0 ? undefined : of / by;
}
