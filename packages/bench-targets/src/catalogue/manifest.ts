import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { BenchError } from 'bench-model/errors';
import { createCheck } from 'bench-model/json-schema';
import { ADDRESS, startOf } from './apps/app.ts';
import { findProject } from './apps/project.ts';
import { leavesFolder, namesService, unknownPlaceholder } from './apps/services.ts';
import type { Service, Setup, Deviation, Stack, Variant } from 'bench-model/stack';
import type { Attestation, RuntimeKind, StackClass } from 'bench-model/target';
import { hide, literalsInCommand, literalsInEnvironment, valuesOf, type Literal } from 'bench-machine/redact';
import { describeSchemaError, parseJsonFile, readJsonText, type JsonFile } from './json-file.ts';
import { WORKLOAD_NAMES } from './workloads/index.ts';
import { REQUESTS_SCHEMA, toDraft, type RequestsFile } from './workloads/requests/file.ts';

const SCHEMA = new URL('../../../bench-model/schema/stack.schema.json', import.meta.url);
const PLACEHOLDERS = new Set(['runtime', 'root', 'host', 'port', 'workers', 'threads']);
/** The placeholders of an app: its build has a folder in the cache, so that nothing is written into the project. */
const APP_PLACEHOLDERS = new Set([...PLACEHOLDERS, 'build']);
const SERVICE_PLACEHOLDERS = new Set(['root', 'host', 'port']);
const SETUP_PLACEHOLDERS = new Set(['runtime', 'root']);

/** Made at the first use: not every command reads a manifest. */
let errorsOf: ReturnType<typeof createCheck> | undefined;

function makeCheck(): ReturnType<typeof createCheck> {
  return createCheck({
    schema: JSON.parse(readFileSync(SCHEMA, 'utf8')) as object,
    others: { 'requests.schema.json': REQUESTS_SCHEMA },
    allErrors: true,
  });
}

interface Manifest extends Partial<RequestsFile> {
  name: string;
  language: string;
  framework: string;
  class: StackClass | 'unknown';
  runtime: RuntimeKind;
  services?: Record<string, Service>;
  setup?: Setup;
  build?: string[][];
  shares?: string[];
  startTimeoutSeconds?: number;
  lock?: string;
  runtimes?: string[];
  default: string;
  variants: Record<
    string,
    {
      command: string[];
      groups?: string[];
      build?: string[][];
      env?: Record<string, string>;
      workloads?: string[];
      class?: StackClass | 'unknown';
      attest?: Attestation;
      deviates?: Deviation[];
      note?: string;
    }
  >;
}

/**
 * Reads one `stack.json`. `root` is the folder that it describes; by default, its own. Throws a usage error with file and
 * line if the file is missing, is not JSON or violates the contract.
 */
export function readManifest(file: string, root = dirname(resolve(file))): Stack {
  const hints = {
    missing: 'name the path of a stack.json, e.g. ../my-api/stack.json',
    wrong: CONTRACT_HINT,
  };
  const text = readJsonText(file, hints);
  const key = JSON.stringify([file, root, text]);
  const known = CHECKED.get(key);
  if (known !== undefined) return known;
  const stack = checkManifest(parseJsonFile(file, text, hints), root);
  // An app also depends on other files than its manifest.
  if (stack.requests === undefined) CHECKED.set(key, stack);
  return stack;
}

/** The stacks read so far, by file, folder and text: a command asks for them in several places. */
const CHECKED = new Map<string, Stack>();

/** Returns the stack of a manifest in `root`. Throws a usage error if it violates the contract. */
export function checkManifest(read: JsonFile, root: string): Stack {
  const [first] = (errorsOf ??= makeCheck())(read.value);
  if (first !== undefined)
    throw new BenchError('usage', describeSchemaError(read, first, 'a stack'), CONTRACT_HINT);
  const manifest = read.value as Manifest;
  refuseContradictions(read, manifest, root);
  const found = findLiterals(manifest);
  hide(valuesOf(found.map(([, literal]) => literal)));
  const literals = new Set(found.map(([path, { name }]) => `${read.at(path)}: ${name}`));
  return { ...toStack(manifest, root, read), literals: [...literals] };
}

/** Finds the secrets that a manifest holds in plain text, with their places. */
function findLiterals({ variants, services = {}, setup }: Manifest): [(string | number)[], Literal][] {
  const programs: [
    (string | number)[],
    { command?: string[]; env?: Record<string, string>; url?: string },
  ][] = [
    ...Object.entries(variants).map(([name, one]) => [['variants', name], one] as [string[], typeof one]),
    ...Object.entries(services).map(([name, one]) => [['services', name], one] as [string[], object]),
    ...(setup === undefined ? [] : [[['setup'], setup] as [string[], Setup]]),
  ];
  return programs.flatMap(([path, { command = [], env = {}, url = '' }]) => [
    ...literalsInCommand(command).map((one) => [[...path, 'command'], one] as [string[], Literal]),
    ...literalsInEnvironment(env).map((one) => [[...path, 'env', one.name], one] as [string[], Literal]),
    ...literalsInEnvironment({ url }).map((one) => [[...path, 'url'], one] as [string[], Literal]),
  ]);
}

const CONTRACT_HINT = 'docs/development/stacks.md shows a complete stack.json';

function toStack(manifest: Manifest, root: string, read: JsonFile): Stack {
  const start = ({ command, env = {} }: Pick<Manifest['variants'][string], 'command' | 'env'>) => {
    if (manifest.requests === undefined) return { command, env };
    const started = startOf({ words: command, env }, root);
    return { command: started.words, env: { ...ADDRESS, ...started.env } };
  };
  const variants = Object.entries(manifest.variants).map(([name, one]): [string, Variant] => [
    name,
    {
      ...start(one),
      groups: one.groups ?? [],
      build: one.build ?? [],
      workloads: one.workloads ?? [],
      class: one.class ?? manifest.class,
      attest: one.attest ?? {},
      deviates: one.deviates ?? [],
      ...(one.note === undefined ? {} : { note: one.note }),
    },
  ]);
  return {
    name: manifest.name,
    language: manifest.language,
    framework: manifest.framework,
    runtime: manifest.runtime,
    build: manifest.build ?? [],
    shares: manifest.shares ?? [],
    runtimes: manifest.runtimes ?? [],
    default: manifest.default,
    variants: Object.fromEntries(variants),
    root,
    manifest: read.shown,
    ...(manifest.startTimeoutSeconds === undefined ? {} : { startSeconds: manifest.startTimeoutSeconds }),
    ...(manifest.requests === undefined ? {} : ofUser(manifest, root, read)),
  };
}

/** A manifest with its own requests describes a program of a user: its own lock makes the environment. */
function ofUser(
  manifest: Manifest,
  root: string,
  read: JsonFile,
): Pick<Stack, 'requests' | 'project' | 'surroundings'> {
  const { command = [] } = manifest.variants[manifest.default] ?? {};
  const { services = {}, setup } = manifest;
  const hasAny = Object.keys(services).length > 0 || setup !== undefined;
  return {
    ...(hasAny ? { surroundings: { services, ...(setup === undefined ? {} : { setup }) } } : {}),
    requests: toDraft(manifest as RequestsFile, read, root),
    project: findProject(root, command, {
      named: manifest.lock,
      known: manifest.runtime,
      where: `${read.at(['lock'])}: "lock":`,
    }),
  };
}

/** Checks what the schema cannot express: the default exists, placeholders are known, the command passes the port. */
function refuseContradictions({ at }: JsonFile, manifest: Manifest, root: string): void {
  const fail = (path: (string | number)[], problem: string): never => {
    throw new BenchError('usage', `${at(path)}: ${problem}`, CONTRACT_HINT);
  };
  if (manifest.lock !== undefined && manifest.requests === undefined) {
    fail(['lock'], '"lock" has no effect without "requests": the locks of a stack of Bench have fixed names');
  }
  if (manifest.requests !== undefined && manifest.runtime === 'python') {
    const builds = Object.entries(manifest.variants).filter(([, { build }]) => build !== undefined);
    const [first] = [
      ...(manifest.build === undefined ? [] : [['build']]),
      ...builds.map(([name]) => ['variants', name, 'build']),
    ];
    if (first !== undefined)
      fail(first, 'the environment of a Python project is made from its lock, so "build" has no effect');
  }
  if (manifest.variants[manifest.default] === undefined) {
    const names = Object.keys(manifest.variants).join(', ');
    fail(['default'], `the default variant "${manifest.default}" is not among the variants (${names})`);
  }
  const isOfUser = manifest.requests !== undefined;
  for (const field of ['services', 'setup'] as const) {
    if (isOfUser || manifest[field] === undefined) continue;
    fail([field], `"${field}" has no effect without "requests": the workloads of Bench bring what they need`);
  }
  const usual = isOfUser && manifest.runtime === 'none' ? APP_PLACEHOLDERS : PLACEHOLDERS;
  const check = (path: (string | number)[], argv: string[], known = usual): void => {
    for (const [index, word] of argv.entries()) {
      if (word === '{threads}') {
        fail(
          [...path, index],
          '{threads} must share a word with its option, e.g. "--threads={threads}": without --threads the whole word is omitted',
        );
      }
      for (const [, placeholder = ''] of word.matchAll(/\{(\w*)\}/g)) {
        if (!known.has(placeholder)) {
          fail(
            [...path, index],
            `unknown placeholder {${placeholder}}, expected one of ${[...known].map((one) => `{${one}}`).join(' ')}`,
          );
        }
      }
    }
  };
  for (const [index, argv] of (manifest.build ?? []).entries()) check(['build', index], argv);
  for (const [name, variant] of Object.entries(manifest.variants)) {
    if (variant.workloads === undefined && manifest.requests === undefined) {
      fail(
        ['variants', name],
        `"${name}" lists no "workloads", and the manifest has no "requests": nothing can be measured`,
      );
    }
    for (const [index, workload] of (variant.workloads ?? []).entries()) {
      if (WORKLOAD_NAMES.includes(workload)) continue;
      fail(
        ['variants', name, 'workloads', index],
        `unknown workload "${workload}", expected one of ${WORKLOAD_NAMES.join(', ')}`,
      );
    }
    if (variant.groups !== undefined && manifest.runtime !== 'python') {
      fail(['variants', name, 'groups'], 'only Python stacks have dependency groups');
    }
    if ((variant.deviates ?? []).length > 0 && variant.note === undefined) {
      fail(['variants', name, 'deviates'], `the "note" of "${name}" must say why it deviates`);
    }
    check(['variants', name, 'command'], variant.command);
    for (const [index, argv] of (variant.build ?? []).entries())
      check(['variants', name, 'build', index], argv);
    if (manifest.requests === undefined && !variant.command.some((word) => word.includes('{port}'))) {
      fail(
        ['variants', name, 'command'],
        `the command of "${name}" has no {port}, but Bench chooses the port of each trial`,
      );
    }
  }
  if (isOfUser) refuseSurroundings(manifest, root, fail, check);
}

type Fail = (path: (string | number)[], problem: string) => never;
type Check = (path: (string | number)[], argv: string[], known?: Set<string>) => void;

/** Checks what only an app has: its services, its setup, and that nothing leads out of its folder. */
function refuseSurroundings(manifest: Manifest, root: string, fail: Fail, check: Check): void {
  const inside = (path: (string | number)[], file: string, what: string): void => {
    if (leavesFolder(root, file)) fail(path, `${what} ${file} is outside the folder of the manifest`);
  };
  const program = (path: (string | number)[], [first = '']: string[]): void => {
    if (first.includes('/')) inside([...path, 0], first, 'the program');
  };
  const env = (
    path: (string | number)[],
    values: Record<string, string> = {},
    services: Record<string, Service>,
  ): void => {
    for (const [name, value] of Object.entries(values)) {
      const unknown = unknownPlaceholder(value, services);
      if (unknown === undefined) continue;
      const names = Object.keys(services).flatMap((one) => [`{${one}.url}`]);
      const known =
        names.length === 0 ? 'no service starts before' : `services before it give ${names.join(' ')}`;
      fail([...path, name], `nothing gives ${unknown} a value: ${known}`);
    }
  };
  const command = (path: (string | number)[], argv: string[], known?: Set<string>): void => {
    program(path, argv);
    const index = argv.findIndex(namesService);
    if (index >= 0)
      fail([...path, index], `${argv[index]}: the address of a service goes into "env", not into a command`);
    check(path, argv, known);
  };
  const { services = {}, setup, lock } = manifest;
  if (lock !== undefined) inside(['lock'], lock, 'the lock');
  const before: Record<string, Service> = {};
  for (const [name, service] of Object.entries(services)) {
    const path = ['services', name];
    if (!('use' in service)) {
      command([...path, 'command'], service.command, SERVICE_PLACEHOLDERS);
      env([...path, 'env'], service.env, before);
      const { ready } = service;
      if (typeof ready === 'object' && 'command' in ready)
        command([...path, 'ready', 'command'], ready.command, SERVICE_PLACEHOLDERS);
    }
    before[name] = service;
  }
  if (setup !== undefined) {
    command(['setup', 'command'], setup.command, SETUP_PLACEHOLDERS);
    env(['setup', 'env'], setup.env, services);
  }
  for (const [name, variant] of Object.entries(manifest.variants)) {
    command(['variants', name, 'command'], variant.command);
    env(['variants', name, 'env'], variant.env, services);
  }
  for (const [path, file] of filesOf(manifest)) inside(path, file, 'the file');
}

/** The file that a value names by `@file`. */
function named(value: unknown): string[] {
  return typeof value === 'string' && value.startsWith('@') ? [value.slice(1)] : [];
}

/** The files that the requests of a manifest name, with their places. */
function filesOf({ requests = [], rows, login }: Manifest): [(string | number)[], string][] {
  const found = requests.flatMap((one, index): [(string | number)[], string][] => {
    if (typeof one === 'string') return [];
    const { body, expect } = one;
    return [
      ...named(body).map((file): [(string | number)[], string] => [['requests', index, 'body'], file]),
      ...[expect?.body, expect?.schema]
        .flatMap(named)
        .map((file): [(string | number)[], string] => [['requests', index, 'expect'], file]),
    ];
  });
  return [
    ...found,
    ...named(login?.body).map((file): [(string | number)[], string] => [['login', 'body'], file]),
    ...(rows === undefined ? [] : [[['rows'], rows] as [(string | number)[], string]]),
  ];
}
