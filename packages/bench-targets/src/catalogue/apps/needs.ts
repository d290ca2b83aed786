/** The services that a project probably needs beside its server, read from its files. Changes no file. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Service } from 'bench-model/stack';

/** A service to declare, and the variable of the server that takes its address. */
export interface Need {
  name: string;
  service: Service;
  variable: string;
  /** The file and its evidence for the service: `compose.yaml: an image`. */
  why: string;
}

/** A service, and its evidence in files. */
interface Kind extends Omit<Need, 'why'> {
  /** The name of its image in a compose file. */
  image: RegExp;
  /** The protocol of its addresses. */
  protocol: RegExp;
}

const KINDS: Kind[] = [
  {
    name: 'db',
    service: { use: 'postgres' },
    variable: 'DATABASE_URL',
    image: /^\s*image:\s*["']?(?:\S*\/)?(?:postgres|postgis|timescaledb)\b/m,
    protocol: /^postgres/,
  },
  {
    name: 'cache',
    service: {
      command: ['redis-server', '--port', '{port}', '--save', ''],
      url: 'redis://{host}:{port}/0',
    },
    variable: 'REDIS_URL',
    image: /^\s*image:\s*["']?(?:\S*\/)?(?:redis|valkey)\b/m,
    protocol: /^rediss?:/,
  },
];

const COMPOSE = /^(docker-)?compose(\.\w+)?\.ya?ml$/;
/** Files that show which variables a server needs. */
const EXAMPLE = /^(\.?env([.-]\w+)?[.-](example|sample|dist|template)|\.?(example|sample)[.-]env)$/;
const SETTINGS = /^\.env(\.(local|development))?$/;

/** Returns the services that a compose file or the settings of a project name. One whose variable is set is not needed. */
export function findNeeds(root: string, env: NodeJS.ProcessEnv = process.env): Need[] {
  const texts = readdirSync(root)
    .toSorted()
    .filter((file) => COMPOSE.test(file) || SETTINGS.test(file) || EXAMPLE.test(file))
    .map((file) => ({ file, text: readText(join(root, file)) }));
  return KINDS.flatMap(({ image, protocol, ...kind }): Need[] => {
    const set = texts.flatMap(({ file, text }) =>
      [...text.matchAll(/^\s*(?:-\s*)?(\w+)\s*[=:]\s*["']?([a-z][\w+.-]*:\/\/)/gm)].flatMap(
        ([, variable = '', address = '']) => (protocol.test(address) ? [{ file, variable }] : []),
      ),
    )[0];
    const listed = texts.find(({ file, text }) => COMPOSE.test(file) && image.test(text));
    const variable = set?.variable ?? kind.variable;
    if ((set === undefined && listed === undefined) || env[variable] !== undefined) return [];
    const why = set === undefined ? `${listed?.file}: an image` : `${set.file}: ${variable}`;
    return [{ ...kind, variable, why }];
  });
}

/** Returns the file of a project that shows which variables its server needs. */
export function findExample(root: string): string | undefined {
  return readdirSync(root)
    .toSorted()
    .find((file) => EXAMPLE.test(file));
}

function readText(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
