/** Checks values against the JSON schemas of Bench. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { ErrorObject } from 'ajv';

/** A schema, and how its errors are found. */
interface Checked {
  schema: object;
  /** True to find every error of a value, not only the first. */
  allErrors?: boolean;
}

/** Returns the errors of a value; none if it keeps the schema. */
type Check = (value: unknown) => readonly ErrorObject[];

/** Loads Ajv for the first schema: most commands check few values. */
const require = createRequire(import.meta.url);

/**
 * Returns a function that gives the errors of a value; none if it keeps the schema. The schemas are those of `schema/`,
 * which the tests check: they are neither validated nor optimised, which would take longer than most values do.
 */
export function createCheck({ schema, allErrors = false }: Checked): Check {
  const { Ajv } = require('ajv') as typeof import('ajv');
  const ajv = new Ajv({
    allErrors,
    verbose: true,
    strict: false,
    validateSchema: false,
    inlineRefs: false,
    code: { optimize: false },
  });
  const validate = ajv.compile(schema);
  return (value) => (validate(value) ? [] : (validate.errors ?? []));
}

/** The checks by the names of their schemas. Each is made at its first use: most commands need few of them. */
const checks = new Map<string, Check>();

/** Returns the check by a schema of `schema/`, such as `stack`. */
export function checkBy(name: 'cluster' | 'host' | 'record' | 'requests' | 'run' | 'stack' | 'why'): Check {
  const file = new URL(`../schema/${name}.schema.json`, import.meta.url);
  const check = checks.get(name) ?? createCheck({ schema: JSON.parse(readFileSync(file, 'utf8')) as object });
  checks.set(name, check);
  return check;
}
