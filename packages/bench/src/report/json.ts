import { summarise } from '../analyse/summary.ts';
import type { Source } from './view.ts';

/** The whole run as one JSON document: the plan, the host, the summary rows and every trial. */
export function renderJson({ plan, host, leftOut, trials }: Source): string {
  return `${JSON.stringify({ schema: 1, plan, host, leftOut, rows: summarise(trials), trials }, null, 2)}\n`;
}
