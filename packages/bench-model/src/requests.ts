/** The requests that a user asks for: their definition, and the types derived from it. */
import { Type, type Static } from 'typebox';
import {
  choice,
  count,
  digest,
  flag,
  list,
  mapOf,
  namedShape,
  oneOf,
  optional,
  ordinal,
  shape,
  span,
  text,
  texts,
} from './definitions.ts';

const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx'] as const;

export const status = Type.Unsafe<number | (typeof STATUS_CLASSES)[number]>({
  anyOf: [
    { type: 'integer', minimum: 200, maximum: 599, description: 'status: one code' },
    { enum: [...STATUS_CLASSES] },
  ],
});

/** A status code, or a class of them such as `2xx`. */
export type Status = Static<typeof status>;

const expectation = shape('The correct response; by default any 2xx, with the body as before the load.', {
  statuses: Type.Optional(list('The right status codes.', status, { minItems: 1 })),
  body: Type.Optional(
    Type.String({ description: 'The right body: the text itself, or @file. Equal JSON is right too.' }),
  ),
  schema: Type.Optional(
    Type.String({ description: 'The JSON Schema of a right body: the text itself, or @file.' }),
  ),
});

export type Expectation = Static<typeof expectation>;

const headers = mapOf(Type.String(), 'The headers as they were written; secrets are not kept.');

const userRequest = shape({
  method: text(),
  path: Type.String({ pattern: '^/' }),
  weight: ordinal('count: how often it is sent in one cycle'),
  headers,
  body: Type.Optional(Type.String({ description: 'The text itself, or @file.' })),
  expect: Type.Optional(expectation),
  repeat: Type.Optional(choice('True if its rows are sent again.')),
});

/** One request as it was written, with its placeholders. */
export type UserRequest = Static<typeof userRequest>;

const rows = shape('The file whose rows fill in the placeholders.', {
  file: text(),
  count: ordinal('count: rows'),
  names: texts('The names of the columns.'),
  sha256: digest(),
});

/** A file of rows as a plan keeps it. */
export type UserRows = Static<typeof rows>;

/** The place of a token in the answer to a login. */
export type TokenPlace = { json: string } | { header: string } | { cookie: string };

export const token = Type.Unsafe<TokenPlace>({
  ...shape(
    'The place of the token in the response: a JSON pointer into the body, a header or a cookie.',
    optional({
      json: Type.String({ pattern: '^(/.*)?$', description: 'A JSON pointer into the body (RFC 6901).' }),
      header: text('The name of a header.'),
      cookie: text('The name of a cookie.'),
    }),
    { minProperties: 1, maxProperties: 1 },
  ),
});

const login = shape('The request that is sent before the others, for a token.', {
  method: text(),
  path: Type.String({ pattern: '^/' }),
  headers,
  body: Type.Optional(Type.String({ description: 'Never kept.' })),
  token,
  every: Type.Optional(span('s: the login is sent again before its token is older')),
  send: mapOf(Type.String(), 'The headers that carry the token in every request, written with {token}.'),
});

/** A login, as it was written. */
export type UserLogin = Static<typeof login>;

const leftOut = shape({ route: text(), reason: text() });

/** A route of an OpenAPI document that is not measured, and the reason. */
export type RouteLeftOut = Static<typeof leftOut>;

export const userRequests = namedShape(
  'userRequests',
  'The requests of the workload `requests`, as the user wrote them.',
  {
    requests: Type.Array(userRequest, { minItems: 1 }),
    rows: Type.Optional(rows),
    login: Type.Optional(login),
    files: mapOf(digest(), 'SHA-256 of each file named by @file when the run was planned.'),
    from: Type.Optional(text('The file that the requests were read from.')),
    openapi: Type.Optional(text('The OpenAPI document that the requests were read from.')),
    leftOut: Type.Optional(list('Routes of the document that are not measured.', leftOut, { minItems: 1 })),
  },
);

/** The requests of a user, as a plan keeps them: JSON, and no contents of files. */
export type UserRequests = Static<typeof userRequests>;

const server = shape('A server that was already running.', {
  target: text('The target that it is.'),
  url: text('Its address, without a path.', { pattern: '^https?://' }),
});

export const attached = list('The servers at addresses, which Bench neither starts nor stops.', server, {
  minItems: 1,
});

export type AttachedServer = Static<typeof server>;

const check = oneOf(
  ['bytes', 'schema', 'status'] as const,
  'The check of responses under load beyond their status.',
);

/** The check of responses under load: against exact bytes, against a JSON Schema, or by the status alone. */
export type CheckKind = Static<typeof check>;

const sentRequest = shape({
  method: text(),
  path: Type.String({ pattern: '^/' }),
  weight: ordinal('count: how often it is sent in one cycle'),
  headers: list('Their names.', Type.String()),
  bodySha256: Type.Optional(digest('Of the body before its placeholders are filled in.')),
  expectSha256: Type.Optional(digest('Of what the request expects.')),
  once: flag('Each of its rows is sent at most once.'),
  check: Type.Optional(check),
});

export const sent = shape('The requests, without secrets: texts by their digests, headers by their names.', {
  requests: Type.Array(sentRequest, { minItems: 1 }),
  rows: Type.Optional(
    shape({
      sha256: digest('Of the file.'),
      count: ordinal('count: rows in the file'),
      used: ordinal('count: rows that this trial used'),
      checked: count('count: rows whose responses were compared with those before the load'),
    }),
  ),
  login: Type.Optional(text('The method and the path of the login.')),
});

/** The requests of a trial, as its record keeps them. */
export type SentRequests = Static<typeof sent>;

/** Requests as they were written, before their files are read. */
export interface Draft {
  requests: UserRequest[];
  rows?: string;
  login?: UserLogin;
  from?: string;
  openapi?: string;
  leftOut?: RouteLeftOut[];
}

/** Names the place of a request and one of its fields, for messages: `stack.json:12`, `--get /orders`. */
export type Locate = (request: number, field: string) => string;
