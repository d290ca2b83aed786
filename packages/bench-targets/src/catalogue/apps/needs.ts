/** The services that a project probably needs beside its server, read from its files. Changes no file. */
import { join } from 'node:path';
import type { Service } from 'bench-model/manifest';
import { readText } from './files.ts';
import { fieldsOf } from '../services.ts';
import { firstOfEach, variablesOf, type Variable } from './variables.ts';

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
  /** Its name in images, addresses and variables, and in the names of its clients. */
  word: RegExp;
  port: string;
}

export const KINDS: Record<ServiceName, Kind> = {
  postgres: {
    title: 'PostgreSQL',
    service: { use: 'postgres' },
    variable: 'DATABASE_URL',
    word: /postg(?:res|is)|timescale|psycopg|psql|pgsql|asyncpg|pgx|lib\/pq|(?:^|["'])pg/im,
    port: '5432',
  },
  mysql: {
    title: 'MySQL',
    service: { use: 'mysql' },
    variable: 'DATABASE_URL',
    word: /mysql|mariadb|percona|asyncmy/i,
    port: '3306',
  },
  redis: {
    title: 'Redis',
    service: { command: ['redis-server', '--port', '{port}', '--save', ''], url: 'redis://{host}:{port}/0' },
    variable: 'REDIS_URL',
    word: /redis|valkey/i,
    port: '6379',
  },
};

/** Returns the services that the files of a project's folder name. One whose variable is set is not needed. */
export function findNeeds(root: string, folder = '', env: NodeJS.ProcessEnv = process.env): Need[] {
  const all = variablesOf(root, folder);
  const images = all.filter(({ name }) => name === 'image');
  const place = join(root, folder);
  const main = mainDatabase(images, place);
  const taken = firstOfEach(all).flatMap((one) => takenBy(one, main) ?? []);
  // The databases of Bench speak no TLS, which clients in Go demand.
  const inGo = readText(place, 'go.mod') === '' ? {} : { PGSSLMODE: 'disable' };
  return SERVICE_NAMES.flatMap((name): Need[] => {
    const { word, variable, service } = KINDS[name];
    const own = taken.filter(({ kind }) => kind === name);
    const address = own.find(({ role }) => ['url', 'host'].includes(role));
    const image = images.find(({ value }) => word.test(value));
    // Images of two databases are alternatives.
    const isOther = 'use' in service && main !== name;
    if (address === undefined && (image === undefined || isOther)) return [];
    const given: Record<string, string> = Object.assign(
      address === undefined ? { [variable]: `{${name}.url}` } : {},
      ...own.map((one) => one.given),
      name === 'postgres' ? inGo : {},
    );
    if (Object.keys(given).some((one) => env[one] !== undefined)) return [];
    return [{ name, service, env: given, why: address?.why ?? `${image?.file}: an image` }];
  });
}

/** Returns a service that a user names: `postgres`, or `postgres=SHOP_DATABASE`. */
export function needOf(name: ServiceName, variable = KINDS[name].variable): Need {
  const { service } = KINDS[name];
  return { name, service, env: { [variable]: `{${name}.url}` }, why: '--service' };
}

/** The files that list packages. */
const LISTS = 'package.json pyproject.toml requirements.txt go.mod Cargo.toml prisma/schema.prisma';

/** Returns the only database that the images of a project name, or the packages that it lists. */
function mainDatabase(images: readonly Variable[], place: string): ServiceName | undefined {
  const lists = LISTS.split(' ').map((file) => readText(place, file));
  const databases = SERVICE_NAMES.filter((name) => 'use' in KINDS[name].service);
  const [pictured = [], listed = []] = [images.map(({ value }) => value), lists].map((texts) =>
    databases.filter((name) => texts.some((text) => KINDS[name].word.test(text))),
  );
  const found = pictured.length > 0 ? pictured : listed;
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
/** The start of an address: `postgresql+asyncpg://`, or `me:secret@tcp(` of MySQL in Go. */
const SCHEME = /^([\w+.-]+):\/\/|@tcp\(/;

/** A variable that takes the address of a service, or a part of it. */
interface Taken {
  kind: ServiceName;
  role: string;
  why: string;
  given: Record<string, string>;
}

/** Returns what a variable takes of a service, which its value names, its own name, or a neutral prefix such as `DB_`. */
function takenBy({ file, name, value }: Variable, main: ServiceName | undefined): Taken | undefined {
  const [address, scheme = 'mysql'] = SCHEME.exec(value) ?? [];
  const named = SERVICE_NAMES.find((one) => KINDS[one].word.test(address === undefined ? name : scheme));
  const isNeutral = address === undefined && /(?:^|_)(?:DB|DATABASE|SQL\w*|DATASOURCE)_/i.test(name);
  const kind = named ?? (isNeutral ? main : undefined);
  const role = address === undefined ? (ROLES.find(([, end]) => end.test(name))?.[0] ?? '') : 'url';
  if (kind === undefined || !fieldsOf(KINDS[kind].service).includes(role)) return undefined;
  const part = role === 'url' ? urlOf(kind, value) : `{${kind}.${role}}`;
  // Without it, servers take the usual port.
  const port = role === 'host' ? { [name.replace(HOST, 'PORT')]: `{${kind}.port}` } : {};
  return { kind, role, why: `${file}: ${name}`, given: { [name]: part, ...port } };
}

/** Returns the address of a service in the form that a project writes: with its scheme, and its options but those of TLS. */
function urlOf(name: ServiceName, value: string): string {
  const [, options = ''] = /(\?[^\s$]*)$/.exec(value) ?? [];
  const kept = /ssl|tls/i.test(options) ? '' : options;
  const [start = '', scheme = ''] = SCHEME.exec(value) ?? [];
  const login = `{${name}.user}:{${name}.password}`;
  if (start === '@tcp(') return `${login}@tcp({${name}.host}:{${name}.port})/{${name}.name}${kept}`;
  if (!scheme.includes('+')) return `{${name}.url}${kept}`;
  return `${scheme}://${login}@{${name}.host}:{${name}.port}/{${name}.name}${kept}`;
}
