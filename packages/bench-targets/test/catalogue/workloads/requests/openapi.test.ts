import { describe, expect, it } from 'vitest';
import { readOpenapi } from '../../../../src/catalogue/workloads/requests/openapi.ts';
import { errorOf } from '../../../../../bench-lab/testing/samples.ts';

const path = (name: string, more: object) => ({ name, in: 'path', required: true, ...more });

const DOCUMENT = {
  openapi: '3.1.0',
  servers: [{ url: '/{stage}/v1', variables: { stage: { default: 'api' } } }],
  paths: {
    '/orders': {
      get: { parameters: [{ name: 'limit', in: 'query', schema: { default: 20 } }] },
      post: {},
    },
    '/orders/{id}': {
      parameters: [path('id', { schema: { type: 'integer', examples: [7] } })],
      get: {},
      delete: {},
    },
    '/users/{name}': { get: { parameters: [path('name', { schema: { type: 'string' } })] } },
    '/search': {
      get: {
        parameters: [
          { name: 'q', in: 'query', required: true, examples: { tea: { value: 'green tea & milk' } } },
          { name: 'tag', in: 'query', required: true, example: ['a', 'b'] },
          { $ref: '#/components/parameters/Tenant' },
        ],
      },
    },
    '/files/{path}': { get: { parameters: [path('path', { example: 'a/b c?{d}' })] } },
    '/me': { get: { security: [{ bearer: [] }] } },
    '/events': { get: { responses: { 200: { content: { 'text/event-stream': {} } } } } },
    '/odd/{what}': { get: {} },
  },
  components: {
    parameters: {
      Tenant: { name: 'X-Tenant', in: 'header', required: true, schema: { enum: ['one', 'two'] } },
    },
  },
};

const pathsOf = (document: object, headers = {}) =>
  readOpenapi(JSON.stringify(document), 'api.json', headers).requests.map((one) => one.path);

describe('readOpenapi', () => {
  it('requests GET routes whose required parameters all have examples', () => {
    expect(pathsOf(DOCUMENT)).toEqual([
      '/api/v1/orders',
      '/api/v1/orders/7',
      '/api/v1/search?q=green%20tea%20%26%20milk&tag=a&tag=b',
      '/api/v1/files/a%2Fb%20c%3F%7Bd%7D',
    ]);
    const { requests } = readOpenapi(JSON.stringify(DOCUMENT), 'api.json');
    expect(requests[2]?.headers).toEqual({ 'x-tenant': 'one' });
    expect(requests.every(({ method, weight }) => method === 'GET' && weight === 1)).toBe(true);
  });

  it('gives a reason for each omitted route', () => {
    expect(readOpenapi(JSON.stringify(DOCUMENT), 'api.json').leftOut).toEqual([
      { route: 'POST /orders', reason: 'not a GET request' },
      { route: 'DELETE /orders/{id}', reason: 'not a GET request' },
      { route: 'GET /users/{name}', reason: 'no example for the parameter "name"' },
      { route: 'GET /me', reason: 'needs credentials; give them with --header' },
      { route: 'GET /events', reason: 'its responses do not end (server-sent events)' },
      { route: 'GET /odd/{what}', reason: 'the parameter "what" of its path is not declared' },
    ]);
  });

  it('requests protected routes if credentials are given', () => {
    expect(pathsOf(DOCUMENT, { authorization: 'Bearer x' })).toContain('/api/v1/me');
  });

  it('escapes Bench placeholders in examples', () => {
    const given = { '/a/{id}': { get: { parameters: [path('id', { example: '{env:SECRET}' })] } } };
    expect(pathsOf({ openapi: '3.0.0', paths: given })).toEqual(['/a/%7Benv%3ASECRET%7D']);
  });

  it('reads YAML, and Swagger 2 with its base path', () => {
    const yaml = `
swagger: '2.0'
basePath: /v2
paths:
  /pets:
    get: { parameters: [{ name: status, in: query, required: true, type: string, enum: [sold, new] }] }
  /pets/{id}:
    get: { parameters: [{ name: id, in: path, required: true, type: integer, x-example: 3 }] }
`;
    expect(readOpenapi(yaml, 'api.yaml').requests.map((one) => one.path)).toEqual([
      '/v2/pets?status=sold',
      '/v2/pets/3',
    ]);
  });

  it('rejects other texts, syntax errors with their line, and documents without a usable route', () => {
    expect(errorOf(() => readOpenapi('{"a":1}', 'a.json')).message).toBe('a.json: not an OpenAPI document');
    expect(errorOf(() => readOpenapi('openapi: 3\n  paths: {', 'a.yaml')).message).toMatch(
      /^a\.yaml:\d: neither JSON nor YAML: /,
    );
    const none = { openapi: '3.0.0', paths: { '/a': { post: {} } } };
    expect(errorOf(() => readOpenapi(JSON.stringify(none), 'a.json')).message).toBe(
      'a.json: no route can be measured (POST /a: not a GET request)',
    );
  });

  it.each([
    [
      'paths',
      JSON.stringify({
        openapi: '3.1.0',
        paths: Object.fromEntries(Array.from({ length: 100_000 }, (_, id) => [`/${id}`, { get: {} }])),
      }),
    ],
    ['letters of YAML', `openapi: 3.1.0\npaths:\n${'  /orders/{id}: { get: {} }\n'.repeat(100_000)}`],
  ])('rejects a document with more %s than it reads in seconds', (what, text) => {
    expect(() => readOpenapi(text, 'shop')).toThrow(
      new RegExp(`shop: [\\d,]+ ${what}, and the limit is [\\d,]+`),
    );
  });

  it('tolerates unresolved and circular references', () => {
    const parameters = [{ $ref: '#/components/parameters/A' }, { $ref: 'other.yaml#/x' }];
    const components = { parameters: { A: { $ref: '#/components/parameters/A' } } };
    expect(pathsOf({ openapi: '3.0.0', paths: { '/a': { get: { parameters } } }, components })).toEqual([
      '/a',
    ]);
  });
});
