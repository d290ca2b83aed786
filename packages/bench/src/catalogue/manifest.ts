import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Ajv } from 'ajv';
import { BenchError } from '../errors.ts';
import { ADDRESS } from './apps/app.ts';
import { findProject } from './apps/project.ts';
import type { Deviation, Stack, Variant } from './stack.ts';
import type { Attestation, RuntimeKind, StackClass } from '../model.ts';
import { describeSchemaError, readJsonFile, type JsonFile } from './json-file.ts';
import { WORKLOAD_NAMES } from './workloads/index.ts';
import { REQUESTS_SCHEMA, toDraft, type RequestsFile } from './workloads/requests/file.ts';

const SCHEMA = new URL('../../schema/stack.schema.json', import.meta.url);
const PLACEHOLDERS = new Set(['runtime', 'root', 'host', 'port', 'workers', 'threads']);

const validate = new Ajv({ allErrors: true, strict: false, verbose: true })
  .addSchema(REQUESTS_SCHEMA, 'requests.schema.json')
  .compile<Manifest>(JSON.parse(readFileSync(SCHEMA, 'utf8')) as object);

interface Manifest extends Partial<RequestsFile> {
  name: string;
  language: string;
  framework: string;
  class: StackClass | 'unknown';
  runtime: RuntimeKind;
  build?: string[][];
  shares?: string[];
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
 * Reads one `stack.json`. Throws a usage error with file and line if the file is missing, is not JSON or violates
 * the contract.
 */
export function readManifest(file: string): Stack {
  const read = readJsonFile(file, {
    missing: 'name the path of a stack.json, e.g. ../my-api/stack.json',
    wrong: CONTRACT_HINT,
  });
  const manifest = read.value;
  if (!validate(manifest)) {
    const [first] = validate.errors ?? [];
    throw new BenchError('usage', describeSchemaError(read, first, 'a stack'), CONTRACT_HINT);
  }
  refuseContradictions(read, manifest);
  return toStack(manifest, dirname(resolve(file)), read);
}

const CONTRACT_HINT = 'CONTRIBUTING.md, "Add a stack", shows a complete stack.json';

function toStack(manifest: Manifest, root: string, read: JsonFile): Stack {
  const variants = Object.entries(manifest.variants).map(([name, one]): [string, Variant] => [
    name,
    {
      command: one.command,
      groups: one.groups ?? [],
      build: one.build ?? [],
      env: { ...(manifest.requests === undefined ? {} : ADDRESS), ...one.env },
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
    ...(manifest.requests === undefined ? {} : ofUser(manifest, root, read)),
  };
}

/** A manifest with its own requests describes a program of a user: its own lock makes the environment. */
function ofUser(manifest: Manifest, root: string, read: JsonFile): Pick<Stack, 'requests' | 'project'> {
  const { command = [] } = manifest.variants[manifest.default] ?? {};
  return {
    requests: toDraft(manifest as RequestsFile, read, root),
    project: findProject(root, command, {
      named: manifest.lock,
      known: manifest.runtime,
      where: `${read.at(['lock'])}: "lock":`,
    }),
  };
}

/** Checks what the schema cannot express: the default exists, placeholders are known, the command passes the port. */
function refuseContradictions({ at }: JsonFile, manifest: Manifest): void {
  const fail = (path: (string | number)[], problem: string): never => {
    throw new BenchError('usage', `${at(path)}: ${problem}`, CONTRACT_HINT);
  };
  if (manifest.lock !== undefined && manifest.requests === undefined) {
    fail(['lock'], '"lock" has no effect without "requests": the locks of a stack of Bench have fixed names');
  }
  if (manifest.requests !== undefined && manifest.runtime !== 'none') {
    const builds = Object.entries(manifest.variants).filter(([, { build }]) => build !== undefined);
    const [first] = [
      ...(manifest.build === undefined ? [] : [['build']]),
      ...builds.map(([name]) => ['variants', name, 'build']),
    ];
    if (first !== undefined)
      fail(first, 'Bench builds only binaries of a user: build the project before you measure it');
  }
  if (manifest.variants[manifest.default] === undefined) {
    const names = Object.keys(manifest.variants).join(', ');
    fail(['default'], `the default variant "${manifest.default}" is not among the variants (${names})`);
  }
  const check = (path: (string | number)[], argv: string[]): void => {
    for (const [index, word] of argv.entries()) {
      if (word === '{threads}') {
        fail(
          [...path, index],
          '{threads} must share a word with its option, e.g. "--threads={threads}": without --threads the whole word is omitted',
        );
      }
      for (const [, placeholder = ''] of word.matchAll(/\{(\w*)\}/g)) {
        if (!PLACEHOLDERS.has(placeholder)) {
          fail(
            [...path, index],
            `unknown placeholder {${placeholder}}, expected one of ${[...PLACEHOLDERS].map((one) => `{${one}}`).join(' ')}`,
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
}
