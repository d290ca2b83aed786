/** Draws a table of a document. Columns outside `words` are right-aligned. */
export function drawTable(head: string[], rows: (string | undefined)[][], words = new Set(head)): string {
  const alignment = head.map((name) => (words.has(name) ? '---' : '---:'));
  return [head, alignment, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
