/** All colour of the terminal. `NO_COLOR`, `FORCE_COLOR` and streams that are no terminal are honoured by `styleText`. */
import { styleText } from 'node:util';

const STYLES = {
  strong: 'bold',
  faint: 'dim',
  bad: 'red',
  doubtful: 'yellow',
  good: 'green',
} as const;

/** The meaning of a text that is shown in colour. */
export type Style = keyof typeof STYLES;

/** Colours a text that has no control characters. */
export type Paint = (style: Style, text: string) => string;

/** Leaves every text as it is. */
export const plain: Paint = (_, text) => text;

/** Returns the paint for a stream: none if it shows no colours. */
export function paintFor(stream: NodeJS.WritableStream): Paint {
  return (style, text) => (text === '' ? text : styleText(STYLES[style], text, { stream }));
}
