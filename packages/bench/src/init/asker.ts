/** The questions of `init`, and who answers them: the user, or nobody, which takes the answer that is filled in. */
import { confirm, isCancel, multiselect, select, text } from '@clack/prompts';
import { BenchError } from 'bench-model/errors';
import { toLine, toOutput } from 'bench-report/printable';
import { logLine, print } from '../terminal/shell.ts';

/** An answer to choose, and its evidence. */
export interface Option<T> {
  value: T;
  label: string;
  hint?: string | undefined;
}

/** Answers the questions. */
export interface Asker {
  isUser: boolean;
  /** Returns one of several. The first is filled in. */
  pick<T>(message: string, options: readonly Option<T>[]): Promise<T>;
  pickMany<T>(message: string, options: readonly Option<T>[], initial: readonly T[]): Promise<T[]>;
  /** Returns what is read from the text that is typed. */
  type<T>(message: string, initial: string, read: (typed: string) => T | Promise<T>): Promise<T>;
  agree(message: string): Promise<boolean>;
}

/** Prints a finding in two columns: what it is, and its words. */
export function say(what: string, words: string): void {
  print(`${what.padEnd(9)}${toLine(words)}\n`);
}

export const INTERRUPTED = new BenchError('interrupted', 'interrupted: nothing was written');

/** Returns an answer. Throws if the user has pressed Ctrl-C instead. */
async function answer<T>(asked: Promise<T>): Promise<Exclude<T, symbol>> {
  const given = await asked;
  if (isCancel(given)) throw INTERRUPTED;
  return given as Exclude<T, symbol>;
}

/** Prompts show the index of an option as its value. */
const toRows = (options: readonly Option<unknown>[]) =>
  options.map(({ label, hint = '' }, value) => ({ value, label: toOutput(label), hint: toOutput(hint) }));

/** Returns the user, whose answer is no longer waited for once the signal is aborted. The prompts are on stderr: stdout may be a file. */
export function makeUser(signal: AbortSignal): Asker {
  const on = { output: process.stderr, signal };
  return {
    isUser: true,
    async pick(message, options) {
      const index = await answer(select<number>({ ...on, message, options: toRows(options) }));
      return options[index]!.value;
    },
    async pickMany(message, options, initial) {
      const initialValues = initial.map((one) => options.findIndex(({ value }) => value === one));
      const asked = multiselect({ ...on, message, options: toRows(options), initialValues, required: false });
      return (await answer(asked)).map((index) => options[index]!.value);
    },
    async type(message, initial, read) {
      for (let typed = initial; ;) {
        typed = (await answer(text({ ...on, message, initialValue: typed, defaultValue: '' }))).trim();
        try {
          return await read(typed);
        } catch (error) {
          if (!(error instanceof BenchError) || error.code === 'interrupted') throw error;
          logLine(`${error.message}\n${error.hint ?? ''}`);
        }
      }
    },
    agree: (message) => answer(confirm({ ...on, message })),
  };
}

/** Describes an answer with its evidence. */
export function describe({ label, hint }: Option<unknown>): string {
  return hint === undefined ? label : `${label}, from ${hint}`;
}

export const NOBODY: Asker = {
  isUser: false,
  async pick(_message, [first]) {
    say('assumed', describe(first!));
    return first!.value;
  },
  pickMany: async (_message, _options, initial) => [...initial],
  type: async (_message, initial, read) => read(initial),
  agree: async () => true,
};
