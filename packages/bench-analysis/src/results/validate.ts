/** Validates the stored files of a run against the shipped schemas. */
import type { ErrorObject } from 'ajv';
import { checkBy } from 'bench-model/json-schema';
import type { Host } from 'bench-model/host';
import type { Trial } from 'bench-model/record';
import type { RunFile } from 'bench-model/run';
import type { WhyFile } from 'bench-model/why';

/** The types of stored values, by the names of their schemas. */
export interface Stored {
  record: Trial;
  run: RunFile;
  host: Host;
  why: WhyFile;
}

/** Returns the first difference of a value from its schema, with the path of the field; undefined if it keeps the schema. */
export function problemWith(name: keyof Stored, value: unknown): string | undefined {
  const errors = checkBy(name)(value);
  // A condition fails because of the error before it, which says more.
  const error = errors.findLast(({ keyword }) => keyword !== 'if') ?? errors[0];
  return error === undefined ? undefined : describe(error);
}

function describe({ keyword, instancePath, params, message, data }: ErrorObject): string {
  const at = (name?: unknown): string =>
    [...instancePath.split('/').slice(1), ...(typeof name === 'string' ? [name] : [])].join('.');
  const where = at() === '' ? 'it' : at();
  switch (keyword) {
    case 'required':
      return `${at(params['missingProperty'])} is missing`;
    case 'additionalProperties':
      return `unknown field ${at(params['additionalProperty'])}`;
    case 'false schema':
      return `${where} does not belong to a trial of this status`;
    case 'enum':
      return `unknown value ${show(data)} of ${where}`;
    case 'anyOf':
      return `${where} has none of the possible shapes`;
    default:
      return `${where} ${message ?? 'is not valid'}, not ${show(data)}`;
  }
}

/** A value as JSON, cut where it is long. */
function show(value: unknown): string {
  const json = JSON.stringify(value) ?? 'undefined';
  return json.length > 40 ? `${json.slice(0, 39)}…` : json;
}
