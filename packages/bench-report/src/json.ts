import { redact } from 'bench-machine/redact';
import { REPORT_SCHEMA } from 'bench-model/versions';
import { toModel, type Source } from './model/model.ts';
import { describeAll } from './notes.ts';

/** Renders a run as one JSON document: the model of its report, and the complete records. */
export function renderJson(source: Source): string {
  const model = toModel(source, { distributions: true });
  return toJson({ schema: REPORT_SCHEMA, ...model, notes: describeAll(model), trials: source.trials });
}

/** Renders a value as a JSON document, with its secrets redacted. */
export function toJson(value: unknown): string {
  return `${JSON.stringify(redact(value), null, 2)}\n`;
}
