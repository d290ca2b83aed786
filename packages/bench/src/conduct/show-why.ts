/** Shows the explanation of a run in the terminal. */
import type { View } from 'bench-report/content';
import { describeExplanation, describeMissing, viewWhy } from 'bench-report/why';
import type { WhyFile } from 'bench-model/why';
import { logLine, print, printStyled } from '../terminal/shell.ts';
import { showView } from './compared.ts';

/** Prints for each pair the table of the functions that changed, what a request takes, and sentences about them. */
export function showWhy(why: WhyFile): void {
  for (const line of describeMissing(why)) logLine(line);
  for (const view of viewWhy(why)) {
    for (const one of [view.table, view.use].filter(hasRows)) printStyled(showView(one));
    const notes = hasRows(view.table) ? [] : view.table.notes.map((note) => `  ${note}`);
    print(`${[...describeExplanation(view), ...notes].join('\n')}\n`);
  }
}

function hasRows({ groups }: View): boolean {
  return groups.some(({ rows }) => rows.length > 0);
}
