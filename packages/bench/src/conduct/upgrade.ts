/** The runtimes to which a project can be upgraded, and which of those here are compared. */
import { join } from 'node:path';
import { BenchError, orUndefined, UsageError } from 'bench-model/errors';
import type { Matrix } from 'bench-model/options';
import type { Stack } from 'bench-model/stack';
import type { RuntimeSpec, Target } from 'bench-model/target';
import { HOME } from 'bench-machine/home';
import { countOf } from 'bench-report/format';
import { describeInterpreter } from 'bench-report/interpreters';
import { listAll } from 'bench-report/words';
import { FREE_FROM, newestFirst } from 'bench-targets/catalogue/releases';
import { parsePackage } from 'bench-targets/catalogue/packages';
import { findBehindShim } from 'bench-targets/catalogue/pyenv';
import { OWN_NODE } from 'bench-targets/catalogue/runtimes';
import { listPythons, type InstalledPython } from 'bench-targets/prepare/installed';
import { askPython } from 'bench-targets/prepare/interpreters';
import { findRelease as findNodeRelease } from 'bench-targets/prepare/projects/node';
import { findRelease, packagesWithoutWheel, type Release } from 'bench-targets/prepare/projects/python';
import { nameRuntimes } from 'bench-targets/prepare/names';
import { findRuntime } from 'bench-targets/prepare/runtimes';
import { provideUv } from 'bench-targets/prepare/uv';

const EXAMPLE = '--python 3.13,/path/to/python3.15';

/** What is compared, with what is used now first, and what the user must know about it. */
export interface Upgrade {
  matrix: Matrix;
  words: string[];
}

/**
 * Finds the runtimes that are newer than that of the targets, or newer releases of these packages. Of each Python it takes the build of
 * one maker, if there is one that has them all. Throws a usage error if the targets run on several runtimes, or if nothing is newer.
 */
export async function findUpgrade(
  targets: readonly Target[],
  stacks: readonly Stack[],
  packages: readonly string[],
): Promise<Upgrade> {
  const runtimes = new Map(
    targets.flatMap(({ runtime }) =>
      runtime === undefined ? [] : [[`${runtime.kind} ${runtime.spec}`, runtime]],
    ),
  );
  const [now, ...others] = runtimes.values();
  if (now === undefined)
    throw new UsageError('upgrade: the targets have no runtime', 'name a target on Python or Node');
  if (others.length > 0) {
    const listed = listAll([...runtimes.keys()]);
    throw new UsageError(`upgrade: the targets run on ${listed}`, 'name targets that run on one');
  }
  const own = stacks.filter(({ name }) => targets.some(({ stack }) => stack === name));
  if (packages.length > 0) return upgradePackages(now, own, packages);
  const line = own.every(({ project }) => project === undefined) ? now.spec : await lineInUse(now);
  const upgrade = await (now.kind === 'node' ? upgradeNode(line) : upgradePython(line, own));
  if (line === now.spec || now.kind === 'node') return upgrade;
  const note = `the project pins no Python, so it is compared with python3 on PATH, ${line}. To pin one, write it into .python-version`;
  return { ...upgrade, words: [note, ...upgrade.words] };
}

/** Returns the line that a project of a user runs on: the one that it pins, else that on PATH. */
async function lineInUse({ kind, spec, byDefault }: RuntimeSpec): Promise<string> {
  if (byDefault !== true) return spec;
  if (kind === 'node') return OWN_NODE;
  const found = await askPython(await findBehindShim('python3')).catch(() => undefined);
  return found?.version.split('.', 2).join('.') ?? spec;
}

/** Compares the packages as they are locked with newer ones: those that are named, or the newest that the project admits. */
async function upgradePackages(
  now: RuntimeSpec,
  stacks: readonly Stack[],
  texts: readonly string[],
): Promise<Upgrade> {
  const words: string[] = [];
  const packages: string[] = [];
  for (const text of texts) {
    if (!isBareName(text)) {
      packages.push(text);
      continue;
    }
    const [stack] = stacks;
    if (stack === undefined) continue;
    const { newest, locked, isBeyond } = await findReleaseOf(stack, now, text);
    const present = locked === undefined ? `no version of it was found in ${stack.name}` : `locked ${locked}`;
    if (newest === locked) {
      throw new UsageError(
        `upgrade: ${stack.name} has ${text} ${locked}, the newest release`,
        `name another version: --with ${text}${now.kind === 'python' ? '==' : '@'}<version>`,
      );
    }
    packages.push(now.kind === 'python' ? `${text}==${newest}` : `${text}@${newest}`);
    const of = isBeyond ? `although ${stack.name} admits only ${locked}` : `that ${stack.name} admits`;
    words.push(`comparing with the newest release ${of}: ${text} ${newest}, ${present}`);
  }
  return { matrix: { python: [], node: [], packages, asLocked: true }, words };
}

/** Returns true for the name of a package without a version, which is no folder either. */
function isBareName(text: string): boolean {
  return orUndefined(() => parsePackage(text).length === 0) ?? /^(@[\w.-]+\/)?[\w.-]+$/.test(text);
}

async function findReleaseOf(stack: Stack, now: RuntimeSpec, name: string): Promise<Release> {
  const { root, project } = stack;
  if (now.kind === 'node') return findNodeRelease(root, project?.lock, name);
  const uv = await provideUv(HOME.cache);
  const { argv, runtime } = await findRuntime(now, { mayInstall: true });
  const lock = project?.lock ?? { kind: 'requirements', file: join(root, 'requirements.txt') };
  const [python = ''] = argv;
  return findRelease({ target: stack.name, root, lock, python, version: runtime.version, uv }, name);
}

function upgradeNode(now: string): Upgrade {
  const newer = newestFirst('node')
    .toReversed()
    .filter((line) => Number(line) > Number.parseInt(now, 10));
  if (newer.length === 0) throw nothingNewer(`Node ${now}`, nameThem('--node 22,26'));
  return {
    matrix: { python: [], node: [now, ...newer], packages: [] },
    words: [`comparing Node ${now} with ${listAll(newer)}`],
  };
}

async function upgradePython(now: string, stacks: readonly Stack[]): Promise<Upgrade> {
  const { builds, words } = chooseBuilds(await listPythons(), now);
  const [first, ...others] = builds;
  const what = `Python ${now} in uv, pyenv and PATH`;
  if (first?.line !== now) throw nothingNewer(what, nameThem(EXAMPLE), words);
  // What is built for the Python of now is built for the others too.
  const builtNow = new Set(await findMissing(first, stacks));
  const newer: InstalledPython[] = [];
  for (const build of others) {
    const without = (await findMissing(build, stacks)).filter((name) => !builtNow.has(name));
    if (without.length === 0) newer.push(build);
    else
      words.push(
        `left out: Python ${build.line}: ${listAll(without)} ${without.length === 1 ? 'has' : 'have'} no wheel for it`,
      );
  }
  if (newer.length === 0)
    throw nothingNewer(what, others.length === 0 ? nameThem(EXAMPLE) : WITHOUT_WHEELS, words);
  const kept = [first, ...newer];
  const specs = await Promise.all(kept.map(specOf));
  const withJit = specs.flatMap((spec, index) => [
    spec,
    ...(index > 0 && kept[index]?.hasJit ? [`${spec}+jit`] : []),
  ]);
  const wanted = { python: withJit, node: [], packages: [] };
  const { python } = (await nameRuntimes({ targets: [], matrix: wanted })).matrix;
  const makers = new Set(kept.map(({ interpreter }) => interpreter.maker ?? 'an unknown maker'));
  const alike =
    makers.size === 1
      ? `built by ${[...makers].join('')}`
      : `of ${countOf(makers.size, 'maker')} (${listAll([...makers])}), so a difference may be that of their builds`;
  const versions = listAll(newer.map(({ interpreter }) => interpreter.version));
  const jit = withJit.length === specs.length ? '' : ', with and without the JIT';
  return {
    matrix: { python, node: [], packages: [] },
    words: [
      `comparing Python ${first.interpreter.version} with ${versions}${jit}, ${alike}`,
      ...kept.map(
        ({ line, interpreter, hasJit }) =>
          `Python ${line}: ${describeInterpreter(interpreter)}${hasJit ? ', with a JIT' : ''}`,
      ),
      ...words,
    ],
  };
}

/**
 * Chooses a build of the line of now and of each newer one: those of the maker that has most of them, otherwise any, or none if
 * they must be of one maker. The words name the lines that are not here or left out.
 */
export function chooseBuilds(
  all: readonly InstalledPython[],
  now: string,
): { builds: InstalledPython[]; words: string[] } {
  const isNewer = (line: string): boolean => minorOf(line) > minorOf(now);
  const wanted = [...new Set(all.map(({ line }) => line))]
    .filter((line) => isNewer(line) && (!line.endsWith('t') || minorOf(line) >= FREE_FROM))
    .toSorted((a, b) => minorOf(a) - minorOf(b) || a.length - b.length);
  const missing = newestFirst('python')
    .toReversed()
    .filter((line) => isNewer(line) && !wanted.includes(line));
  const words = missing.map((line) => `not installed: Python ${line} (uv python install ${line})`);
  const maker = bestMaker(all, [now, ...wanted]);
  const builds = [now, ...wanted].flatMap((line): InstalledPython[] => {
    const own = all.filter((one) => one.line === line);
    const build = own.find(({ interpreter }) => interpreter.maker === maker) ?? own[0];
    if (build === undefined)
      words.push(`left out: Python ${line}: no build by ${maker ?? 'its maker'} is installed`);
    return build === undefined ? [] : [build];
  });
  return { builds, words };
}

function minorOf(line: string): number {
  return Number.parseInt(line.split('.')[1] ?? '0', 10);
}

/** Returns the maker that has builds of the most lines, among them the first. */
function bestMaker(all: readonly InstalledPython[], [now, ...wanted]: readonly string[]): string | undefined {
  const makers = new Set(all.filter(({ line }) => line === now).map(({ interpreter }) => interpreter.maker));
  const countLines = (maker: string | undefined): number =>
    wanted.filter((line) => all.some((one) => one.line === line && one.interpreter.maker === maker)).length;
  return [...makers].toSorted((a, b) => countLines(b) - countLines(a))[0];
}

/** Returns the word that names a build: its line if that is what Bench finds for it, otherwise its path. */
async function specOf({ line, path }: InstalledPython): Promise<string> {
  const spec = { kind: 'python', spec: line } as const;
  const usual = await findRuntime(spec, { mayInstall: false }).catch(() => undefined);
  return usual?.argv[0] === path ? line : path;
}

async function findMissing(
  { path, interpreter }: InstalledPython,
  stacks: readonly Stack[],
): Promise<string[]> {
  const uv = await provideUv(HOME.cache);
  const missing = await Promise.all(
    stacks.map(async ({ name, root, project }) =>
      project?.lock === undefined
        ? []
        : ((await packagesWithoutWheel({
            target: name,
            root,
            python: path,
            version: interpreter.version,
            uv,
            lock: project.lock,
          })) ?? []),
    ),
  );
  return missing.flat();
}

const WITHOUT_WHEELS =
  'lock releases of these packages that have a wheel for it, or name another: --python <version or path>';

function nameThem(example: string): string {
  return `name what to compare: ${example}`;
}

function nothingNewer(now: string, hint: string, words: readonly string[] = []): BenchError {
  const told = words.map((line) => `\n  ${line}`).join('');
  return new UsageError(`upgrade: found nothing newer than ${now}${told}`, hint);
}
