/** Reads the token from the answer to a login. */
import { parseJson, partsOf } from '../../json-file.ts';
import type { Answer } from '../workload.ts';
import type { TokenPlace } from 'bench-model/requests';

/** A shorter token would occur by chance in other texts, and could not be removed from them. */
const SHORTEST_TOKEN = 6;

/** Returns the token in a response, or the reason why there is none. The reason quotes no value: it may be secret. */
export function readToken(answer: Answer, place: TokenPlace): { token: string } | { problem: string } {
  if (answer.status < 200 || answer.status > 299)
    return { problem: `status ${answer.status} instead of 2xx` };
  const found = findToken(answer, place);
  if ('problem' in found || found.token.length >= SHORTEST_TOKEN) return found;
  return {
    problem: `the token has ${found.token.length} characters; Bench can keep only tokens of at least ${SHORTEST_TOKEN} out of its records`,
  };
}

function findToken(answer: Answer, place: TokenPlace): { token: string } | { problem: string } {
  if ('json' in place) return fromJson(answer.body.toString(), place.json);
  if ('header' in place) {
    const value = answer.headers?.[place.header.toLowerCase()];
    const token = Array.isArray(value) ? value[0] : value;
    return token ? { token } : { problem: `the response has no header ${place.header}` };
  }
  const cookies = [answer.headers?.['set-cookie'] ?? []].flat().map(parseCookie);
  const token = cookies.find(([name]) => name === place.cookie)?.[1];
  if (token) return { token };
  const names = cookies.map(([name]) => name).join(', ');
  return { problem: `the response sets no cookie ${place.cookie}${names === '' ? '' : `, only ${names}`}` };
}

function fromJson(body: string, pointer: string): { token: string } | { problem: string } {
  let value = parseJson(body);
  if (value === undefined) return { problem: 'the body is not JSON' };
  for (const key of partsOf(pointer)) {
    const fields = typeof value === 'object' && value !== null ? value : {};
    if (!Object.hasOwn(fields, key)) {
      const keys = Object.keys(fields).join(', ');
      return { problem: `the body has no ${pointer}${keys === '' ? '' : `; its fields are ${keys}`}` };
    }
    value = (fields as Record<string, unknown>)[key];
  }
  if (typeof value === 'string' || typeof value === 'number') return { token: String(value) };
  return { problem: `${pointer === '' ? 'the body' : pointer} is not a text` };
}

function parseCookie(text: string): [name: string, value: string] {
  const [pair = ''] = text.split(';', 1);
  const at = pair.indexOf('=');
  return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
}
