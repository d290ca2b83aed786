/** An app of a user as a stack: `bench ./myapp --run 'uvicorn app:app --port {port}'`. */
import type { AppOptions } from 'bench-model/options';
import { basename, resolve } from 'node:path';
import { isFolder } from 'bench-machine/files';
import { BenchError } from 'bench-model/errors';
import type { RuntimeKind } from 'bench-model/target';
import { hide, literalsInCommand, literalsInEnvironment, valuesOf } from 'bench-machine/redact';
import { PLAIN_VARIANT, type Stack } from 'bench-model/stack';
import type { App } from 'bench-model/app';
import { findProject } from './project.ts';
import { scriptOf, withoutRunner } from './ways/line.ts';
import { splitCommand, type Words } from './words.ts';

/** The variables that tell a server of a user where to listen. */
export const ADDRESS = { HOST: '{host}', PORT: '{port}' };

const PLACEHOLDERS = ['port', 'host', 'workers', 'root', 'runtime'];

/** Returns an app as a plan stores it. Throws a usage error if its folder does not exist or its command is not valid. */
export function readApp({ folder, run, name }: AppOptions): App {
  const root = resolve(folder);
  if (!isFolder(root)) {
    throw new BenchError(
      'usage',
      `${folder}: not a folder`,
      'name the folder of your project, e.g. ../my-api',
    );
  }
  const { words, env } = splitCommand(run, '--run');
  for (const word of words) {
    const [, unknown] =
      [...word.matchAll(/\{(\w+)\}/g)].find(([, one = '']) => !PLACEHOLDERS.includes(one)) ?? [];
    if (unknown === undefined) continue;
    throw new BenchError(
      'usage',
      `--run ${run}: unknown placeholder {${unknown}}`,
      `known are ${PLACEHOLDERS.map((one) => `{${one}}`).join(' ')}`,
    );
  }
  const [{ name: secret } = {}] = literalsInEnvironment(env);
  if (secret !== undefined) {
    throw new BenchError(
      'usage',
      `--run ${secret}=…: the plan is stored, and with it this value`,
      `export ${secret} before you start Bench: the server inherits your environment`,
    );
  }
  return {
    name: name ?? nameOf(root),
    folder,
    command: words,
    ...(Object.keys(env).length === 0 ? {} : { env }),
  };
}

/** Returns the name of a folder as a target can have it. */
export function nameOf(root: string): string {
  const name = basename(root)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return name === '' ? 'app' : name;
}

/** Returns an app as a stack with one variant. It states nothing, so nothing is attested but its runtime. */
export function toStack({ name, folder, command, env = {} }: App): Stack {
  const root = resolve(folder);
  const { words: argv, env: own } = startOf({ words: command, env }, root);
  const project = findProject(root, argv);
  return {
    name,
    language: LANGUAGES[project.kind],
    framework: 'unknown',
    runtime: project.kind,
    build: [],
    runtimes: [],
    default: 'app',
    variants: {
      app: {
        ...PLAIN_VARIANT,
        command: argv,
        env: { ...ADDRESS, ...own },
      },
    },
    root,
    manifest: folder,
    project,
  };
}

/** Returns the command that starts a server itself, instead of a runner or a script of a package manager. */
export function startOf(typed: Words, root: string): Words {
  const { words, env } = withoutRunner(withoutScript(typed, root));
  hide(valuesOf([...literalsInCommand(words), ...literalsInEnvironment(env)]));
  return { words, env };
}

/** The usual language of each runtime. */
export const LANGUAGES: Record<RuntimeKind, string> = {
  python: 'python',
  node: 'javascript',
  none: 'unknown',
};

/** Replaces `npm start` and the like by the script of package.json: the package manager itself is not measured. */
function withoutScript(typed: Words, root: string): Words {
  const script = scriptOf(typed.words, root);
  if (script === undefined) return typed;
  try {
    const { words, env } = splitCommand(script.line, `the script "${script.name}" of package.json:`);
    return { words: [...words, ...script.added], env: { ...env, ...typed.env } };
  } catch {
    // What only a shell understands runs through the package manager.
    return typed;
  }
}
