/** Checks values against the JSON schemas of Bench. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { ErrorObject } from 'ajv';

/** Returns the first error of a value; none if it keeps the schema. */
type Check = (value: unknown) => readonly ErrorObject[];

/** Loads Ajv for the first schema: most commands check few values. */
const require = createRequire(import.meta.url);

/** The tests check the schemas: they are neither validated nor optimised, which would take longer than most values do. */
function createCheck(name: Name): Check {
  const file = new URL(`../schema/${name}.schema.json`, import.meta.url);
  const { Ajv } = require('ajv') as typeof import('ajv');
  const ajv = new Ajv({
    verbose: true,
    strict: false,
    validateSchema: false,
    inlineRefs: false,
    code: { optimize: false },
  });
  const validate = ajv.compile(JSON.parse(readFileSync(file, 'utf8')) as object);
  return (value) => (validate(value) ? [] : (validate.errors ?? []));
}

/** The checks by the names of their schemas. Each is made at its first use: most commands need few of them. */
const checks = new Map<string, Check>();

type Name = 'cluster' | 'config' | 'host' | 'record' | 'requests' | 'run' | 'stack' | 'why';

/** Returns the check by a schema of `schema/`, such as `stack`. */
export function checkBy(name: Name): Check {
  const check = checks.get(name) ?? (name === 'stack' ? checkStack : createCheck(name));
  checks.set(name, check);
  return check;
}

/** Nearly every command reads stacks. Whether they are right is compiled in advance; Ajv takes longer, and says what is wrong. */
const checkStack: Check = (value) => {
  const file = fileURLToPath(new URL('../schema/stack.check.cjs', import.meta.url));
  const isRight = require(file) as (value: unknown) => boolean;
  return isRight(value) ? [] : createCheck('stack')(value);
};
