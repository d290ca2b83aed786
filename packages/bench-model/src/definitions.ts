/**
 * The building blocks of definitions. A definition is a TypeBox schema: types are its `Static`, and the files in `schema/`
 * are written from it. The description of a figure begins with its unit.
 *
 * Other modules import types from definitions, not values: TypeBox then stays out of commands that only read.
 */
import { Type, type Static, type TObject, type TProperties, type TSchema, type TUnsafe } from 'typebox';

type Options = Record<string, unknown>;

/** A whole number from 0 on. */
export const count = (description: string) => Type.Integer({ description, minimum: 0 });

/** A whole number from 1 on. */
export const ordinal = (description: string, options: { maximum?: number } = {}) =>
  Type.Integer({ description, minimum: 1, ...options });

/** A number from 0 on. */
export const amount = (description: string) => Type.Number({ description, minimum: 0 });

/** A number above 0. */
export const span = (description: string) => Type.Number({ description, exclusiveMinimum: 0 });

/** A number between 0 and 1. */
export const fraction = (description: string) =>
  Type.Number({ description, exclusiveMinimum: 0, exclusiveMaximum: 1 });

/** A text that is not empty. */
export const text = (description?: string, options: Options = {}) =>
  Type.String({ ...say(description), minLength: 1, ...options });

/** A SHA-256 in hexadecimal. */
export const digest = (description?: string) =>
  Type.String({ ...say(description), pattern: '^[0-9a-f]{64}$' });

/** A list of texts that are not empty. */
export const texts = (description?: string) => Type.Array(text(), say(description));

/** A command, word by word; a word can be empty, as in `--save ""`. */
export const command = (description: string) => Type.Array(Type.String(), { description, minItems: 1 });

/** One of these words. */
export function oneOf<Word extends string>(words: readonly Word[], description?: string): TUnsafe<Word> {
  return Type.Unsafe<Word>({ ...say(description), enum: [...words] });
}

/** An id that is part of a path, and of a command to type: no separators, no blanks, nothing that a shell obeys. */
export const id = (description: string) => Type.String({ description, pattern: '^\\w[\\w.@+~-]*$' });

/** Yes or no. */
export const choice = (description: string) => Type.Boolean({ description });

/** `true`, or absent. */
export const flag = (description: string) => Type.Optional(Type.Literal(true, { description }));

/** An object with these fields and no others. */
export function shape<Fields extends TProperties>(fields: Fields): TObject<Fields>;
export function shape<Fields extends TProperties>(
  description: string,
  fields: Fields,
  options?: Options,
): TObject<Fields>;
export function shape<Fields extends TProperties>(
  first: string | Fields,
  fields: Fields = first as Fields,
  options: Options = {},
): TObject<Fields> {
  const description = typeof first === 'string' ? first : undefined;
  return Type.Object(fields, { additionalProperties: false, ...say(description), ...options });
}

/** The same with a name, see `named`. */
export function namedShape<Fields extends TProperties>(
  name: string,
  ...described: [description: string, fields: Fields, options?: Options]
): TObject<Fields> {
  return named(name, shape(...described));
}

/** The same fields, each of which may be absent. */
export const optional = <Fields extends TProperties>(fields: Fields) =>
  Type.Partial(Type.Object(fields)).properties;

/** A list of one kind of value. */
export const list = <Item extends TSchema>(description: string, items: Item, options: Options = {}) =>
  Type.Array(items, { description, ...options });

/** An object with any names and one kind of value. */
export function mapOf<Value extends TSchema>(
  value: Value,
  description?: string,
): TUnsafe<Record<string, Static<Value>>> {
  return Type.Unsafe<Record<string, Static<Value>>>({
    ...say(description),
    type: 'object',
    additionalProperties: value,
  });
}

/** The part of a schema that depends on a condition: an error then names what is wrong with the one that was meant. */
export function when(condition: object, then: object, otherwise?: object): object {
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  return { if: condition, then, ...(otherwise !== undefined && { else: otherwise }) };
}

/** Names a definition: a schema file holds it once, and refers to it by this name. */
export function named<Schema extends TSchema>(name: string, schema: Schema): Schema {
  return Type.With(schema, { '~definition': name }) as unknown as Schema;
}

/** The same definition, with a description of its use at this place. */
export function as<Schema extends TSchema>(schema: Schema, use: string): Schema {
  return Type.With(schema, { '~use': use }) as unknown as Schema;
}

/** Returns the JSON Schema document of a definition. Named parts are in `definitions`, each once. */
export function toDocument(definition: TSchema, head: { title: string; description: string }): object {
  const definitions: Record<string, unknown> = {};
  const write = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(write);
    if (typeof value !== 'object' || value === null) return value;
    const { '~definition': name, '~use': use, ...rest } = value as Options;
    const plain = (): unknown =>
      Object.fromEntries(Object.entries(rest).map(([key, inside]) => [key, write(inside)]));
    const described = typeof use === 'string' ? { description: use } : {};
    if (typeof name !== 'string') return { ...(plain() as object), ...described };
    if (definitions[name] === undefined) {
      definitions[name] = {};
      definitions[name] = plain();
    }
    return { ...described, $ref: `#/definitions/${name}` };
  };
  const document = write(definition) as object;
  return { $schema: 'http://json-schema.org/draft-07/schema#', ...head, ...document, definitions };
}

function say(description: string | undefined): Options {
  return description === undefined ? {} : { description };
}
