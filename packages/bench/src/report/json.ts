import { summarise } from '../analyse/summary.ts';
import { redact } from '../redact.ts';
import type { Source } from './view.ts';

/** Renders the whole run as one JSON document: the plan, the host, the summary rows and every trial. */
export function renderJson({ plan, host, leftOut, trials }: Source): string {
  return toJson({ schema: 3, plan, host, leftOut, rows: summarise(trials), trials });
}

/** Renders a value as a JSON document, with its secrets redacted. */
export function toJson(value: unknown): string {
  return `${JSON.stringify(redact(value), null, 2)}\n`;
}
