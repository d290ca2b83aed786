/** Which process a report of time(1) covers, from its command and from its own figures. */

import { present } from '../../plan/options.ts';
import type { PrintedTest } from './autocannon.ts';
import type { PrintedTime } from './document.ts';
import { answersOf } from './goodput.ts';

/** What a report shows about the process that it covers. */
export interface TimeCheck {
  /** The launcher that the command begins with, as typed: `pnpm run`. */
  launcher?: string;
  /**
   * `launcher`: something that started the server, without it. `generator`: autocannon itself.
   * `tree`: the server with more than the process that was started. `process`: nothing speaks against one process.
   */
  covers: 'launcher' | 'not-the-server' | 'generator' | 'tree' | 'process' | 'unknown';
  cpuSeconds?: number;
  /** CPU seconds a second of its life. */
  cores?: number;
  /** CPU over answers, whole life. Impossibly little shows that the server is not in it. */
  cpuUsPerAnswer?: number;
  impossible: boolean;
  /** BSD: messages sent for each answer. A server sends at least one; one that sends none did not serve. */
  messagesPerAnswer?: number;
  silent: boolean;
  /** BSD: cycles over CPU seconds. Too slow for any clock means that they are of another process than the CPU. */
  clockHertz?: number;
  /** Instructions, cycles and peak footprint are not of the process that spent the CPU. */
  directChildOnly: boolean;
  lifeSeconds?: number;
  /** How much of its life was not the test. */
  beyondSeconds?: number;
  maxResidentBytes?: number;
}

/**
 * Less CPU than this for a request and its answer over loopback TCP, one at a time, is not possible: the kernel's own
 * work for a read and a write of a socket takes as long.
 */
export const LEAST_CPU_US = 5;
/** No processor in use runs slower than this. */
const LEAST_HERTZ = 300e6;
/** More than one process or thread was busy. */
const MORE_THAN_ONE = 1.1;
/** Fewer messages than this for each answer: somebody else answered. */
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

/** Judges a report, with the table it belongs to if one was found. */
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
  // Requests in a pipeline share the kernel's work.
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
    // A launcher whose CPU is enough for the answers has waited for the server, and counts its CPU as its own.
    return cpuUsPerAnswer !== undefined && alone ? 'tree' : 'unknown';
  }
}

/** The words that start something else, as typed; undefined where the command is none that is known. */
function launcherOf(command: string): string | undefined {
  const bare = command
    .replace(/^(?:(?:env|nohup|nice|exec)\s+|[A-Za-z_]\w*=\S*\s+)*/, '')
    .replace(/^\S*\//, '');
  return LAUNCHERS.map((pattern) => pattern.exec(bare)?.[0]).find((found) => found !== undefined);
}

function ratio(of: number | undefined, by: number | undefined): number | undefined {
  return of === undefined || by === undefined || by === 0 ? undefined : of / by;
}
