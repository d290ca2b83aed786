/** The services that a project probably needs beside its server, read from its files. Changes no file. */
import { join } from 'node:path';
import type { Service } from 'bench-model/manifest';
import { readText } from './files.ts';
import { fieldsOf } from './services.ts';
import { listingsOf, variablesIn, type Listing, type Variable } from './variables.ts';

/** A service to declare, and the variables of the server that take its address. */
export interface Need {
  name: ServiceName;
  service: Service;
  env: Record<string, string>;
  /** The file and its evidence for the service: `compose.yaml: an image`. */
  why: string;
}

export const SERVICE_NAMES = ['postgres', 'mysql', 'redis'] as const;
export type ServiceName = (typeof SERVICE_NAMES)[number];

/** A service, and its evidence in files. */
interface Kind {
  /** Its own name, which is no word of a project. */
  title: string;
  service: Service;
  /** The variable of its address if the project names none. */
  variable: string;
  /** The name of its image in a compose file. */
  image: RegExp;
  /** The start of its addresses. */
  scheme: RegExp;
  /** Its name in variables, and in the names of its clients. */
  word: RegExp;
  port: string;
}

export const KINDS: Record<ServiceName, Kind> = {
  postgres: {
    title: 'PostgreSQL',
    service: { use: 'postgres' },
    variable: 'DATABASE_URL',
    image: /^[ \t]*image:\s*["']?(?:\S*\/)?(?:postgres|postgis|timescaledb)\b/m,
    scheme: /^postgres/,
    word: /postgres|psycopg|psql|pgsql|asyncpg|pgx|lib\/pq|(?:^|["'])pg/im,
    port: '5432',
  },
  mysql: {
    title: 'MySQL',
    service: { use: 'mysql' },
    variable: 'DATABASE_URL',
    image: /^[ \t]*image:\s*["']?(?:\S*\/)?(?:mysql|mariadb|percona)\b/m,
    scheme: /^(?:mysql|mariadb)|^[^\s/]*@tcp\(/,
    word: /mysql|mariadb|asyncmy/i,
    port: '3306',
  },
  redis: {
    title: 'Redis',
    service: { command: ['redis-server', '--port', '{port}', '--save', ''], url: 'redis://{host}:{port}/0' },
    variable: 'REDIS_URL',
    image: /^[ \t]*image:\s*["']?(?:\S*\/)?(?:redis|valkey)\b/m,
    scheme: /^rediss?:/,
    word: /redis|valkey/i,
    port: '6379',
  },
};

/** Returns the services that the files of a project's folder name. One whose variable is set is not needed. */
export function findNeeds(root: string, folder = '', env: NodeJS.ProcessEnv = process.env): Need[] {
  const listings = listingsOf(root, folder);
  const place = join(root, folder);
  const main = mainDatabase(listings, place);
  const variables = variablesIn(listings);
  return SERVICE_NAMES.flatMap((name): Need[] => {
    const { image, variable, service } = KINDS[name];
    const own = variables.filter((one) => kindOf(one, main) === name);
    const [address] = own.filter((one) => ['url', 'host'].includes(roleOf(one)));
    const pictured = listings.find((one) => one.kind === 'compose' && image.test(one.text));
    // Images of two databases are alternatives.
    const isOther = 'use' in service && main !== name;
    if (address === undefined && (pictured === undefined || isOther)) return [];
    const given = Object.assign(
      address === undefined ? { [variable]: `{${name}.url}` } : {},
      ...own.map((one) => givenTo(name, one)),
      // The databases of Bench speak no TLS, which clients in Go demand.
      name === 'postgres' && readText(place, 'go.mod') !== '' ? { PGSSLMODE: 'disable' } : {},
    ) as Record<string, string>;
    if (Object.keys(given).some((one) => env[one] !== undefined)) return [];
    const why = address === undefined ? `${pictured?.file}: an image` : `${address.file}: ${address.name}`;
    return [{ name, service, env: given, why }];
  });
}

/** Returns a service that a user names: `postgres`, or `postgres=SHOP_DATABASE`. */
export function needOf(name: ServiceName, variable = KINDS[name].variable): Need {
  const { service } = KINDS[name];
  return { name, service, env: { [variable]: `{${name}.url}` }, why: '--service' };
}

/** The files that list packages. */
const LISTS = 'package.json pyproject.toml requirements.txt go.mod Cargo.toml prisma/schema.prisma'.split(
  ' ',
);

/** Returns the only database that the images of a project name, or the packages that it lists. */
function mainDatabase(listings: readonly Listing[], place: string): ServiceName | undefined {
  const listed = LISTS.map((file) => `\n${readText(place, file)}\n`).join('');
  const composed = listings.flatMap((one) => (one.kind === 'compose' ? one.text : [])).join('\n');
  const databases = SERVICE_NAMES.filter((name) => 'use' in KINDS[name].service);
  const pictured = databases.filter((name) => KINDS[name].image.test(composed));
  const found = pictured.length > 0 ? pictured : databases.filter((name) => KINDS[name].word.test(listed));
  return found.length === 1 ? found[0] : undefined;
}

const HOST = /(?:HOST|HOSTNAME|SERVER|ADDRESS|ADDR)$/i;
/** The parts of an address, by the ends of variables: `DATABASE_URL`, `DB_HOST`, `PGUSER`. */
const ROLES: [role: string, end: RegExp][] = [
  ['url', /(?:URL|URI|DSN)$/i],
  ['host', HOST],
  ['port', /PORT$/i],
  ['user', /USER(?:NAME)?$/i],
  ['password', /(?:PASSWORD|PASS|PASSWD|PWD)$/i],
  ['name', /(?:DATABASE|DB|NAME)$/i],
];

/** Returns the part of an address that a variable takes; empty if it takes none. */
function roleOf({ name, value }: Variable): string {
  if (/:\/\/|@tcp\(/.test(value)) return 'url';
  return ROLES.find(([, end]) => end.test(name))?.[0] ?? '';
}

/** Returns the service whose address, or a part of it, a variable takes: by its value, or by its name. */
function kindOf({ name, value }: Variable, main: ServiceName | undefined): ServiceName | undefined {
  if (/:\/\/|@tcp\(/.test(value)) return SERVICE_NAMES.find((one) => KINDS[one].scheme.test(value));
  const named = SERVICE_NAMES.find((one) => KINDS[one].word.test(name));
  return named ?? (/(?:^|_)(?:DB|DATABASE|SQL\w*|DATASOURCE)_/i.test(name) ? main : undefined);
}

/** Returns the variable with its part of an address. The port is set in any case: without it, servers take the usual one. */
function givenTo(kind: ServiceName, variable: Variable): Record<string, string> {
  const { name, value } = variable;
  const role = roleOf(variable);
  if (role === 'url') return { [name]: urlOf(kind, value) };
  if (!fieldsOf(KINDS[kind].service).includes(role)) return {};
  const port = role === 'host' ? { [name.replace(HOST, 'PORT')]: `{${kind}.port}` } : {};
  return { [name]: `{${kind}.${role}}`, ...port };
}

/** Returns the address of a service in the form that a project writes: with its scheme, and its options but those of TLS. */
function urlOf(name: ServiceName, value: string): string {
  const [, options = ''] = /(\?[^\s$]*)$/.exec(value) ?? [];
  const kept = /ssl|tls/i.test(options) ? '' : options;
  const [, scheme = ''] = /^([\w+.-]+):\/\//.exec(value) ?? [];
  const login = `{${name}.user}:{${name}.password}`;
  if (value.includes('@tcp(')) return `${login}@tcp({${name}.host}:{${name}.port})/{${name}.name}${kept}`;
  if (!scheme.includes('+')) return `{${name}.url}${kept}`;
  return `${scheme}://${login}@{${name}.host}:{${name}.port}/{${name}.name}${kept}`;
}
