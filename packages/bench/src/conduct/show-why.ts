/** Shows the explanation of a run in the terminal. */
import type { View } from 'bench-report/content';
import { describeMissing, viewWhy } from 'bench-report/why';
import type { WhyFile } from 'bench-model/why';
import { logLine, print, printStyled } from '../terminal/shell.ts';
import { showView } from './compared.ts';

/** Prints for each pair sentences about its difference, the table of places and packages that changed, and what a request takes. */
export function showWhy(why: WhyFile): void {
  for (const line of describeMissing(why)) logLine(line);
  for (const view of viewWhy(why)) {
    print(`${[view.heading, ...view.sentences.map((one) => `  ${one}`)].join('\n')}\n`);
    for (const one of [view.table, view.use].filter(hasRows)) printStyled(showView(one));
  }
}

function hasRows({ groups }: View): boolean {
  return groups.some(({ rows }) => rows.length > 0);
}
