/** An app of a user as a stack: `bench ./myapp --run 'uvicorn app:app --port {port}'`. */
import type { AppOptions } from 'bench-model/options';
import { basename, resolve } from 'node:path';
import { isFolder } from 'bench-machine/files';
import { UsageError } from 'bench-model/errors';
import type { RuntimeKind } from 'bench-model/target';
import { hide, literalsInCommand, literalsInEnvironment } from 'bench-machine/redact';
import { PLAIN_VARIANT, type Stack } from 'bench-model/stack';
import type { App } from 'bench-model/app';
import { findProject } from './project.ts';
import { follow, withoutRunner } from './line.ts';
import { splitCommand, type Words } from './words.ts';

/** The variables that tell a server of a user where to listen. */
export const ADDRESS = { HOST: '{host}', PORT: '{port}' };

const PLACEHOLDERS = ['{port}', '{host}', '{workers}', '{root}', '{runtime}'];

/** Returns an app as a plan stores it. Throws a usage error if its folder does not exist or its command is not valid. */
export function readApp({ folder, run, name }: AppOptions): App {
  const root = resolve(folder);
  if (!isFolder(root))
    throw new UsageError(`${folder}: not a folder`, 'name the folder of your project, e.g. ../my-api');
  const { words, env } = splitCommand(run, '--run');
  const named = words.join(' ').match(/\{\w+\}/g) ?? [];
  const unknown = named.find((one) => !PLACEHOLDERS.includes(one));
  const known = `known are ${PLACEHOLDERS.join(' ')}`;
  if (unknown !== undefined) throw new UsageError(`--run ${run}: unknown placeholder ${unknown}`, known);
  const [{ name: secret } = {}] = literalsInEnvironment(env);
  if (secret !== undefined)
    throw new UsageError(
      `--run ${secret}=…: the plan is stored, and with it this value`,
      `export ${secret} before you start Bench: the server inherits your environment`,
    );
  const variables = Object.keys(env).length === 0 ? {} : { env };
  return { name: name ?? nameOf(root), folder, command: words, ...variables };
}

/** Returns the name of a folder as a target can have it. */
export function nameOf(root: string): string {
  const name = basename(root).toLowerCase();
  return name.replaceAll(/[^a-z0-9-]+/g, '-').replaceAll(/^-+|-+$/g, '') || 'app';
}

/** Returns an app as a stack with one variant. It states nothing, so nothing is attested but its runtime. */
export function toStack({ name, folder, command, env = {} }: App): Stack {
  const root = resolve(folder);
  const start = startOf({ words: command, env }, root);
  const project = findProject(root, start.words);
  const app = { ...PLAIN_VARIANT, command: start.words, env: { ...ADDRESS, ...start.env } };
  return {
    name,
    language: LANGUAGES[project.kind],
    framework: 'unknown',
    runtime: project.kind,
    build: [],
    runtimes: [],
    default: 'app',
    variants: { app },
    root,
    manifest: folder,
    project,
  };
}

/** Returns the command that starts a server itself. What only a shell understands runs through its package manager. */
export function startOf(typed: Words, root: string): Words {
  const { words, env } = follow(typed, root, true) ?? withoutRunner(typed);
  hide([...literalsInCommand(words), ...literalsInEnvironment(env)].map(({ value }) => value));
  return { words, env };
}

/** The usual language of each runtime. */
export const LANGUAGES: Record<RuntimeKind, string> = {
  python: 'python',
  node: 'javascript',
  none: 'unknown',
};
