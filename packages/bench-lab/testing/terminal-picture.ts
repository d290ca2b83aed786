/** Terminals of the documents: lines that a recorded command printed, as SVG. */
import { escape, toFile, type Picture } from './pictures.ts';

const COLUMN = 7.83;
const LINE = 20;
const PADDING = 18;
const COLUMNS = 118;

/** Plans the picture of a terminal with these lines. Long lines are wrapped. */
export function toTerminal(name: string, lines: readonly string[]): Picture {
  const shown = lines.flatMap(wrap);
  const width = Math.ceil(COLUMNS * COLUMN + 2 * PADDING);
  const height = shown.length * LINE + 2 * PADDING;
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="ui-monospace, SFMono-Regular, Menlo, 'DejaVu Sans Mono', monospace" font-size="13" fill="var(--text)">`,
    `<rect width="${width}" height="${height}" rx="10" fill="var(--shade)" stroke="var(--line)"/>`,
    ...shown.map(
      (line, index) =>
        `<text x="${PADDING}" y="${PADDING + (index + 0.75) * LINE}" xml:space="preserve"${styleOf(line)}>${colour(line)}</text>`,
    ),
    '</svg>',
  ].join('\n');
  return {
    name: `terminal-${name}`,
    alt: `Terminal: ${lines.join(' ').replaceAll(/\s+/g, ' ')}`,
    width: 860,
    draw: (theme) => toFile(svg, theme),
  };
}

function wrap(line: string): string[] {
  if (line.length <= COLUMNS) return [line];
  const cut = line.lastIndexOf(' ', COLUMNS);
  return [line.slice(0, cut), ...wrap(line.slice(cut + 1))];
}

/** Commands and the cause stand out. */
function styleOf(line: string): string {
  if (/^\$ |^ {2}\S+:\d+ /.test(line)) return ' font-weight="700"';
  return /^\S+ {2}target|^ /.test(line) ? ' fill="var(--faint)"' : '';
}

/** Escapes a line, and colours its verdict. Each run of blanks keeps its width. */
function colour(line: string): string {
  return escape(line)
    .replace(/slower: .*?\)/, '<tspan fill="var(--bad)" font-weight="700">$&</tspan>')
    .replace(/faster: .*?\)/, '<tspan fill="var(--good)" font-weight="700">$&</tspan>');
}
