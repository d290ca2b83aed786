/** The widths of texts on a terminal. */
import { stripVTControlCharacters } from 'node:util';

/** Returns the columns that a text takes on a terminal. */
export function widthOf(text: string): number {
  return Math.max(
    ...stripVTControlCharacters(text)
      .split('\n')
      .map((line) => line.length),
  );
}

/** Breaks a line between words at `width` columns, and indents the following lines by four. */
export function wrap(line: string, width: number): string {
  const [first = '', ...words] = line.split(/(?<=\S) /);
  const lines = [first];
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`;
    if (longer.length > width) lines.push(`    ${word}`);
    else lines[lines.length - 1] = longer;
  }
  return lines.join('\n');
}
