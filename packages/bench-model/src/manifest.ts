/**
 * `stack.json` and files of requests, as users write them: their definitions, and the types derived from them. Their schemas and the
 * tables of the documents are made from these.
 */
import { Type, type Static, type TSchema } from 'typebox';
import { as, choice, list, mapOf, named, oneOf, shape, text, when } from './definitions.ts';
import { status, token } from './requests.ts';
import { attestation, STACK_CLASSES } from './target.ts';

const DRAFT = { $schema: Type.Optional(Type.String()) };

const line = named(
  'line',
  text('The method and the path, such as `GET /orders/{id}`.', {
    pattern: '^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) /\\S*$',
  }),
);

const headers = named(
  'headers',
  mapOf(Type.String(), 'Names and values. Those of the file apply to every request.'),
);

const body = named(
  'body',
  Type.Unknown({
    description:
      'JSON, text, or `@file` relative to this file. Its type is `application/json` unless a header names another.',
  }),
);

const expectation = shape(
  'The correct response: `status`, `body` or `schema`. Without it: any 2xx, with the same body as before the load.',
  {
    status: Type.Optional(
      Type.Union([named('status', status), Type.Array(named('status', status), { minItems: 1 })], {
        description: 'The right status codes, or classes of them, such as `[200, "3xx"]`.',
      }),
    ),
    body: Type.Optional(
      Type.Unknown({ description: 'The right body: JSON, text or `@file`. Equal JSON is right too.' }),
    ),
    schema: Type.Optional(
      Type.Unsafe<object | string>({
        description: 'The JSON Schema of a right body, or `@file`.',
        anyOf: [{ type: 'object' }, { type: 'string', pattern: '^@.' }],
      }),
    ),
  },
  { minProperties: 1 },
);

const writtenRequest = shape({
  request: line,
  weight: Type.Optional(
    Type.Integer({
      description: 'How often it is sent in one cycle; 1 by default. Weights are exact over each cycle.',
      minimum: 1,
      maximum: 1000,
    }),
  ),
  headers: Type.Optional(headers),
  body: Type.Optional(body),
  expect: Type.Optional(expectation),
  repeat: Type.Optional(
    choice('`true` to send rows again, `false` to send each once; `false` by default for POST and DELETE.'),
  ),
});

/** One request with its weight, its body and its correct response. */
export type WrittenRequest = Static<typeof writtenRequest>;

const writtenLogin = shape(
  'A request that is sent before the others. Its response holds the token that they carry.',
  {
    request: line,
    headers: Type.Optional(headers),
    body: Type.Optional(body),
    token,
    every: Type.Optional(
      Type.Number({
        description:
          'The age in seconds at which a token is replaced, in a pause that no figure includes. By default, the login is sent once before each load.',
        minimum: 1,
      }),
    ),
    send: Type.Optional(
      mapOf(
        Type.String(),
        'The headers that carry the token, written with `{token}`. By default `authorization: Bearer {token}`, or the cookie.',
      ),
    ),
  },
);

/** A login, with the place of its token. */
export type WrittenLogin = Static<typeof writtenLogin>;

const requests = list(
  'The requests, each as `GET /orders` or as an object. They alternate by weight.',
  Type.Unsafe<string | WrittenRequest>({
    type: ['string', 'object'],
    ...when({ type: 'string' }, line, writtenRequest),
  }),
  { minItems: 1 },
);

const ofRequests = {
  headers: Type.Optional(headers),
  rows: Type.Optional(
    text(
      'A CSV file with a header line, or JSON lines. Each row fills in the placeholders of one request, such as `{id}`.',
    ),
  ),
  login: Type.Optional(writtenLogin),
};

export const requestsFile = shape({ ...DRAFT, requests, ...ofRequests });

/** A file of requests. */
export type RequestsFile = Static<typeof requestsFile>;

const argv = named(
  'argv',
  list(
    'An argument vector, never a shell string. Placeholders: `{runtime} {root} {host} {port} {workers} {threads} {build}`. Words with `{threads}` are left out without `--threads`.',
    Type.String(),
    { minItems: 1 },
  ),
);

const env = Type.Optional(mapOf(Type.String(), 'Environment variables of the program.'));

const port = (description: string) =>
  Type.Optional(Type.Integer({ description, minimum: 1, maximum: 65_535 }));

const seconds = (description: string) =>
  Type.Optional(Type.Number({ description, exclusiveMinimum: 0, maximum: 3600 }));

const name = { pattern: '^[a-z0-9][a-z0-9-]*$' };

/** The databases that a manifest can use. */
export const DATABASE_NAMES = ['postgres', 'mysql'] as const;
export type DatabaseName = (typeof DATABASE_NAMES)[number];

const database = shape({
  use: oneOf(
    DATABASE_NAMES,
    '`postgres`: an embedded PostgreSQL, or the server that `DATABASE_URL` names. `mysql`: the MySQL or MariaDB of this machine (`apt-get install mariadb-server`), with an empty data folder. Bench only changes databases that it created.',
  ),
});

const programService = shape({
  command: as(
    argv,
    'Any other program. It must stay in the foreground. `{host}` and `{port}` are its address.',
  ),
  env,
  port: port('A fixed port; by default a free one for `{port}`.'),
  url: Type.Optional(text('The value of `{name.url}`; `http://{host}:{port}` by default.')),
  ready: Type.Optional(
    Type.Unsafe<'tcp' | { http: string } | { command: string[] }>({
      description:
        '`"tcp"` (default), `{ "http": "/health" }`, or `{ "command": […] }`, which must exit with 0.',
      ...when(
        { type: 'string' },
        { enum: ['tcp'] },
        {
          type: 'object',
          additionalProperties: false,
          minProperties: 1,
          maxProperties: 1,
          properties: { http: { type: 'string', pattern: '^/\\S*$' }, command: argv },
        },
      ),
    }),
  ),
  per: Type.Optional(
    oneOf(
      ['trial', 'run'] as const,
      '`trial` (default): a fresh companion and an empty database for every trial. `run`: one for the whole run.',
    ),
  ),
  timeoutSeconds: seconds(
    'The longest time until it is ready; 30 by default. For `setup`: until it ends; 60.',
  ),
});

/** A program beside the server, and the check for its readiness. */
export type ProgramService = Static<typeof programService>;

/** One entry of `services`: an empty database for each trial, or a program. */
export type Service = { use: DatabaseName } | ProgramService;

const setup = shape('A command before each trial, in a copy of the project: migrations, test data.', {
  command: argv,
  env,
  timeoutSeconds: seconds('The longest time that it may take; 60 by default.'),
});

export type Setup = Static<typeof setup>;

const stackClass = Type.Optional(
  oneOf([...STACK_CLASSES, 'unknown'], '`raw`, `framework` or `tuned`; without it, `unknown`.'),
);

const scheme = Type.Optional(
  oneOf(
    ['http', 'https'] as const,
    '`https` if the server speaks TLS, for all variants or for one. Its certificate may be self-signed.',
  ),
);

const build = Type.Optional(
  list(
    'Commands that make the program, once for each environment. `{build}` is a folder of the cache; without it, they run in a copy of the project.',
    argv,
  ),
);

/** The connection defaults that every server shares. */
const DEVIATIONS = ['backlog', 'keep-alive', 'nodelay'] as const;

const variant = shape({
  command: argv,
  groups: Type.Optional(
    list(
      'The dependency groups of Python that a variant installs. The lock of each is `requirements-<group>.txt`.',
      Type.String(name),
      { uniqueItems: true },
    ),
  ),
  build,
  env,
  workloads: Type.Optional(list('The workloads that it serves.', Type.String(), { minItems: 1 })),
  class: stackClass,
  scheme,
  attest: Type.Optional(
    as(attestation, 'What must be true in the live process, such as `{"loop": "uvloop"}`.'),
  ),
  deviates: Type.Optional(
    list(
      'Shared defaults that a variant cannot keep: `backlog`, `keep-alive`, `nodelay`. Its `note` says why.',
      oneOf(DEVIATIONS),
      { uniqueItems: true },
    ),
  ),
  note: Type.Optional(Type.String({ description: 'What a reader of its figures must know.' })),
});

/** One variant of a stack. */
export type WrittenVariant = Static<typeof variant>;

const mapByName = <Value extends TSchema>(
  value: Value,
  { description, pattern }: { description: string; pattern: string },
) =>
  Type.Unsafe<Record<string, Static<Value>>>({
    description,
    type: 'object',
    minProperties: 1,
    propertyNames: { pattern },
    additionalProperties: value,
  });

export const manifest = shape({
  ...DRAFT,
  name: Type.String({ description: 'Its name in targets.', ...name }),
  language: Type.Optional(
    Type.String({ description: 'The programming language; by default that of its runtime.' }),
  ),
  framework: Type.Optional(Type.String({ description: 'The package of the framework.' })),
  class: stackClass,
  scheme,
  runtime: Type.Optional(
    oneOf(
      ['node', 'python', 'none'] as const,
      '`node`, `python`, or `none` for a compiled program. With `requests`, by default that of the command.',
    ),
  ),
  build,
  default: Type.Optional(
    Type.String({ description: 'The variant that a target without one means; by default the first.' }),
  ),
  variants: mapByName(variant, {
    description: 'The ways to run it, by name.',
    ...name,
  }),
  services: Type.Optional(
    mapByName(
      Type.Unsafe<Service>({ type: 'object', ...when({ required: ['use'] }, database, programService) }),
      {
        description:
          'Its databases and other companions, by name. `{name.url}`, `{name.host}` and `{name.port}` can be used in the `env` of variants, of later services and of `setup`.',
        pattern: '^[a-z][a-z0-9-]*$',
      },
    ),
  ),
  port: port('The port on which the server always listens. Its targets are then measured one at a time.'),
  movesPort: Type.Optional(
    choice(
      '`true`: Bench lets it listen on another port instead, by `LD_PRELOAD`, so that its targets can take turns. On Linux, with `cc`; not for Go.',
    ),
  ),
  envFile: Type.Optional(
    text(
      'A file with variables, such as `.env.example`: those that neither `env` nor your environment sets.',
    ),
  ),
  version: Type.Optional(
    text('The version of its runtime: `"3.14"`, `bun`. By default the one that the project pins.', {
      pattern: '^([0-9]+(\\.[0-9]+)*t?|bun|deno)$',
    }),
  ),
  packages: Type.Optional(
    list('Packages that the lock lacks, as the package manager takes them: `gunicorn==23.0.0`.', text(), {
      minItems: 1,
    }),
  ),
  packagesUntil: Type.Optional(
    text(
      'A day such as `2021-06-01`: only releases of Python packages up to it count where no list pins them. One set for all commits.',
      { pattern: '^\\d{4}-\\d{2}-\\d{2}$' },
    ),
  ),
  setup: Type.Optional(setup),
  startTimeoutSeconds: seconds('How long its first correct response may take; 30 by default.'),
  warmupTimeoutSeconds: seconds('How long it may be loaded until it is warm; 40 by default.'),
  lock: Type.Optional(text('The lock file or list of requirements, if Bench does not find the right one.')),
  runtimes: Type.Optional(
    list(
      'The only versions that the stack runs on, such as `["3.11"]`. The first is the default.',
      Type.String({ pattern: '^\\d+(\\.\\d+)*$' }),
      { minItems: 1 },
    ),
  ),
  requests: Type.Optional(requests),
  ...ofRequests,
});

/** A `stack.json`. */
export type Manifest = Static<typeof manifest>;
