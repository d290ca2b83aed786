import { redact } from 'bench-machine/redact';
import type { Trial } from 'bench-model/record';
import type { Model } from './model/definition.ts';

/** Renders a run as one JSON document: the model of its report, with distributions, and the complete records. */
export function renderJson(model: Model, trials: readonly Trial[]): string {
  return toJson({ ...model, trials });
}

/** Renders a value as a JSON document, with its secrets redacted. */
export function toJson(value: unknown): string {
  return `${JSON.stringify(redact(value), null, 2)}\n`;
}
