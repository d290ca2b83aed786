/** The services that a project probably needs beside its server, read from its files. Changes no file. */
import { join } from 'node:path';
import type { Service } from 'bench-model/manifest';
import { readText } from './starts/files.ts';
import { fieldsOf } from './services.ts';
import { listingsOf, variablesIn, type Listing, type Variable } from './variables.ts';

/** A service to declare, and the variables of the server that take its address. */
export interface Need {
  name: string;
  service: Service;
  env: Record<string, string>;
  /** The file and its evidence for the service: `compose.yaml: an image`. */
  why: string;
}

/** A service, and its evidence in files. */
interface Kind {
  /** Its name if no other service has it, else its name beside that. */
  names: [usual: string, beside: string];
  service: Service;
  /** The variable of its address if the project names none. */
  variable: string;
  /** The name of its image in a compose file. */
  image: RegExp;
  /** The start of its addresses. */
  scheme: RegExp;
  /** The schemes of its addresses for which `{name.url}` is right as it is. */
  plain: RegExp;
  /** Its name in variables, and in their values. */
  word: RegExp;
  port: string;
  /** The packages that only its clients have. */
  driver?: RegExp;
}

const KINDS: Kind[] = [
  {
    names: ['db', 'postgres'],
    service: { use: 'postgres' },
    variable: 'DATABASE_URL',
    image: /^[ \t]*image:\s*["']?(?:\S*\/)?(?:postgres|postgis|timescaledb)\b/m,
    scheme: /^postgres/,
    plain: /^postgres(ql)?$/,
    word: /postgres|psql|pgsql|^pg/i,
    port: '5432',
    driver: /["'\s](?:pg|postgres|psycopg2?(?:-binary)?|asyncpg)["'\s=<>~[]|jackc\/pgx|lib\/pq/,
  },
  {
    names: ['db', 'mysql'],
    service: { use: 'mysql' },
    variable: 'DATABASE_URL',
    image: /^[ \t]*image:\s*["']?(?:\S*\/)?(?:mysql|mariadb|percona)\b/m,
    scheme: /^(?:mysql|mariadb)|^[^\s/]*@tcp\(/,
    plain: /^mysql$/,
    word: /mysql|mariadb/i,
    port: '3306',
    driver:
      /["'\s](?:mysql2?|mariadb|pymysql|mysqlclient|aiomysql|asyncmy|mysql-connector-python)["'\s=<>~[]|go-sql-driver\/mysql/i,
  },
  {
    names: ['cache', 'redis'],
    service: {
      command: ['redis-server', '--port', '{port}', '--save', ''],
      url: 'redis://{host}:{port}/0',
    },
    variable: 'REDIS_URL',
    image: /^[ \t]*image:\s*["']?(?:\S*\/)?(?:redis|valkey)\b/m,
    scheme: /^rediss?:/,
    plain: /^rediss?$/,
    word: /redis|valkey/i,
    port: '6379',
  },
];

/** Returns the services that the files of a project's folder name. One whose variable is set is not needed. */
export function findNeeds(root: string, folder = '', env: NodeJS.ProcessEnv = process.env): Need[] {
  const listings = listingsOf(root, folder);
  const variables = variablesIn(listings);
  const guessed = guessDatabase(listings, join(root, folder));
  // The databases of Bench speak no TLS, which this driver demands unless it is told otherwise.
  const noTls = readText(root, folder, 'go.mod').includes('github.com/lib/pq ') ? '?sslmode=disable' : '';
  const names = new Set<string>();
  return KINDS.flatMap((kind): Need[] => {
    const urls = variables.filter((one) => isUrlOf(kind, one, guessed));
    const hosts = variables.filter((one) => isHostOf(kind, one, variables, guessed));
    const image = imageOf(kind, listings);
    const found = urls[0] ?? hosts[0] ?? (kind === guessed ? quotedIn(listings, kind.variable) : undefined);
    if (found === undefined && image === undefined) return [];
    const told = [...urls, ...hosts].map(({ name }) => name);
    const wanted = told.length === 0 ? [kind.variable] : told;
    if (wanted.some((name) => env[name] !== undefined)) return [];
    // Images of two databases are alternatives.
    if (told.length === 0 && names.has(kind.names[0])) return [];
    const [usual, beside] = kind.names;
    const name = names.has(usual) ? beside : usual;
    names.add(name);
    const set = {
      ...(told.length === 0 ? { [kind.variable]: fillUrl(kind, '', { name, noTls }) } : {}),
      ...Object.fromEntries(urls.map((one) => [one.name, fillUrl(kind, one.value, { name, noTls })])),
      ...Object.assign({}, ...hosts.map((host) => fillParts(kind, host, variables, name))),
    };
    const why = found === undefined ? `${image?.file}: an image` : `${found.file}: ${found.name}`;
    return [{ name, service: kind.service, env: set, why }];
  });
}

/** Returns a variable whose name stands in a source, where it is read in a way of its own. */
function quotedIn(listings: readonly Listing[], name: string): Pick<Variable, 'file' | 'name'> | undefined {
  const isQuoted = new RegExp(`["'\`]${name}["'\`]`);
  const found = listings.find(({ kind, text }) => kind === 'source' && isQuoted.test(text));
  return found && { file: found.file, name };
}

/** The address of a program that Bench cannot start. */
export interface Foreign {
  host: string;
  port: number;
  /** `.env: MONGODB_URL`. */
  why: string;
}

/** The ports of addresses without one, by their schemes. */
const USUAL_PORTS: Record<string, number> = {
  mongodb: 27017,
  amqp: 5672,
  nats: 4222,
  bolt: 7687,
  neo4j: 7687,
};
/** Addresses of servers of HTTP, and of files. */
const NO_SERVICE = /^(?:https?|wss?|file|sqlite\w*|data|jdbc)\b/;

/** Returns the addresses in the files of a project's folder of programs that Bench cannot start, such as MongoDB. */
export function findForeign(root: string, folder = '', env: NodeJS.ProcessEnv = process.env): Foreign[] {
  const found = variablesIn(listingsOf(root, folder)).flatMap(({ name, value, file }): Foreign[] => {
    const known = env[name] !== undefined || KINDS.some(({ scheme }) => scheme.test(value));
    if (known || NO_SERVICE.test(value)) return [];
    const { hostname = '', port = '', protocol = '' } = URL.parse(value) ?? {};
    const at = Number(port) || USUAL_PORTS[protocol.replace(/:$/, '')];
    return hostname === '' || at === undefined ? [] : [{ host: hostname, port: at, why: `${file}: ${name}` }];
  });
  return [...new Map(found.toReversed().map((one) => [`${one.host}:${one.port}`, one])).values()];
}

function imageOf({ image }: Kind, listings: readonly Listing[]): Listing | undefined {
  return listings.find(({ kind, text }) => kind === 'compose' && image.test(text));
}

/** The names of addresses, and of the hosts of databases of any kind. */
const URL_NAME = /(?:^|_)(?:DATABASE|DB|SQL\w*|MYSQL|MARIADB|POSTGRES\w*|PG|REDIS)_?(?:URL|URI|DSN)$/i;
const OF_DATABASE = /(?:^|_)(?:DB|DATABASE|SQL|DATASOURCE)$/i;

/** Returns the only database that the images of a project name, its schema of Prisma, or the packages that it lists. */
function guessDatabase(listings: readonly Listing[], place: string): Kind | undefined {
  const listed = ['package.json', 'pyproject.toml', 'requirements.txt', 'go.mod', 'Cargo.toml']
    .map((name) => `\n${readText(place, name)}\n`)
    .join('');
  const [provider = ''] = listings.flatMap(({ file, text }) =>
    file.endsWith('.prisma') ? (/^datasource\b[^}]*?\bprovider\s*=\s*"(\w+)"/m.exec(text)?.[1] ?? []) : [],
  );
  const ways = [
    (kind: Kind) => imageOf(kind, listings) !== undefined,
    (kind: Kind) => kind.word.test(provider),
    (kind: Kind) => kind.driver?.test(listed) === true,
  ];
  for (const isTold of ways) {
    const [first, ...others] = KINDS.filter((kind) => kind.driver !== undefined && isTold(kind));
    if (first !== undefined) return others.length === 0 ? first : undefined;
  }
  return undefined;
}

function isUrlOf(kind: Kind, { name, value }: Variable, guessed: Kind | undefined): boolean {
  if (/:\/\/|@tcp\(/.test(value)) return kind.scheme.test(value);
  if (!URL_NAME.test(name) || (value !== '' && !value.startsWith('$'))) return false;
  const named = KINDS.find(({ word }) => word.test(name));
  return (named ?? guessed) === kind;
}

/** The words of the parts of an address after their prefix: `DB_HOST`, `PGHOST`. */
const PARTS = {
  host: ['HOST', 'HOSTNAME', 'SERVER', 'ADDRESS', 'ADDR'],
  port: ['PORT'],
  user: ['USER', 'USERNAME'],
  password: ['PASSWORD', 'PASS', 'PASSWD', 'PWD'],
  name: ['DATABASE', 'DB', 'NAME', 'DB_NAME', 'DATABASE_NAME', 'DBNAME'],
};
const HOST_NAME = new RegExp(`^(.+?)(_?)(?:${PARTS.host.join('|')})$`, 'i');
const ENGINES = ['CONNECTION', 'ENGINE', 'TYPE', 'CLIENT', 'DRIVER', 'DIALECT', 'ADAPTER'];

function isHostOf(
  kind: Kind,
  { name, value }: Variable,
  variables: readonly Variable[],
  guessed: Kind | undefined,
): boolean {
  const [, prefix = '', gap = ''] = HOST_NAME.exec(name) ?? [];
  // The image of MySQL takes the hosts that may log in as root.
  if (prefix === '' || value === '%' || /_ROOT$/i.test(prefix)) return false;
  const named = KINDS.find(({ word }) => word.test(prefix));
  if (named !== undefined) return named === kind;
  const valueOf = (words: string[]): string | undefined =>
    variables.find((one) => words.some((word) => isCalled(one, prefix + gap + word)))?.value;
  const engine = valueOf(ENGINES);
  if (engine !== undefined && engine !== '') return kind.word.test(engine);
  const byPort = KINDS.find(({ port }) => port === valueOf(PARTS.port));
  return (byPort ?? (OF_DATABASE.test(prefix) ? guessed : undefined)) === kind;
}

function isCalled({ name }: Variable, wanted: string): boolean {
  return name.toLowerCase() === wanted.toLowerCase();
}

/** Returns the variables of an address in parts. Its port is set in any case: without, servers take the usual one. */
function fillParts(
  { service }: Kind,
  host: Variable,
  variables: readonly Variable[],
  name: string,
): Record<string, string> {
  const [, prefix = '', gap = ''] = HOST_NAME.exec(host.name) ?? [];
  const given = fieldsOf(service);
  const set = Object.entries(PARTS).flatMap(([part, words]) => {
    if (!given.includes(part)) return [];
    const found = words.flatMap((word) => variables.find((one) => isCalled(one, prefix + gap + word)) ?? []);
    const usual = part === 'port' ? [`${prefix}${gap}PORT`] : [];
    const called = found.length === 0 ? usual : found.map((one) => one.name);
    return called.map((one) => [one, `{${name}.${part}}`]);
  });
  return Object.fromEntries(set) as Record<string, string>;
}

/** Returns the address of a service in the form that a project writes: with its scheme, and its options. */
function fillUrl(
  { plain, service }: Kind,
  value: string,
  { name, noTls }: { name: string; noTls: string },
): string {
  const [, options = ''] = /(\?[^\s$]*)$/.exec(value) ?? [];
  const isTls = /ssl(?:-?mode)?=(?!disable|false|0)|sslrootcert|tls=/i.test(options);
  const own = 'use' in service && service.use === 'postgres' ? noTls : '';
  const kept = isTls || options === '' ? own : options;
  const [, scheme = ''] = /^([\w+.-]+):\/\//.exec(value) ?? [];
  const login = `{${name}.user}:{${name}.password}`;
  if (value.includes('@tcp(')) return `${login}@tcp({${name}.host}:{${name}.port})/{${name}.name}${kept}`;
  if (scheme === '' || plain.test(scheme)) return `{${name}.url}${kept}`;
  return `${scheme}://${login}@{${name}.host}:{${name}.port}/{${name}.name}${kept}`;
}
