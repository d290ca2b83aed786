/** JSON files that users write: read with the line of each value, for messages. */
import { createRequire } from 'node:module';
import type { ErrorObject } from 'ajv';
import type { Node, ParseError } from 'jsonc-parser';
import { readTextFile, showPath } from 'bench-machine/files';
import { orUndefined, UsageError } from 'bench-model/errors';
import { suggest } from 'bench-model/suggest';

/** A JSON file with the lines of its values. */
export interface JsonFile {
  /** Its path, as a user would type it. */
  shown: string;
  value: unknown;
  /** Returns `file:line` of the value at a path, or of the nearest one that exists. */
  at: (path: readonly (string | number)[]) => string;
}

/** The hints of the errors about a file. */
interface FileHints {
  /** The hint if it cannot be read. */
  missing: string;
  /** The hint if its content is not valid. */
  wrong: string;
}

/** Reads a JSON file. Throws a usage error with file and line if it is missing or is not JSON. */
export function readJsonFile(file: string, hints: FileHints): JsonFile {
  const text = readTextFile(file);
  const shown = showPath(file);
  if (text === undefined) throw new UsageError(`${shown}: cannot be read`, hints.missing);
  const refuse = (problem: string, offset = 0): never => {
    throw new UsageError(`${shown}:${lineAt(text, offset)}: not JSON: ${problem}`, hints.wrong);
  };
  let tree: Node | undefined;
  const parse = (): Node => {
    if (tree !== undefined) return tree;
    const { parseTree, printParseErrorCode } = loadParser();
    const errors: ParseError[] = [];
    tree = parseTree(text, errors, { disallowComments: true }) ?? refuse('is empty');
    const [first] = errors;
    if (first === undefined) return tree;
    // `CommaExpected`.
    const code = printParseErrorCode(first.error);
    return refuse(code.replaceAll(/(?<=.)[A-Z]/g, ' $&').toLowerCase(), first.offset);
  };
  try {
    const value: unknown =
      orUndefined(() => JSON.parse(text, withoutPrototype) as unknown) ?? loadParser().getNodeValue(parse());
    return { shown, value, at: (path) => `${shown}:${lineOf(text, parse(), path)}` };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return refuse('it is nested too deeply');
  }
}

const require = createRequire(import.meta.url);

/** Loads what finds places, for messages: most files are right. */
const loadParser = () => require('jsonc-parser') as typeof import('jsonc-parser');

/** An object of a file has its fields and no others, such as `constructor`. */
function withoutPrototype(_name: string, value: unknown): unknown {
  return isPart(value) ? Object.assign(Object.create(null) as object, value) : value;
}

/**
 * Throws a usage error with file and line for the first difference from a schema. `what` is the noun for the whole file.
 * Its hint says what a value of a wrong type means, where the schema does.
 */
export function refuseErrors(
  [error]: readonly ErrorObject[],
  { at }: JsonFile,
  { what, hint }: { what: string; hint: string },
): void {
  if (error === undefined) return;
  const { instancePath, keyword, params, parentSchema, data, message = 'is invalid' } = error;
  const path = partsOf(instancePath).map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  const where = path.length > 0 ? `"${path.join('.')}" ` : '';
  const refuse = (problem: string, place = path, then = hint): never => {
    throw new UsageError(`${at(place)}: ${problem}`, then);
  };
  if (keyword === 'additionalProperties') {
    const extra = String(params['additionalProperty']);
    const known = Object.keys(parentSchema?.['properties'] as object);
    const close = suggest(extra, known);
    const listed = close === undefined ? `, expected one of ${known.join(', ')}` : '';
    const then = close === undefined ? hint : `${close}\n${hint}`;
    refuse(`${where || `${what} `}has no field "${extra}"${listed}`, [...path, extra], then);
  }
  if (keyword === 'required')
    refuse(`${where || `${what} `}needs the field "${String(params['missingProperty'])}"`);
  const request = typeof data === 'string' ? `GET ${data}` : '';
  if (keyword === 'pattern' && new RegExp(String(params['pattern'])).test(request))
    refuse(`${where}has no method`, path, `write "${request}"`);
  const allowed = keyword === 'enum' ? ` (${(params['allowedValues'] as string[]).join(', ')})` : '';
  const meaning = keyword === 'type' ? parentSchema?.['description'] : undefined;
  refuse(`${where}${message}${allowed}`, path, typeof meaning === 'string' ? `${meaning}\n${hint}` : hint);
}

/** An object of a file that others write. Nothing in it can be trusted. */
export type Part = Readonly<Record<string, unknown>>;

export function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a part of a file; empty if it is none. */
export const partOf = (value: unknown): Part => (isPart(value) ? value : {});

/** Returns the value of a JSON text; undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  return orUndefined((): unknown => JSON.parse(text));
}

/** Returns the parts of a JSON pointer (RFC 6901). */
export function partsOf(pointer: string): string[] {
  const parts = pointer.split('/').slice(1);
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function lineOf(text: string, tree: Node, path: readonly (string | number)[]): number {
  const { findNodeAtLocation } = loadParser();
  return lineAt(
    text,
    findNodeAtLocation(tree, [...path])?.offset ?? findNodeAtLocation(tree, path.slice(0, -1))?.offset ?? 0,
  );
}

/** Returns the line of an offset in a text, from 1 on. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}
