/** Checks values against the JSON schemas of Bench. */
import { createRequire } from 'node:module';
import { Validator } from '@cfworker/json-schema';
import type { ErrorObject, Options } from 'ajv';

/** A schema, and how its errors are found. */
export interface Checked {
  schema: object;
  /** The schemas that it refers to, by name. */
  others?: Record<string, object>;
  /** The options of Ajv, which explains what is wrong. */
  options: Options;
}

/** With this many values or more, compiling the schema costs less than interpreting it for each of them. */
const MANY = 400;

/**
 * Returns a function that gives the errors of a value; none if it keeps the schema. An interpreter decides, because most
 * values are right, and compiling the schema of a record takes longer than reading a run. Ajv compiles the schema for a
 * wrong value, which it explains, and for many values.
 */
export function createCheck({
  schema,
  others = {},
  options,
}: Checked): (value: unknown) => readonly ErrorObject[] {
  // It resolves references by writing into a schema, which may be part of another check.
  const interpreter = new Validator(structuredClone(schema), '7');
  for (const [name, other] of Object.entries(others)) interpreter.addSchema(structuredClone(other), name);
  let explain: ((value: unknown) => readonly ErrorObject[]) | undefined;
  let checked = 0;
  return (value) => {
    const isOneOfMany = ++checked > MANY;
    // It knows only what JSON can hold: a field that is undefined is absent.
    if (!isOneOfMany && interpreter.validate(JSON.parse(JSON.stringify(value))).valid) return [];
    explain ??= compile({ schema, others, options });
    return explain(value);
  };
}

function compile({ schema, others = {}, options }: Checked): (value: unknown) => readonly ErrorObject[] {
  const { Ajv } = createRequire(import.meta.url)('ajv') as typeof import('ajv');
  const ajv = new Ajv(options);
  for (const [name, other] of Object.entries(others)) ajv.addSchema(other, name);
  const validate = ajv.compile(schema);
  return (value) => (validate(value) ? [] : (validate.errors ?? []));
}
