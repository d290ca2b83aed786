/**
 * Placeholders in requests: `{id}` from a row, `{uuid}` and `{seq}` made for each request, `{token}` from the login,
 * `{env:NAME}` from the environment.
 */
import { UsageError } from 'bench-model/errors';
import { hide } from 'bench-machine/redact';

/** Values by the names of their placeholders. A row of JSON lines holds any JSON value. */
export type Values = Readonly<Record<string, unknown>>;

/** Where a text is sent, which decides how a value is written into it. */
export type Place = 'path' | 'header' | 'json' | 'form' | 'text';

const PLACEHOLDER = /"\{([A-Za-z_][\w.-]*)\}"|\{(env:[A-Za-z_]\w*|[A-Za-z_][\w.-]*)\}/g;

/** The name of the placeholder for the token of a login. */
export const TOKEN = 'token';

const placeholdersIn = (text: string): string[] =>
  [...text.matchAll(PLACEHOLDER)].map(([, quoted, bare = '']) => quoted ?? bare);

/** Returns the names of the placeholders in a text, without those of the environment. */
export function namesIn(text: string): string[] {
  return placeholdersIn(text).filter((name) => !name.startsWith('env:'));
}

/** Returns the variables of the environment that a text names. */
export function variablesIn(text: string): string[] {
  return placeholdersIn(text).flatMap((name) => /^env:(.*)/.exec(name)?.[1] ?? []);
}

/**
 * Returns a text with its placeholders filled in, once: a value that looks like a placeholder stays as it is. Unknown names
 * stay too, because JSON and GraphQL have braces. Hides the values of the environment from every output. Throws a usage
 * error for a variable that is not set, and for a header, written at `where`, that cannot be sent.
 */
export function fill(text: string, values: Values, place: Place, where = 'a request'): string {
  const filled = fillIn(text, values, place);
  // oxlint-disable-next-line no-control-regex -- a line break would begin another header
  if (place !== 'header' || !/[\u0000-\u0008\u000A-\u001F\u007F]/.test(filled)) return filled;
  throw new UsageError(
    `${where}: the value of a header contains a control character`,
    'remove line breaks from the value',
  );
}

function fillIn(text: string, values: Values, place: Place): string {
  return text.replaceAll(PLACEHOLDER, (whole, quoted: string | undefined, bare: string | undefined) => {
    const name = quoted ?? bare ?? '';
    if (name.startsWith('env:')) return write(readVariable(name.slice('env:'.length)), place);
    if (!Object.hasOwn(values, name)) return whole;
    const value = values[name];
    if (quoted === undefined) return write(value, place);
    // A number from JSON lines stays a number: "{count}" becomes 3, not "3".
    if (place === 'json' && typeof value !== 'string') return JSON.stringify(value ?? null);
    return `"${write(value, place)}"`;
  });
}

function readVariable(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '')
    throw new UsageError(`{env:${name}}: the variable ${name} is not set`, `set it: export ${name}=…`);
  hide([value]);
  return value;
}

function write(value: unknown, place: Place): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  if (place === 'path') return encodeURIComponent(text);
  if (place === 'json') return JSON.stringify(text).slice(1, -1);
  if (place === 'form') return encodeURIComponent(text).replaceAll('%20', '+');
  return text;
}
