/** The runtimes to which a project can be upgraded, and which of those here are compared. */
import { BenchError } from 'bench-model/errors';
import type { Matrix } from 'bench-model/options';
import type { Stack } from 'bench-model/stack';
import type { Target } from 'bench-model/target';
import { HOME } from 'bench-machine/home';
import { countOf } from 'bench-report/format';
import { listAll } from 'bench-report/words';
import { newestFirst } from 'bench-targets/catalogue/apps/pinned';
import { listPythons, type InstalledPython } from 'bench-targets/prepare/installed';
import { packagesWithoutWheel } from 'bench-targets/prepare/projects/python';
import { nameRuntimes } from 'bench-targets/prepare/names';
import { findRuntime } from 'bench-targets/prepare/runtimes';
import { provideUv } from 'bench-targets/prepare/uv';

/** The oldest line whose build without the GIL its makers support. */
const FREE_FROM = 14;
const EXAMPLE = '--python 3.13,/path/to/python3.15';

/** The runtimes of a comparison, that of now first, and what the user must know about them. */
export interface Upgrade {
  matrix: Pick<Matrix, 'python' | 'node'>;
  words: string[];
}

/**
 * Finds the runtimes that are newer than that of the targets. Of each Python it takes the build of one maker, if there is one
 * that has them all. Throws a usage error if the targets run on several runtimes, or if none is newer.
 */
export async function findUpgrade(
  targets: readonly Target[],
  stacks: readonly Stack[],
  isSameBuild: boolean,
): Promise<Upgrade> {
  const runtimes = new Map(
    targets.flatMap(({ runtime }) =>
      runtime === undefined ? [] : [[`${runtime.kind} ${runtime.spec}`, runtime]],
    ),
  );
  const [now, ...others] = runtimes.values();
  if (now === undefined)
    throw new BenchError(
      'usage',
      '--upgrade: the targets have no runtime',
      'name a target on Python or Node',
    );
  if (others.length > 0) {
    const listed = listAll([...runtimes.keys()]);
    throw new BenchError('usage', `--upgrade: the targets run on ${listed}`, 'name targets that run on one');
  }
  if (now.kind === 'node') return upgradeNode(now.spec);
  const own = stacks.filter(({ name }) => targets.some(({ stack }) => stack === name));
  return upgradePython(now.spec, own, isSameBuild);
}

function upgradeNode(now: string): Upgrade {
  const newer = newestFirst('node')
    .toReversed()
    .filter((line) => Number(line) > Number.parseInt(now, 10));
  if (newer.length === 0) throw nothingNewer(`Node ${now}`, '--node 22,26');
  return {
    matrix: { python: [], node: [now, ...newer] },
    words: [`comparing Node ${now} with ${listAll(newer)}`],
  };
}

async function upgradePython(now: string, stacks: readonly Stack[], isSameBuild: boolean): Promise<Upgrade> {
  const { builds, words } = chooseBuilds(await listPythons(), now, isSameBuild);
  const [first, ...others] = builds;
  if (first?.line !== now) throw nothingNewer(`Python ${now}`, EXAMPLE, words);
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
  if (newer.length === 0) throw nothingNewer(`Python ${now}`, EXAMPLE, words);
  const kept = [first, ...newer];
  const specs = await Promise.all(kept.map(specOf));
  const withJit = newer.flatMap(({ hasJit }, index) => (hasJit ? [`${specs[index + 1]}+jit`] : []));
  const wanted = { python: [...specs, ...withJit], node: [], packages: [] };
  const { python } = (await nameRuntimes({ targets: [], matrix: wanted })).matrix;
  const makers = new Set(kept.map(({ maker }) => maker ?? 'an unknown maker'));
  const alike =
    makers.size === 1
      ? `built by ${[...makers].join('')}`
      : `of ${countOf(makers.size, 'maker')} (${listAll([...makers])}), so a difference may be that of their builds`;
  const versions = listAll(newer.map(({ version }) => version));
  const jit = withJit.length === 0 ? '' : ', with and without the JIT';
  return {
    matrix: { python, node: [] },
    words: [`comparing Python ${first.version} with ${versions}${jit}, ${alike}`, ...words],
  };
}

/**
 * Chooses a build of the line of now and of each newer one: those of the maker that has most of them, otherwise any, or none if
 * they must be of one maker. The words name the lines that are not here or left out.
 */
export function chooseBuilds(
  all: readonly InstalledPython[],
  now: string,
  isSameBuild: boolean,
): { builds: InstalledPython[]; words: string[] } {
  const isNewer = (line: string): boolean => minorOf(line) > minorOf(now);
  const wanted = [...new Set(all.map(({ line }) => line))]
    .filter((line) => isNewer(line) && (!line.endsWith('t') || minorOf(line) >= FREE_FROM))
    .toSorted((a, b) => minorOf(a) - minorOf(b) || a.length - b.length);
  const missing = newestFirst('python')
    .toReversed()
    .filter((line) => isNewer(line) && !wanted.includes(line));
  const words = missing.map((line) => `not here: Python ${line} (uv python install ${line})`);
  const maker = bestMaker(all, [now, ...wanted]);
  const builds = [now, ...wanted].flatMap((line): InstalledPython[] => {
    const own = all.filter((one) => one.line === line);
    const build = own.find((one) => one.maker === maker) ?? (isSameBuild ? undefined : own[0]);
    if (build === undefined)
      words.push(`left out: Python ${line}: ${maker ?? 'its maker'} has no build of it here`);
    return build === undefined ? [] : [build];
  });
  return { builds, words };
}

function minorOf(line: string): number {
  return Number.parseInt(line.split('.')[1] ?? '0', 10);
}

/** Returns the maker that has builds of the most lines, among them the first. */
function bestMaker(all: readonly InstalledPython[], [now, ...wanted]: readonly string[]): string | undefined {
  const makers = new Set(all.filter(({ line }) => line === now).map(({ maker }) => maker));
  const countLines = (maker: string | undefined): number =>
    wanted.filter((line) => all.some((one) => one.line === line && one.maker === maker)).length;
  return [...makers].toSorted((a, b) => countLines(b) - countLines(a))[0];
}

/** Returns the word that names a build: its line if that is what Bench finds for it, otherwise its path. */
async function specOf({ line, path }: InstalledPython): Promise<string> {
  const uv = await provideUv(HOME.cache);
  const usual = await findRuntime(
    { kind: 'python', spec: line },
    { cache: HOME.cache, uv, mayInstall: false },
  ).catch(() => undefined);
  return usual?.argv[0] === path ? line : path;
}

/** Returns the packages of the projects' locks without a wheel for a Python. */
async function findMissing({ path, version }: InstalledPython, stacks: readonly Stack[]): Promise<string[]> {
  const uv = await provideUv(HOME.cache);
  const missing = await Promise.all(
    stacks.map(async ({ name, root, project }) =>
      project?.lock === undefined
        ? []
        : ((await packagesWithoutWheel({
            target: name,
            root,
            python: path,
            version,
            uv,
            lock: project.lock,
          })) ?? []),
    ),
  );
  return missing.flat();
}

function nothingNewer(now: string, example: string, words: readonly string[] = []): BenchError {
  const told = words.map((line) => `\n  ${line}`).join('');
  return new BenchError(
    'usage',
    `--upgrade: nothing newer than ${now} is here${told}`,
    `name what to compare: ${example}`,
  );
}
