/** The widths of texts on a terminal. */
import stringWidth from 'string-width';

/** Returns the columns that a text takes on a terminal, as `cli-table3` counts them: two for 商 and for an emoji. */
export function widthOf(text: string): number {
  return Math.max(...text.split('\n').map((line) => stringWidth(line)));
}

/** Breaks a line between words at `width` columns, and indents the following lines by four. */
export function wrap(line: string, width: number): string {
  const [first = '', ...words] = line.split(/(?<=\S) /);
  const lines = [first];
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`;
    if (widthOf(longer) > width) lines.push(`    ${word}`);
    else lines[lines.length - 1] = longer;
  }
  return lines.join('\n');
}
