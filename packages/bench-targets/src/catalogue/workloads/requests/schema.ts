/** JSON Schemas of correct responses. */
import { createRequire } from 'node:module';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { UsageError } from 'bench-model/errors';
import { parseJson } from '../../json-file.ts';

/** Loads Ajv for the first schema: most runs have none. */
const require = createRequire(import.meta.url);

/** Formats are annotations here: a schema says what a body holds, not how strict a date is. */
const OPTIONS = { strict: false, validateFormats: false, logger: false } as const;

/** By text: a command reads its requests several times, and Ajv takes longer than all else. */
const compiled = new Map<string, ValidateFunction>();

/** Returns why a value violates the schema, undefined if it does not. */
export type SchemaCheck = (value: unknown) => string | undefined;

/** Compiles a JSON Schema of draft 7, 2019-09 or 2020-12. Throws a usage error that begins with `where` if it is not one. */
export function compileSchema(text: string, where: string): SchemaCheck {
  const schema = parseJson(text);
  if (schema === undefined)
    throw new UsageError(`${where}: the schema is not JSON`, 'e.g. {"type": "array"}');
  const validate = compiled.get(text) ?? compile(schema, where);
  compiled.set(text, validate);
  return (value) => {
    try {
      return validate(value) ? undefined : describe(validate.errors?.[0]);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return 'is nested too deeply';
    }
  };
}

function compile(schema: unknown, where: string): ValidateFunction {
  try {
    const dialect = (schema as { $schema?: unknown } | null)?.$schema;
    const isNew = typeof dialect === 'string' && /20(19|20)-\d\d/.test(dialect);
    const { Ajv } = require('ajv') as typeof import('ajv');
    const { Ajv2020 } = require('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js');
    return (isNew ? new Ajv2020(OPTIONS) : new Ajv(OPTIONS)).compile(schema as object);
  } catch (error) {
    throw new UsageError(
      `${where}: not a JSON Schema: ${(error as Error).message}`,
      'write a schema of draft 7 or 2020-12 without references to other files',
    );
  }
}

function describe(error: ErrorObject | undefined): string {
  const where = error?.instancePath ? `${error.instancePath} ` : '';
  return `${where}${error?.message ?? 'is invalid'}`;
}
