/** Shows the explanation of a run in the terminal. */
import { renderTerminal } from 'bench-report/terminal';
import { describeMissing, describeWhy, viewWhy } from 'bench-report/why';
import type { WhyFile } from 'bench-model/why';
import { layoutFor, logLine, print, printStyled } from '../terminal/shell.ts';

/** Prints for each pair the table of the functions that changed, and sentences about them. */
export function showWhy(why: WhyFile): void {
  for (const line of describeMissing(why)) logLine(line);
  for (const view of viewWhy(why)) {
    const { table } = view;
    const hasRows = table.groups.some(({ rows }) => rows.length > 0);
    if (hasRows) printStyled(renderTerminal(table, layoutFor({ isBrief: false })));
    const notes = hasRows ? [] : table.notes.map((note) => `  ${note}`);
    print(`${[...describeWhy(view), ...notes].join('\n')}\n`);
  }
}
