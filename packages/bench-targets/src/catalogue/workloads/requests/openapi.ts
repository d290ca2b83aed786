/** OpenAPI documents: the GET routes that can be asked without knowing the service. */
import { parse, YAMLParseError } from 'yaml';
import { orUndefined, UsageError } from 'bench-model/errors';
import { isPart, type Part, partOf, partsOf } from '../../json-file.ts';
import { isSecretName } from 'bench-machine/redact';
import type { UserRequest, RouteLeftOut } from 'bench-model/requests';

/** The routes of a document. */
export interface Routes {
  requests: UserRequest[];
  leftOut: RouteLeftOut[];
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'];
const ENDLESS = 'text/event-stream';
/** The most paths of a document, and the most letters of one in YAML, whose parser takes a second for each 250,000. */
const MOST_PATHS = 10_000;
const MOST_YAML = 2_500_000;

/**
 * Reads an OpenAPI 3 or Swagger 2 document, JSON or YAML. Each GET route without required parameters, or with an example,
 * a default or a list of values for each of them, becomes a request. `headers` are those that every request carries. Throws a
 * usage error with file and line for a text that is no such document, for one without such a route, and for one that is too large.
 */
export function readOpenapi(
  text: string,
  shown: string,
  headers: Readonly<Record<string, string>> = {},
): Routes {
  const document = parseDocument(text, shown);
  const isKnown = typeof document['openapi'] === 'string' || typeof document['swagger'] === 'string';
  if (!isKnown || !isPart(document['paths'])) {
    const cure = 'it needs the field "openapi" or "swagger", and "paths"';
    throw new UsageError(`${shown}: not an OpenAPI document`, cure);
  }
  const paths = Object.entries(document['paths']);
  refuseMore(shown, paths.length, MOST_PATHS, 'paths');
  const hasCredentials = Object.keys(headers).some(isSecretName);
  const base = basePath(document);
  const routes: Routes = { requests: [], leftOut: [] };
  for (const [path, given] of paths) {
    const item = resolvePart(document, given);
    for (const method of METHODS.filter((one) => item[one] !== undefined)) {
      const operation = resolvePart(document, item[method]);
      const route = { path, base, item, operation, hasCredentials };
      const found = method === 'get' ? readRoute(document, route) : 'not a GET request';
      if (typeof found !== 'string') routes.requests.push(found);
      else routes.leftOut.push({ route: `${method.toUpperCase()} ${path}`, reason: found });
    }
  }
  if (routes.requests.length > 0) return routes;
  const reasons = routes.leftOut.slice(0, 3).map(({ route, reason }) => `${route}: ${reason}`);
  throw new UsageError(
    `${shown}: no route can be measured${reasons.length === 0 ? '' : ` (${reasons.join('; ')})`}`,
    'name the requests: --get /orders, or --requests-file requests.json',
  );
}

function parseDocument(text: string, shown: string): Part {
  let value: unknown;
  const isJson = /^\s*\{/.test(text);
  if (!isJson) refuseMore(shown, text.length, MOST_YAML, 'letters of YAML');
  try {
    // To look for a key that is there twice would take the square of their number.
    value = isJson ? JSON.parse(text) : parse(text, { uniqueKeys: false });
  } catch (error) {
    const line = error instanceof YAMLParseError ? error.linePos?.[0].line : undefined;
    const problem = (error as Error).message.split('\n')[0];
    throw new UsageError(
      `${shown}${line === undefined ? '' : `:${line}`}: neither JSON nor YAML: ${problem}`,
      'name an OpenAPI document, e.g. --openapi openapi.yaml',
    );
  }
  return partOf(value);
}

function refuseMore(shown: string, count: number, most: number, what: string): void {
  if (count <= most) return;
  throw new UsageError(
    `${shown}: ${count.toLocaleString('en-US')} ${what}, and the limit is ${most.toLocaleString('en-US')}`,
    'name the requests: --get /orders, or --requests-file requests.json',
  );
}

interface Route {
  path: string;
  base: string;
  item: Part;
  operation: Part;
  hasCredentials: boolean;
}

/** Returns the request of a GET route, or the reason why it cannot be made. */
function readRoute(
  document: Part,
  { path, base, item, operation, hasCredentials }: Route,
): UserRequest | string {
  if (!path.startsWith('/')) return 'its path does not begin with "/"';
  if (needsCredentials(operation['security'] ?? document['security']) && !hasCredentials)
    return 'needs credentials; give them with --header';
  if (isEndless(document, operation)) return 'its responses do not end (server-sent events)';
  let filled = path;
  const query: string[] = [];
  const headers: Record<string, string> = {};
  const cookies: string[] = [];
  for (const parameter of parametersOf(document, item, operation)) {
    const { name, in: place } = parameter;
    if (typeof name !== 'string' || (place !== 'path' && parameter['required'] !== true)) continue;
    const value = exampleOf(document, parameter);
    if (value === undefined) return `no example for the parameter "${name}"`;
    if (place === 'path') filled = filled.replaceAll(`{${name}}`, encode(value));
    else if (place === 'query') query.push(...[value].flat().map((one) => `${encode(name)}=${encode(one)}`));
    else if (place === 'header') headers[name.toLowerCase()] = toText(value).replaceAll(/[^\x20-\x7E]/g, '');
    else if (place === 'cookie') cookies.push(`${name}=${encode(value)}`);
    else return `its parameter "${name}" is in a place that GET requests do not have`;
  }
  const [, undeclared] = /\{([^}]*)\}/.exec(filled) ?? [];
  if (undeclared !== undefined) return `the parameter "${undeclared}" of its path is not declared`;
  if (cookies.length > 0) headers['cookie'] = cookies.join('; ');
  // Encodes what a path cannot hold, and keeps what is encoded already.
  const { pathname: target } = new URL(
    `http://localhost${base}${filled.replaceAll(/[?#]/g, encodeURIComponent)}`,
  );
  return {
    method: 'GET',
    path: `${target}${query.length === 0 ? '' : `?${query.join('&')}`}`,
    weight: 1,
    headers,
  };
}

/** The parameters of a route; those of the operation replace those of its path. */
function parametersOf(document: Part, item: Part, operation: Part): Part[] {
  const all = [item['parameters'], operation['parameters']].flatMap((list) =>
    Array.isArray(list) ? list.map((one) => resolvePart(document, one)) : [],
  );
  return [...new Map(all.map((one) => [`${String(one['in'])} ${String(one['name'])}`, one])).values()];
}

/** A value that the document gives for a parameter: an example, the default, or the first of its values. */
function exampleOf(document: Part, parameter: Part): unknown {
  const schema = resolvePart(document, parameter['schema']);
  const named = Object.values(partOf(parameter['examples']));
  const first = resolvePart(document, named[0])['value'];
  const listed = [parameter['examples'], schema['examples'], schema['enum'], parameter['enum']].flatMap(
    (list) => (Array.isArray(list) ? [list[0]] : []),
  );
  return [
    parameter['example'],
    first,
    parameter['x-example'],
    schema['example'],
    schema['const'],
    schema['default'],
    parameter['default'],
    ...listed,
  ].find(
    (value) => value !== undefined && value !== null && (Array.isArray(value) || typeof value !== 'object'),
  );
}

/** True if every alternative needs a credential. */
function needsCredentials(security: unknown): boolean {
  if (!Array.isArray(security) || security.length === 0) return false;
  return security.every((one) => isPart(one) && Object.keys(one).length > 0);
}

function isEndless(document: Part, operation: Part): boolean {
  const responses = Object.entries(partOf(operation['responses']));
  const success = responses.find(([status]) => status.startsWith('2'))?.[1];
  const types = Object.keys(partOf(resolvePart(document, success)['content']));
  return types.length > 0 && types.every((type) => type.startsWith(ENDLESS));
}

/** The prefix of every route: the path of the first server, or `basePath`. */
function basePath(document: Part): string {
  const [first] = Array.isArray(document['servers']) ? (document['servers'] as unknown[]) : [];
  const server = partOf(first);
  const url = typeof server['url'] === 'string' ? server['url'] : document['basePath'];
  if (typeof url !== 'string') return '';
  const variables = partOf(server['variables']);
  const filled = url.replaceAll(/\{([^}]*)\}/g, (_, name: string) =>
    toText(partOf(variables[name])['default'] ?? ''),
  );
  const { pathname } = URL.parse(filled, 'http://localhost/') ?? { pathname: '/' };
  return pathname.replace(/\/+$/, '');
}

/** Follows references inside the document: `#/components/parameters/Limit`. An object without one stays as it is. */
function resolvePart(document: Part, value: unknown, depth = 0): Part {
  if (!isPart(value)) return {};
  const reference = value['$ref'];
  if (typeof reference !== 'string' || depth > 16) return value;
  if (!reference.startsWith('#/')) return {};
  let found: unknown = document;
  for (const part of partsOf(orUndefined(() => decodeURIComponent(reference)) ?? reference))
    found = isPart(found) && Object.hasOwn(found, part) ? found[part] : undefined;
  return resolvePart(document, found, depth + 1);
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function encode(value: unknown): string {
  return encodeURIComponent(Array.isArray(value) ? value.map(toText).join(',') : toText(value));
}
