/** The folders of a command: those of this repository, or those of a user's project. Found from the current folder. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, extname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { orUndefined } from 'bench-model/errors';

/** Where a command runs, and where it keeps its files. */
interface Home {
  kind: 'repository' | 'project';
  /** The folder of the repository or of the project. */
  root: string;
  /** The folder of all runs. In the repository, its folder `published` holds the runs that are kept. */
  results: string;
  /** The folder of environments, builds and fetched tools. Everything in it can be removed and is rebuilt. */
  cache: string;
}

/** The files that mark the folder of a project. */
const MARKERS = 'bench.config.json stack.json package.json pyproject.toml go.mod Cargo.toml .git'.split(' ');

/** The name of the package, of its command and of its folders. */
const NAME = 'bench-http';

/**
 * Returns the folders for a current folder. Inside the repository of Bench they are those of the repository. Elsewhere
 * results go to `.bench/results` of the nearest project, or of the current folder if there is none, and the cache is
 * the user's. `BENCH_RESULTS` and `BENCH_CACHE` override them.
 */
export function findHome(from: string, env: NodeJS.ProcessEnv = process.env, user = homedir()): Home {
  const folders = parentsOf(resolve(from));
  const repository = folders.find(isRepository);
  const kind = repository === undefined ? 'project' : 'repository';
  const root = repository ?? projectOf(folders, user);
  const usual =
    kind === 'repository'
      ? { results: join(root, 'results'), cache: join(root, '.cache') }
      : { results: join(root, '.bench', 'results'), cache: join(cacheOf(env, user), NAME) };
  const { BENCH_RESULTS: results = '', BENCH_CACHE: cache = '' } = env;
  return {
    kind,
    root,
    results: resolve(results === '' ? usual.results : results),
    cache: resolve(cache === '' ? usual.cache : cache),
  };
}

/** Returns a folder and all those above it, nearest first. */
export function parentsOf(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...parentsOf(parent)];
}

function isRepository(folder: string): boolean {
  const read = (): string => readFileSync(join(folder, 'packages', 'bench', 'package.json'), 'utf8');
  return orUndefined(() => (JSON.parse(read()) as { name?: unknown }).name) === NAME;
}

/** The nearest project. Files of a home folder and above do not make a project of everything below them. */
function projectOf(folders: string[], user: string): string {
  const shared = new Set([...parentsOf(user), ...parentsOf(tmpdir())]);
  const found = folders
    .filter((folder) => !shared.has(folder))
    .find((folder) => MARKERS.some((marker) => existsSync(join(folder, marker))));
  return found ?? (folders[0] as string);
}

function cacheOf({ XDG_CACHE_HOME: cache = '' }: NodeJS.ProcessEnv, user: string): string {
  if (isAbsolute(cache)) return cache;
  return process.platform === 'darwin' ? join(user, 'Library', 'Caches') : join(user, '.cache');
}

/** The folders of this process. */
export const HOME = findHome(process.cwd());

/** The commands whose scripts in the repository have `bench:` before their names: pnpm has commands of these names. */
const SCRIPTS = new Set('ci doctor init install list power prune upgrade why'.split(' '));

/** Returns the words that start pnpm here: with `npx` if that brought it for this command only. */
export function typePnpm(
  { npm_execpath: path = '', npm_config_user_agent: agent = '' } = process.env,
): string {
  const [, major] = /^pnpm\/(\d+)/.exec(agent) ?? [];
  return major !== undefined && /[\\/]_npx[\\/]/.test(path) ? `npx -y pnpm@${major}` : 'pnpm';
}

/** Returns a command line as the user types it here: `pnpm report latest` if pnpm runs this, else `bench-http report latest`. */
export function commandLine(words: string, { npm_config_user_agent: agent = '' } = process.env): string {
  // Options alone mean the command `bench`.
  if (HOME.kind !== 'repository' || !agent.startsWith('pnpm'))
    return `${NAME} ${words.replace(/^bench (?=-)/, '')}`;
  return `${typePnpm()} ${words.replace(/^\S+/, (name) => (SCRIPTS.has(name) ? `bench:${name}` : name))}`;
}

/** Returns the path of a document of Bench: in the repository from its root, elsewhere where it is installed. */
export function documentOf(name: string): string {
  if (HOME.kind === 'repository') return `docs/${name}`;
  const folder = extname(import.meta.url) === '.ts' ? '../../../docs/' : '../../docs/';
  return fileURLToPath(new URL(folder + name, import.meta.url));
}

/** Makes the folder that a project keeps for Bench, with a `.gitignore` for all of it. */
export function makeProjectFolder({ root, results }: Home = HOME): void {
  const folder = join(root, '.bench');
  if (!results.startsWith(`${folder}/`)) return;
  const ignore = join(folder, '.gitignore');
  if (existsSync(ignore)) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(ignore, '*\n');
}

/** Returns the path of a program beside a module: TypeScript in the repository, JavaScript in the package. */
export function programBeside(module: string, name: string): string {
  return fileURLToPath(new URL(`${name}${extname(module)}`, module));
}
