import { setImmediate } from 'node:timers/promises';
import { inspect } from 'node:util';
import { present } from 'bench-model/options';
import { cureForFull, toBenchError, UsageError } from 'bench-model/errors';
import type { Layout } from 'bench-report/terminal';
import { paintFor } from 'bench-report/paint';
import { toLine, toOutput, toPrintable } from 'bench-report/printable';
import type { Screen } from 'bench-report/progress';
import type { Tell } from 'bench-targets/prepare/prepare';
import type { Voice, Words } from './voice.ts';

/** Under `npx pnpm` one Ctrl-C arrives twice. A second signal within this time counts as the same press. */
const SAME_PRESS_MS = 1000;

/** The longest time for a command to stop. What it leaves behind is then ended by its watchdogs and the next command. */
const LONGEST_STOP_MS = 60_000;

const CLEAR_LINE = '\r\u001B[K';
const LINE_ABOVE = '\u001B[A';

/** The live lines on the terminal, which the next text replaces. */
let liveLines = 0;

/** Writes text on stderr, in place of the live lines if there are some. */
function writeLog(text: string, { isLive = false } = {}): void {
  const clear = Array.from({ length: liveLines }, () => CLEAR_LINE).join(LINE_ABOVE);
  process.stderr.write(`${clear}${text}${isLive ? '' : '\n'}`);
  liveLines = isLive ? text.split('\n').length : 0;
}

/** Prints one line on stderr; stdout belongs to the report. */
export const logLine: Tell = (line) => writeLog(toOutput(line));
if (process.stderr.isTTY) {
  // A line that wraps could not be replaced.
  logLine.showLive = (text) => screen.showLive(toLine(text).slice(0, (process.stderr.columns || 80) - 1));
}

/** Prints a report in colour on stdout, in place of the live lines. Its parts were made safe before they were coloured. */
export function printStyled(text: string): void {
  if (liveLines > 0) writeLog('', { isLive: true });
  liveLines = 0;
  process.stdout.write(text);
}

/** Prints a report on stdout. */
export function print(text: string): void {
  printStyled(toOutput(text));
}

/** Prints a JSON document on stdout. Its values are already without secrets; a search in the text could hit figures. */
export function printJson(text: string): void {
  printStyled(toPrintable(text));
}

/** Writes on stdout, and returns when the text has left. */
async function writeOut(text: string): Promise<void> {
  await new Promise((resolve) => {
    process.stdout.write(text, resolve);
  });
}

/** Sends a message to the command that started this program, and returns when it has left. */
export async function sendMessage(message: object): Promise<void> {
  await writeOut(`${JSON.stringify(message)}\n`);
}

/** Returns the layout of a text on a stream: a terminal has a width. */
function layoutOn(stream: NodeJS.WriteStream): Layout {
  return { ...present({ width: stream.columns || undefined }), paint: paintFor(stream) };
}

/** Shows the progress of a run on stderr. */
export const screen: Screen = {
  isLive: process.stderr.isTTY,
  layout: () => layoutOn(process.stderr),
  showLive(text) {
    const lines = text.split('\n').map((line) => toLine(toOutput(line)));
    writeLog(lines.join('\n'), { isLive: true });
  },
  showLine: (text, style) => {
    const line = toLine(toOutput(text));
    writeLog(style === undefined ? line : paintFor(process.stderr)(style, line));
  },
  showReport: (text) => writeLog(text.trimEnd()),
};

/** A report shows at most this many lines of notes; `--detail` shows all of them. */
const MOST_NOTE_LINES = 10;

/** Returns the layout of a report on stdout. A brief one has few notes, unless `detail` asks for all of them. */
export function layoutFor(options: Partial<Record<'detail' | 'isBrief', boolean>>): Layout {
  const { detail = false, isBrief = true } = options;
  const { width, ...layout } = layoutOn(process.stdout);
  return { ...layout, ...(!detail && present({ width, noteLines: isBrief ? MOST_NOTE_LINES : undefined })) };
}

/** Returns the maximum width of a table: that of the terminal; unlimited for a file or pipe. */
export function widthFor(): number | undefined {
  return layoutOn(process.stdout).width;
}

/** The output of a command, of which a part may be lost. */
interface Output extends Disposable {
  /** Returns a usage error if the standard output was lost, other than by its reader. */
  findLost(): Promise<UsageError | undefined>;
}

/** Nowhere is left to say that the errors are lost. */
function ignore(): void {}

/**
 * Until disposed, the output may be lost without an end of the command: what it measures is stored. A pipe can be closed by its
 * reader, as `| head` does, and a disk can be full.
 */
export function bearLostOutput(): Output {
  let lost: NodeJS.ErrnoException | undefined;
  const note = (error: NodeJS.ErrnoException): void => {
    if (error.code !== 'EPIPE' && error.code !== 'EIO') lost ??= error;
  };
  process.stdout.on('error', note);
  process.stderr.on('error', ignore);
  return {
    async findLost() {
      // A pipe takes a long text piece by piece, and its reader can leave meanwhile.
      await writeOut('');
      // A stream reports its error after the write.
      await setImmediate();
      const cure = lost && (cureForFull(lost) ?? 'send it to another place; what was stored before is kept');
      return lost && new UsageError(`the standard output cannot be written: ${lost.message}`, cure);
    },
    [Symbol.dispose]() {
      process.stdout.off('error', note);
      process.stderr.off('error', ignore);
    },
  };
}

/** Prints the message of an error and returns its exit code. Shows a stack trace only with DEBUG. */
export function fail(error: unknown): number {
  if (process.env['DEBUG'] !== undefined) logLine(inspect(error));
  const known = toBenchError(error);
  const { message, hint, exitCode } = known ?? {
    message: error instanceof Error ? error.message : String(error),
    hint: 'this is a bug in Bench: DEBUG=1 prints the stack trace',
    exitCode: 1,
  };
  logLine(`error: ${message}${hint === undefined ? '' : `\n${hint}`.replaceAll('\n', '\n       ')}`);
  return exitCode;
}

/** The exit code of a command that was interrupted. */
export const INTERRUPTED = 130;

const INTERRUPTS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** A handler of interruptions: the one of the innermost step of the command is called. */
interface Handler {
  stop: () => void;
  words: Words;
}

const handlers: Handler[] = [];
/** Ends the process if a stop takes too long. */
let patience: NodeJS.Timeout | undefined;
/** The time of the first Ctrl-C, in ms; undefined before it. */
let pressedAt: number | undefined;

function press(): void {
  const now = performance.now();
  if (pressedAt !== undefined) {
    if (now - pressedAt > SAME_PRESS_MS) process.exit(INTERRUPTED);
    return;
  }
  pressedAt = now;
  const handler = handlers.at(-1);
  if (handler === undefined) return;
  const { stop, words } = handler;
  logLine(`\n${typeof words === 'string' ? words : words()}`);
  patience = setTimeout(() => process.exit(INTERRUPTED), LONGEST_STOP_MS);
  stop();
}

/**
 * Until disposed, the first Ctrl-C (or SIGTERM) prints `words` and calls `stop`, in place of earlier handlers. A second
 * one ends the process immediately, unless it is an echo of the first.
 */
export function onInterrupt(stop: () => void, words: Words): Disposable {
  if (handlers.length === 0) for (const signal of INTERRUPTS) process.on(signal, press);
  const handler = { stop, words };
  handlers.push(handler);
  return {
    [Symbol.dispose]() {
      const index = handlers.indexOf(handler);
      if (index === -1) return;
      handlers.splice(index, 1);
      if (handlers.length > 0) return;
      pressedAt = undefined;
      clearTimeout(patience);
      for (const signal of INTERRUPTS) process.off(signal, press);
    },
  };
}

/** The voice of a command: a terminal, where Ctrl-C interrupts. */
export const terminal: Voice = {
  log: logLine,
  screen,
  onInterrupt,
  quit(release) {
    release();
    process.exit(INTERRUPTED);
  },
};
