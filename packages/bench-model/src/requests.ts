/** The requests that a user asks for: their definition, and the types derived from it. */
import { Type, type Static } from 'typebox';
import { count, digest, flag, mapOf, named, ordinal, shape, span, text, texts } from './definitions.ts';

const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx'] as const;

export const status = Type.Unsafe<number | (typeof STATUS_CLASSES)[number]>({
  anyOf: [
    { type: 'integer', minimum: 200, maximum: 599, description: 'status: one code' },
    { enum: [...STATUS_CLASSES] },
  ],
});

/** A status code, or a class of them such as `2xx`. */
export type Status = Static<typeof status>;

const expectation = shape(
  {
    statuses: Type.Optional(Type.Array(status, { minItems: 1, description: 'The right status codes.' })),
    body: Type.Optional(
      Type.String({ description: 'The right body: the text itself, or @file. Equal JSON is right too.' }),
    ),
    schema: Type.Optional(
      Type.String({ description: 'The JSON Schema of a right body: the text itself, or @file.' }),
    ),
  },
  {
    description:
      'The correct response. Without a body, a schema and statuses: any 2xx, with the body as it was before the load.',
  },
);

/** The correct response to a request. */
export type Expectation = Static<typeof expectation>;

const headers = mapOf(Type.String(), 'The headers as they were written; secrets are not kept.');

const userRequest = shape({
  method: text(),
  path: Type.String({ pattern: '^/' }),
  weight: ordinal('count: how often it is sent in one cycle'),
  headers,
  body: Type.Optional(Type.String({ description: 'The text itself, or @file.' })),
  expect: Type.Optional(expectation),
  repeat: Type.Optional(
    Type.Boolean({
      description: 'True if its rows are sent again; by default all but those of POST and DELETE are.',
    }),
  ),
});

/** One request as it was written, with its placeholders. */
export type UserRequest = Static<typeof userRequest>;

const rows = shape(
  {
    file: text(),
    count: ordinal('count: rows'),
    names: texts('The names of the columns.'),
    sha256: digest(),
  },
  { description: 'The file whose rows fill in the placeholders.' },
);

/** A file of rows as a plan keeps it. */
export type UserRows = Static<typeof rows>;

const token = Type.Union([
  shape({
    json: Type.String({ pattern: '^(/.*)?$', description: 'A JSON pointer into the body (RFC 6901).' }),
  }),
  shape({ header: text('The name of a header.') }),
  shape({ cookie: text('The name of a cookie.') }),
]);

/** The place of a token in the answer to a login. */
export type TokenPlace = Static<typeof token>;

const login = shape(
  {
    method: text(),
    path: Type.String({ pattern: '^/' }),
    headers,
    body: Type.Optional(Type.String({ description: 'Never kept.' })),
    token,
    every: Type.Optional(span('s: the login is sent again before its token is older')),
    send: mapOf(Type.String(), 'The headers that carry the token in every request, written with {token}.'),
  },
  {
    description:
      'The request that is sent before the others. Its response holds a token, which is never kept.',
  },
);

/** A login, as it was written. */
export type UserLogin = Static<typeof login>;

const leftOut = shape({ route: text(), reason: text() });

/** A route of an OpenAPI document that is not measured, and the reason. */
export type RouteLeftOut = Static<typeof leftOut>;

export const userRequests = named(
  'userRequests',
  shape(
    {
      requests: Type.Array(userRequest, { minItems: 1 }),
      rows: Type.Optional(rows),
      login: Type.Optional(login),
      files: mapOf(digest(), 'SHA-256 of each file named by @file when the run was planned.'),
      from: Type.Optional(text('The file that the requests were read from.')),
      openapi: Type.Optional(text('The OpenAPI document that the requests were read from.')),
      leftOut: Type.Optional(
        Type.Array(leftOut, { description: 'Routes of the document that are not measured.', minItems: 1 }),
      ),
    },
    { description: 'The requests of the workload `requests`, as the user wrote them.' },
  ),
);

/** The requests of a user, as a plan keeps them: JSON, and no contents of files. */
export type UserRequests = Static<typeof userRequests>;

const server = shape(
  {
    target: text('The target that it is.'),
    url: Type.String({ pattern: '^https?://', description: 'Its address, without a path.' }),
  },
  { description: 'A server that was already running.' },
);

export const attached = Type.Array(server, {
  description: 'The servers at addresses, which Bench neither starts nor stops.',
  minItems: 1,
});

/** A server that was already running when the run began. */
export type AttachedServer = Static<typeof server>;

const sentRequest = shape({
  method: text(),
  path: Type.String({ pattern: '^/' }),
  weight: ordinal('count: how often it is sent in one cycle'),
  headers: Type.Array(Type.String(), { description: 'Their names.' }),
  bodySha256: Type.Optional(digest('Of the body before its placeholders are filled in.')),
  expectSha256: Type.Optional(digest('Of what the request expects.')),
  once: flag('Each of its rows is sent at most once.'),
  check: Type.Optional(
    Type.Unsafe<CheckKind>({
      enum: ['bytes', 'schema', 'status'],
      description: 'The check of responses under load beyond their status.',
    }),
  ),
});

/** The check of responses under load: against exact bytes, against a JSON Schema, or by the status alone. */
export type CheckKind = 'bytes' | 'schema' | 'status';

export const sent = shape(
  {
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
  },
  { description: 'The requests, without secrets: texts by their digests, headers by their names.' },
);

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
