import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { commandLine, documentOf } from 'bench-machine/home';
import { UsageError } from 'bench-model/errors';
import type { Matrix } from 'bench-model/options';
import type { Stack } from 'bench-model/stack';
import type { RuntimeKind, Target } from 'bench-model/target';
import { readNodeManifest, readPyproject } from './projects/manifests.ts';

/** A package named by `--with`. */
export interface NamedPackage {
  kind: Exclude<RuntimeKind, 'none'>;
  name: string;
  /** The argument for the installer: `fastapi==0.115` for Python; the version, or `file:` and a folder, for npm. */
  wanted: string;
  /** The absolute path of a checkout. */
  folder?: string;
}

const PYTHON = /^(?<name>[\w.-]+)(?:\[[^\]]*\])?\s*(?:[=<>!~]=|[<>])/;
const NPM = /^(?<name>(?:@[\w.-]+\/)?[\w.-]+)@(?<version>.+)$/;

/**
 * Parses the value of `--with`. Its spelling marks a version; its manifests mark a checkout, which can hold one
 * package of each language. Throws a usage error for anything else.
 */
export function parsePackage(text: string): NamedPackage[] {
  const python = PYTHON.exec(text)?.groups;
  if (python !== undefined) return [{ kind: 'python', name: python['name'] ?? '', wanted: text }];
  const { name, version } = NPM.exec(text)?.groups ?? {};
  if (name !== undefined && version !== undefined) return [{ kind: 'node', name, wanted: version }];
  if (existsSync(join(text, 'stack.json')))
    throw new UsageError(
      `--with ${text}: a folder with a stack.json is a server, not a package`,
      `compare two of them: ${commandLine('compare ./old ./new')}`,
    );
  const found = readCheckout(resolve(text));
  if (found.length > 0) return found;
  throw new UsageError(
    `--with ${text}: not a version, and not a checkout`,
    'e.g. fastapi==0.115 (Python), fastify@5.1.0 (npm), ./folder with a pyproject.toml or a package.json that has a name; for upgrade also a name alone',
  );
}

/** Returns the packages of a target that are in its language. */
export function packagesOf({ packages = [], runtime }: Target): NamedPackage[] {
  return packages.flatMap(parsePackage).filter(({ kind }) => kind === runtime?.kind);
}

/** Separates packages: a comma before a version or a bound belongs to the package before it. */
export const PACKAGES = /,(?!v?\d)(?=[\w@.~/])/;

/** Splits `fastapi==0.115,0.116` and `fastify@5.1,5.2` into one text for each version. */
export function splitVersions(text: string): string[] {
  const [, name, versions] =
    /^([\w.@/-]+(?:\[[^\]]*\])?(?:==|(?<=.)@))(v?\d[\w.+-]*(?:,v?\d[\w.+-]*)+)$/.exec(text) ?? [];
  return versions === undefined ? [text] : versions.split(',').map((version) => `${name}${version}`);
}

function readCheckout(folder: string): NamedPackage[] {
  const found: NamedPackage[] = [];
  const { name: ofPython = basename(folder) } = readPyproject(folder);
  if (existsSync(join(folder, 'pyproject.toml')))
    found.push({ kind: 'python', name: ofPython, wanted: folder, folder });
  const { name } = readNodeManifest(folder);
  // A package.json without a name holds the tools of a project, not a package.
  if (name !== undefined) found.push({ kind: 'node', name, wanted: `file:${folder}`, folder });
  return found;
}

/** Throws a usage error if a runtime or a package fits none of these targets: it would have no effect. */
export function refuseStray(
  matrix: Pick<Matrix, 'python' | 'node' | 'packages'>,
  targets: readonly Pick<Target, 'id' | 'runtime'>[],
  stacks: readonly Pick<Stack, 'name' | 'runtime'>[] = [],
): void {
  const runtimes = targets.map(({ runtime }) => runtime?.kind ?? 'none');
  for (const kind of ['python', 'node'] as const) {
    const open = targets.filter(({ id, runtime }) => runtime?.kind === kind && !id.includes('@'));
    if (matrix[kind].length === 0 || open.length > 0) continue;
    const [first] = targets;
    const cure = `omit it, or name a target in ${LANGUAGES[kind]} without a version`;
    throw new UsageError(`--${kind} has no effect on ${first?.id}`, cure);
  }
  for (const text of matrix.packages) {
    const named = parsePackage(text);
    const [first] = named;
    if (first === undefined || named.some(({ kind }) => runtimes.includes(kind))) continue;
    const isNamed = (kind: RuntimeKind): boolean =>
      stacks.some((stack) => stack.name === first.name && stack.runtime === kind);
    if (isNamed('none') || runtimes.every((kind) => kind === 'none'))
      throw new UsageError(
        `--with ${text} has no effect on ${targets[0]?.id}: it takes packages of npm and Python only`,
        `compare it with a copy that has another version in its manifest: ${documentOf('guides/commits.md')}`,
      );
    const { kind, name, folder } = first;
    const other = `name a target in ${LANGUAGES[kind]}${isNamed(kind) ? `, e.g. ${name}` : ''}`;
    throw new UsageError(
      `--with ${text} is for ${LANGUAGES[kind]}, and no target runs on it`,
      isNamed(kind) || folder !== undefined ? other : `${otherSpelling(first, text)}, or ${other}`,
    );
  }
}

const LANGUAGES = { python: 'Python', node: 'Node' };

function otherSpelling({ kind, name, wanted }: NamedPackage, text: string): string {
  return kind === 'python'
    ? `write a version from npm as ${name}@${text.slice(name.length).replace(/^(\[.*\])?\s*==\s*/, '')}`
    : `write a version for Python as ${name}==${wanted}`;
}
