import type { Plan } from 'bench-model/plan';
import { commandLine } from 'bench-machine/home';
import { redact } from 'bench-machine/redact';
import { joinWords } from 'bench-targets/catalogue/projects/words';

/**
 * The characters that a terminal obeys instead of showing them: C0 and C1 controls except the line feed, and those that
 * change the direction of the text that follows.
 */
// oxlint-disable-next-line no-control-regex
const OBEYED = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/g;

/**
 * Returns a text with control characters written as `\u001b`. The words of a server must not move the cursor, set the
 * title or answer in the name of the terminal. A JSON text stays the same JSON.
 */
export function toPrintable(text: string): string {
  return text.replaceAll(OBEYED, (character) =>
    character === '\t' ? '  ' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Returns a text that is safe to show: secrets redacted, control characters written out. */
export function toOutput(text: string): string {
  return toPrintable(redact(text));
}

/** Returns the command that was typed for a run, on one line, so that each word of a stored one is seen and quoted. */
export function typeBench(words: readonly string[], { upgrade }: Pick<Plan, 'upgrade'>): string {
  return toLine(commandLine(joinWords([upgrade === true ? 'upgrade' : 'bench', ...words])));
}

/** Returns a text on one line: a server must not add lines to a report. */
export function toLine(text: string): string {
  return text.replaceAll(/\n+/g, ' ');
}
