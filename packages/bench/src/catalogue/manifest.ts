import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { Ajv, type ErrorObject } from 'ajv';
import {
  findNodeAtLocation,
  parseTree,
  printParseErrorCode,
  getNodeValue,
  type Node,
  type ParseError,
} from 'jsonc-parser';
import { BenchError } from '../errors.ts';
import type { Deviation, Stack, Variant } from './stack.ts';
import type { Attestation, RuntimeKind, StackClass } from '../model.ts';
import { WORKLOAD_NAMES } from './workloads/index.ts';

const SCHEMA = new URL('../../schema/stack.schema.json', import.meta.url);
const PLACEHOLDERS = new Set(['runtime', 'root', 'host', 'port', 'workers', 'threads']);

const validate = new Ajv({ allErrors: true, strict: false, verbose: true }).compile<Manifest>(
  JSON.parse(readFileSync(SCHEMA, 'utf8')) as object,
);

interface Manifest {
  name: string;
  language: string;
  framework: string;
  class: StackClass;
  runtime: RuntimeKind;
  build?: string[][];
  shares?: string[];
  runtimes?: string[];
  default: string;
  variants: Record<
    string,
    {
      command: string[];
      groups?: string[];
      build?: string[][];
      env?: Record<string, string>;
      workloads: string[];
      class?: StackClass;
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
  const near = relative(process.cwd(), file);
  const shown = near === '' || near.startsWith('..') ? file : near;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    throw new BenchError(
      'usage',
      `${shown}: cannot be read`,
      'name the path of a stack.json, e.g. ../my-api/stack.json',
    );
  }
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { disallowComments: true });
  const [broken] = errors;
  if (broken !== undefined || tree === undefined) {
    const problem = broken === undefined ? 'is empty' : printParseErrorCode(broken.error);
    throw new BenchError(
      'usage',
      `${shown}:${lineAt(text, broken?.offset ?? 0)}: not JSON: ${problem}`,
      CONTRACT_HINT,
    );
  }
  const manifest: unknown = getNodeValue(tree);
  if (!validate(manifest)) {
    const [first] = validate.errors ?? [];
    throw new BenchError('usage', describe(shown, text, tree, first), CONTRACT_HINT);
  }
  refuseContradictions(shown, text, tree, manifest);
  return toStack(manifest, dirname(resolve(file)), shown);
}

const CONTRACT_HINT = 'CONTRIBUTING.md, "Add a stack", shows a complete stack.json';

function toStack(manifest: Manifest, root: string, shown: string): Stack {
  const variants = Object.entries(manifest.variants).map(([name, one]): [string, Variant] => [
    name,
    {
      command: one.command,
      groups: one.groups ?? [],
      build: one.build ?? [],
      env: one.env ?? {},
      workloads: one.workloads,
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
    manifest: shown,
  };
}

/** Checks what the schema cannot express: the default exists, placeholders are known, the command passes the port. */
function refuseContradictions(shown: string, text: string, tree: Node, manifest: Manifest): void {
  const fail = (path: (string | number)[], problem: string): never => {
    throw new BenchError('usage', `${shown}:${lineOf(text, tree, path)}: ${problem}`, CONTRACT_HINT);
  };
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
    for (const [index, workload] of variant.workloads.entries()) {
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
    if (!variant.command.some((word) => word.includes('{port}'))) {
      fail(
        ['variants', name, 'command'],
        `the command of "${name}" has no {port}, but Bench chooses the port of each trial`,
      );
    }
  }
}

function describe(shown: string, text: string, tree: Node, error: ErrorObject | undefined): string {
  const path = (error?.instancePath ?? '').split('/').slice(1).map(unescape);
  const where = path.length > 0 ? `"${path.join('.')}" ` : '';
  if (error?.keyword === 'additionalProperties') {
    const extra = String(error.params['additionalProperty']);
    const known = Object.keys(error.parentSchema?.['properties'] as object).join(', ');
    return `${shown}:${lineOf(text, tree, [...path, extra])}: ${where || 'a stack '}has no field "${extra}", expected one of ${known}`;
  }
  const allowed =
    error?.keyword === 'enum' ? ` (${(error.params['allowedValues'] as string[]).join(', ')})` : '';
  return `${shown}:${lineOf(text, tree, path)}: ${where}${error?.message ?? 'is invalid'}${allowed}`;
}

function unescape(part: string): string | number {
  const text = part.replaceAll('~1', '/').replaceAll('~0', '~');
  return /^\d+$/.test(text) ? Number(text) : text;
}

function lineOf(text: string, tree: Node, path: (string | number)[]): number {
  return lineAt(
    text,
    findNodeAtLocation(tree, path)?.offset ?? findNodeAtLocation(tree, path.slice(0, -1))?.offset ?? 0,
  );
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}
