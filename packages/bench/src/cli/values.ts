/** Readers of option values. Each parses one text, or throws a usage error that says what is expected. */
import { suggest } from 'bench-model/suggest';
import { UsageError } from 'bench-model/errors';
import { present } from 'bench-model/options';
import type { CurveLoad } from 'bench-model/settings';
import { redactUrl, splitCredentials } from 'bench-machine/redact';

/** Reads the value of the option `name`. Throws a usage error if the text is not valid. */
export interface Reader<T> {
  (text: string, name: string): T;
  /** The words that it takes; absent if it takes others too. */
  words?: readonly string[];
}

/** Reads a text as it was typed. Throws a usage error for an empty one. */
export const text: Reader<string> = (typed, name) =>
  typed === '' ? refuse(name, typed, 'a value that is not empty') : typed;

/** Reads a whole number that is at least `least`. */
export function wholeNumber(least = 1, most = Infinity): Reader<number> {
  return (typed, name) => {
    const value = Number(typed);
    if (typed.trim() !== '' && Number.isSafeInteger(value) && value >= least && value <= most) return value;
    const range = most === Infinity ? `, at least ${least}` : ` from ${least} to ${most}`;
    return refuse(name, typed, `a whole number${range}`);
  };
}

const UNITS = { ms: 0.001, s: 1, m: 60, h: 3600 };

/** Reads a span of time, written `5`, `0.5s`, `500ms`, `10m` or `1h`, in seconds. */
export function span(least = 0.1, expected = `a span of time, at least ${least}s`): Reader<number> {
  return (typed, name) => {
    const [, figure = '', unit = 's'] = /^\s*(\d+(?:\.\d+)?|\.\d+)(ms|s|m|h)?\s*$/.exec(typed) ?? [];
    const value = Number(figure) * UNITS[unit as keyof typeof UNITS];
    return figure !== '' && value >= least ? value : refuse(name, typed, expected, '10s');
  };
}

/** Reads the least span of a warm-up; undefined for `auto`. */
export const warmup: Reader<number | undefined> = (typed, name) =>
  typed === 'auto' ? undefined : span(0, 'auto or a span of time')(typed, name);

/** Reads a share between 0 and 1, written `0.03` or `3%`. */
export const share: Reader<number> = (typed, name) => {
  const value = toShare(typed);
  return value > 0 && value < 1 ? value : refuse(name, typed, 'a percentage above 0% and below 100%', '3%');
};

/** Reads a load: a whole number of requests per second, or a share of the capacity, written `50%`. */
export const curveLoad: Reader<CurveLoad> = (typed, name) =>
  typed.endsWith('%') ? { share: share(typed, name) } : { perSecond: wholeNumber()(typed, name) };

/** Reads a share from 0 to 1, written `0`, `0.03` or `3%`. */
export const extra: Reader<number> = (typed, name) => {
  const value = toShare(typed);
  return value >= 0 && value < 1
    ? value
    : refuse(name, typed, 'a percentage from 0% to below 100%', '0 or 3%');
};

/** Returns a share that is written `0.03` or `3%`; NaN for another text. */
export function toShare(typed: string): number {
  const [, figure, unit] = /^(\d+(?:\.\d+)?)\s*(%?)$/.exec(typed) ?? [];
  return Number(figure) / (unit === '%' ? 100 : 1);
}

/** Reads one of these words. */
export function oneOf<const T extends string>(words: readonly T[]): Reader<T> {
  const read = (typed: string, name: string): T => {
    const found = words.find((word) => word === typed);
    if (found !== undefined) return found;
    throw new UsageError(
      `--${name} does not take "${typed}"`,
      suggest(typed, words) ?? `write one of ${words.join(', ')}`,
    );
  };
  return Object.assign(read, { words });
}

/** Separates values. Commas inside braces belong to a value, as in `3.13,3.14{A=1,B=2}`. */
export const COMMA = /,(?![^{]*\})/;

/** Separates paths, whose queries can hold commas. */
export const PATHS = /,(?=\/)/;

/** Reads values separated by commas. */
export function listOf<T>(one: Reader<T>): Reader<T[]> {
  const read = (typed: string, name: string): T[] => typed.split(COMMA).map((part) => one(part.trim(), name));
  return Object.assign(read, present({ words: one.words }));
}

/** Reads a pair such as `n=24`. */
export const pair: Reader<readonly [string, number]> = (typed, name) => {
  const [, key, figure] = /^(\w+)=(\d+)$/.exec(typed) ?? [];
  return key === undefined ? refuse(name, typed, 'name=number', 'n=24') : [key, Number(figure)];
};

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Reads a request such as `GET /fib/42`. */
export const request: Reader<{ method: string; path: string }> = (typed, name) => {
  const [, verb, path] = /^(\S+)\s+(\/\S*)$/.exec(typed.trim()) ?? [];
  if (verb === undefined || path === undefined) {
    return refuse(name, typed, 'a method and a path', '"GET /fib/42"');
  }
  return { method: oneOf(METHODS)(verb, name), path };
};

/** Reads a header such as `authorization: x`; its name becomes lower case. */
export const header: Reader<readonly [string, string]> = (typed, name) => {
  const [, key, value] = /^([^:\s]+):\s*(.*)$/.exec(typed) ?? [];
  if (key === undefined || value === undefined) {
    // The message omits the text: it may be a secret without a name.
    return refuse(name, undefined, 'a name, a colon and a value', "'authorization: x'");
  }
  return [key.toLowerCase(), value];
};

/** An http:// or https:// address, which may have a name: `old=http://127.0.0.1:3000`. */
export const ADDRESS = /^(?:([\w.-]+)=)?(https?:\/\/.*)$/is;

/** An address without its credentials, which are the Authorization header that curl would send. */
export interface Address {
  name?: string;
  url: URL;
  headers: Record<string, string>;
}

/** Reads an address. Throws a usage error if it is not valid. */
export function readAddress(typed: string): Address {
  const [, name, address = ''] = ADDRESS.exec(typed) ?? [];
  const given = URL.parse(address);
  if (given === null)
    throw new UsageError(`${redactUrl(typed)}: not an address`, 'e.g. http://127.0.0.1:3000/orders');
  const { url, ...headers } = splitCredentials(given);
  return { url, headers, ...present({ name }) };
}

/** Reads a variable and its values, such as `WORKERS=1,4`. */
export const variable: Reader<readonly [name: string, values: string[]]> = (typed, name) => {
  const [, key, list = ''] = /^([A-Za-z_]\w*)=(.+)$/s.exec(typed) ?? [];
  const values = list.split(COMMA);
  return key === undefined || values.length < 2
    ? refuse(name, typed, 'a variable and two values or more', 'WORKERS=1,4')
    : [key, values];
};

/** Reads a path such as `/orders?limit=20`. */
export const path: Reader<string> = (typed, name) =>
  /^\/\S*$/.test(typed) ? typed : refuse(name, redactUrl(typed), 'a path', "'/orders?limit=20'");

function refuse(name: string, typed: string | undefined, expected: string, example?: string): never {
  throw new UsageError(
    `--${name}${typed === undefined ? '' : ` ${typed === '' ? '""' : typed}`}: expected ${expected}`,
    example === undefined ? undefined : `e.g. --${name} ${example}`,
  );
}
