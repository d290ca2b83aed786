/** The start that `init` takes, of all that a project tells. */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { readTextFile } from 'bench-machine/files';
import { BenchError } from 'bench-model/errors';
import {
  describeStart,
  findOther,
  findStarts,
  isBunOrDeno,
  projectAbove,
  type Start,
} from 'bench-targets/catalogue/apps/starts';
import { findMigration, withMigration, type Migration } from 'bench-targets/catalogue/apps/migrations';
import { findForeign, findNeeds, type Foreign, type Need } from 'bench-targets/catalogue/apps/needs';
import { findPinned, pythonOfImage } from 'bench-targets/catalogue/apps/pinned';
import { findProject } from 'bench-targets/catalogue/apps/project';
import { findExample } from 'bench-targets/catalogue/apps/variables';
import { isListening } from 'bench-machine/ports';
import { joinWords } from 'bench-targets/catalogue/apps/words';
import { usualRuntime } from 'bench-targets/catalogue/runtimes';
import { findRuntime, PATHS_ONLY } from 'bench-targets/prepare/runtimes';
import { findHere, findVersion } from 'bench-targets/prepare/projects/version';
import { findUnreached } from 'bench-targets/prepare/unreached';
import { present } from 'bench-model/options';
import { toLine } from 'bench-report/printable';
import type { RuntimeKind } from 'bench-model/target';
import { ask } from '../terminal/ask.ts';
import { say } from './say.ts';
import { runtimeNamed, type InitChoices } from './choices.ts';
import { showCommands } from './consent.ts';
import { NotPreparedError, NotStartedError, refuseStopped, tryStart } from './tryout.ts';
import { CompanionError } from '../services/companion.ts';
import { refuseMissing } from '../services/declared/companion.ts';
import { SetupError } from '../services/declared/program.ts';

/** The most starts that are listed, and that are tried. */
const MOST_LISTED = 8;
const MOST_TRIED = 3;

/** A list that is not empty. */
type Some<T> = [T, ...T[]];

/**
 * Returns the starts to try, best first, all in one folder. Throws a usage error if the project tells none, or several that are as good, and
 * nobody can be asked.
 */
export async function chooseStarts(
  root: string,
  { run, yes }: { run?: string | undefined; yes: boolean },
): Promise<Some<Start>> {
  if (run !== undefined) return [describeStart(root, run)];
  const { best, others, beside } = findStarts(root);
  for (const { why } of best) say('found', why);
  for (const { why, ...start } of beside.slice(0, MOST_LISTED))
    say('left out', `${describe(start)}, from ${why}: a watcher, a bundler or a server of documents`);
  const [first] = best;
  if (first === undefined) {
    const typed = await ask('Which command starts the server? Its port is {port}, or PORT: ');
    if (typed !== undefined) return [describeStart(root, typed)];
    const other = findOther(root);
    throw new BenchError(
      'usage',
      other === undefined
        ? 'nothing in the project says how its server starts'
        : `${other.file}: Bench does not know how projects in ${other.language} start`,
      hintAbove(root) ??
        `name the command that starts it: --run '${other?.command ?? 'uvicorn app:app --port {port}'}'`,
    );
  }
  if (best.length === 1) {
    const least = others.length === 0 ? 'the only start command in the project' : 'nearest to production';
    say('assumed', `${describe(first)}: ${least}`);
    if (first.isForDevelopment)
      say('warning', 'it is a development server: figures will differ from those in production');
    for (const other of others.slice(0, MOST_LISTED))
      say('or', `${optionFor(other, first, root)}, from ${other.why}`);
    // Another folder holds another server.
    return [
      first,
      ...others.filter(({ folder, isForDevelopment }) => folder === first.folder && !isForDevelopment),
    ];
  }
  const listed = best
    .slice(0, MOST_LISTED)
    .map((start, index) => `  ${index + 1}  ${toLine(describe(start))}`);
  const more = best.length - listed.length;
  const lines = more > 0 ? [...listed, `  and ${more} more`] : listed;
  const typed = yes ? '1' : await ask(`${lines.join('\n')}\nWhich command starts the server? [1] `);
  if (typed === undefined) {
    throw new BenchError(
      'usage',
      [`the server can start in ${best.length} ways:`, ...lines].join('\n'),
      first.folder === ''
        ? `choose one with ${joinWords(['--run', joinWords(first.command)])}, or accept the first with --yes`
        : `name the folder of one, e.g. bench-http init ${joinWords([first.folder])}, or accept the first with --yes`,
    );
  }
  const chosen = best[Number(typed === '' ? 1 : typed) - 1];
  if (chosen === undefined) return [describeStart(root, typed)];
  say('assumed', `${describe(chosen)}: ${yes ? `the first of ${best.length}` : 'your choice'}`);
  return [chosen];
}

/** The words that take another start: --run applies to the folder of the first only. */
function optionFor({ folder, command }: Start, first: Start, root: string): string {
  const words = joinWords(['--run', joinWords(command)]);
  if (folder === first.folder) return words;
  return `bench-http init ${joinWords([relative(process.cwd(), join(root, folder)) || '.'])} ${words}`;
}

/** The hint for a folder that uses the packages of a folder above. */
function hintAbove(root: string): string | undefined {
  const above = projectAbove(root);
  if (above === undefined) return undefined;
  const shown = relative(process.cwd(), above);
  const holds = (name: string): boolean => existsSync(join(above, name));
  const isPython = ['pyproject.toml', 'requirements.txt', 'setup.py', 'Pipfile'].some((name) => holds(name));
  const program = holds('package.json') ? 'node' : isPython ? 'python' : undefined;
  const run = program === undefined ? '' : ` --run '${program} ${relative(above, root)}/…'`;
  return `its packages are those of ${shown}, so name the command there: bench-http init ${shown}${run}`;
}

function describe({ folder, command }: Pick<Start, 'folder' | 'command'>): string {
  return `${joinWords(command)}${folder === '' ? '' : ` in ${folder}`}`;
}

/** The project, the manifest to write, and what was asked. */
interface Context {
  root: string;
  file: string;
  choices: InitChoices;
  stopping: AbortController;
}

/** Tries the starts in turn until one answers. Throws the error of the first if none does. */
export async function tryStarts(
  [first, ...others]: Some<Start>,
  context: Context,
): Promise<{ manifest: object; start: Start }> {
  const tried = [first, ...others].slice(0, MOST_TRIED);
  await showCommands(tried, context);
  let firstError: unknown;
  const ways = tried.flatMap((start): Way[] => {
    const isOpen =
      start.runtime === 'node' &&
      !isBunOrDeno(start.command) &&
      context.choices.node === undefined &&
      findPinned(join(context.root, start.folder), 'node') === undefined;
    return isOpen ? [{ start }, { start, version: OLDER_NODE }] : [{ start }];
  });
  // That of a Python depends on its wheels, too.
  if (first.runtime === 'node' && context.choices.node === undefined)
    sayPinned(join(context.root, first.folder), 'node');
  for (const foreign of findForeign(context.root, first.folder)) await warnOfForeign(foreign);
  let isEnded = true;
  for (const [index, { start, version }] of ways.entries()) {
    if (version !== undefined && !isEnded) continue;
    const on = version === undefined ? '' : ` on Node ${version}`;
    if (index > 0) say('trying', `${describe(start)}${on}, by ${start.why}`);
    try {
      return { manifest: await tryWithServices(start, context, version), start };
    } catch (error) {
      refuseStopped(context.stopping);
      // An environment that cannot be made fails again, and a server without an answer has started. A program is built by itself.
      const isMissing = error instanceof NotPreparedError && start.runtime === 'none';
      if (!(error instanceof NotStartedError || isMissing)) {
        if (firstError !== undefined && error instanceof BenchError)
          say('left out', `${describe(start)}${on}: ${describeError(error)}`);
        throw explain(firstError ?? error);
      }
      // That a program is missing says less than how another one failed.
      if (firstError === undefined || firstError instanceof NotPreparedError) firstError = error;
      // Another runtime does not make a missing file.
      isEnded = error instanceof NotStartedError && error.isEnded && !error.message.includes('ENOENT');
      // The error of the first is shown at the end.
      if (index > 0 || ways.slice(index + 1).some((way) => isEnded || way.version === undefined))
        say('left out', `${describe(start)}${on}: ${describeError(error)}`);
    }
  }
  throw firstError;
}

/** Says which version of its runtime the project asks for, before it can fail on it. */
function sayPinned(place: string, runtime: 'node' | 'python'): void {
  const pinned = findPinned(place, runtime);
  if (pinned === undefined) return;
  say('assumed', `${runtime} ${pinned.version}, by ${pinned.why}; --${runtime} names another`);
}

/** Adds what a service or a setup has printed to its error. */
function explain(error: unknown): unknown {
  if (!(error instanceof CompanionError)) return error;
  return error.explained('its last lines say why; variables may be missing: --dotenv names a file with them');
}

/** A start to try, and the runtime for it if it is not that which the project asks for. */
interface Way {
  start: Start;
  version?: string;
}

/** The version that projects from before the default may need. */
const OLDER_NODE = '22';

/** The first line of an error, and the last line of the server's log if that says nothing. */
function describeError({ message }: BenchError): string {
  const [first = '', ...rest] = message.split('\n');
  const last = rest.findLast((line) => line.startsWith('  | '));
  return /exit status \d+$/.test(first) && last !== undefined ? `${first}: ${last.slice(4)}` : first;
}

async function tryWithServices(
  start: Start,
  { root, file, choices, stopping }: Context,
  older: string | undefined,
): Promise<object> {
  const place = join(root, start.folder);
  const { version: named, path: interpreter } = runtimeNamed(choices, start.runtime);
  const version =
    named ??
    (interpreter === undefined ? older : await versionOf(start.runtime, interpreter)) ??
    (await chooseVersion(start, place, choices.lock));
  const envFile = choices.envFile ?? chooseEnvFile(place, start.env);
  const context = { root: place, file, choices, stopping, ...present({ version, envFile, interpreter }) };
  const needs = await findInstalled(findNeeds(root, start.folder), place);
  const hasDatabase = needs.some(({ service }) => 'use' in service);
  const migration = hasDatabase ? findMigration(root, start) : undefined;
  if (migration !== undefined) say('found', `${migration.why}, which prepares the database of each trial`);
  return tryBeside(start, { needs, migration }, context).catch((error: unknown) => {
    refuseStopped(stopping);
    const isUnread = envFile === undefined && existsSync(join(place, OWN_ENV));
    if (!isUnread || !(error instanceof NotStartedError) || !error.isEnded) throw error;
    say('trying', `the variables of ${OWN_ENV}, which it may not read itself: ${describeError(error)}`);
    return tryBeside(start, { needs, migration }, { ...context, envFile: OWN_ENV });
  });
}

/** The file whose variables many servers read themselves, and others get from what starts them. */
const OWN_ENV = '.env';

/** Returns the line of the interpreter at a path, e.g. `3.14t`. Throws a toolchain error if there is none. */
async function versionOf(kind: RuntimeKind, path: string): Promise<string> {
  const { runtime } = await findRuntime({ kind, spec: path }, PATHS_ONLY);
  const [line] = (kind === 'node' ? /^\d+/ : /^\d+\.\d+/).exec(runtime.version) ?? [runtime.version];
  return `${line}${runtime.build['freethreaded'] === 'true' ? 't' : ''}`;
}

/** Returns the needs whose programs this machine has, and says how to get the others. */
async function findInstalled(needs: readonly Need[], place: string): Promise<Need[]> {
  const installed: Need[] = [];
  for (const need of needs) {
    const { name, service, why } = need;
    try {
      await refuseMissing(name, service, place);
      say('found', `${why}, so the service "${name}" is tried`);
      installed.push(need);
    } catch (error) {
      if (!(error instanceof BenchError)) throw error;
      say('left out', `${why}: ${error.message}; ${error.hint}`);
    }
  }
  return installed;
}

/** Says so if a program that Bench cannot start does not run: its server may wait for it. */
async function warnOfForeign({ host, port, why }: Foreign): Promise<void> {
  // Names without a dot are those of a compose file.
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(host) || !host.includes('.');
  if (!isHere || (await isListening('127.0.0.1', port))) return;
  say(
    'warning',
    `${why} names port ${port}, on which nothing listens here, and Bench cannot start what belongs there: start it, or declare it in "services"`,
  );
}

/** Tries a start with all that it seems to need, and without that part which fails. */
async function tryBeside(
  start: Start,
  { needs, migration }: { needs: readonly Need[]; migration?: Migration | undefined },
  context: Parameters<typeof tryStart>[2],
): Promise<object> {
  const tried = migration === undefined ? start : withMigration(start, migration);
  return tryStart(tried, needs, context).catch((error: unknown) => {
    refuseStopped(context.stopping);
    const mayDiffer = error instanceof BenchError && !['interrupted', 'usage'].includes(error.code);
    if (!mayDiffer || error instanceof NotPreparedError || needs.length === 0) throw error;
    const why = describeError(error);
    if (migration !== undefined && error instanceof SetupError) {
      const command = joinWords(migration.command);
      say('left out', `${command}: ${why}`);
      const host = findUnreached([error.message, ...error.details].join('\n'));
      return tryBeside(start, { needs }, context).catch((later: unknown) => {
        // What the server says of it is often that a file is missing.
        if (host === undefined || !(later instanceof NotStartedError)) throw later;
        throw new BenchError(
          'toolchain',
          `${command} needs ${host}, which this machine cannot reach`,
          'run init where it can be reached, or set HTTPS_PROXY to a proxy that reaches it',
        );
      });
    }
    // A server may need another address than that of the service, or none.
    say('left out', `the services: ${why}`);
    return tryStart(start, [], context).catch((later: unknown) => {
      // With its services it came further.
      throw later instanceof NotStartedError && error instanceof NotStartedError ? error : later;
    });
  });
}

/** Returns the file whose variables the server gets because it has none of its own; undefined if it needs none. */
function chooseEnvFile(place: string, env: Readonly<Record<string, string>>): string | undefined {
  const isOwn = existsSync(join(place, OWN_ENV));
  const found = isOwn ? OWN_ENV : findExample(place);
  if (found === undefined) return undefined;
  if (!isOwn) say('assumed', `the variables of ${found}, because there is no ${OWN_ENV}`);
  const mode = DEVELOPMENT.exec(readTextFile(join(place, found)) ?? '')?.[0].replaceAll(/["'\s]/g, '');
  // The command may set it itself.
  if (mode !== undefined && env[mode.split('=')[0] ?? ''] === undefined) {
    const cure = isOwn ? '' : '; --dotenv names another file';
    say('warning', `${found} sets ${mode}: figures will differ from those in production${cure}`);
  }
  return isOwn ? undefined : found;
}

/** A variable by which a server is told that it is under development. */
const DEVELOPMENT = /^\w*(?:ENV|ENVIRONMENT)\s*=\s*["']?dev\w*|^\w*DEBUG\s*=\s*["']?(?:true|on|1)\b/im;

/** Lists of dependencies that are no lock of Python here. */
const UNREAD = ['Pipfile.lock', 'Pipfile', 'setup.py', 'setup.cfg'];

/** Returns the version to write: Bun or Deno, or a Python; undefined if that which the project asks for, or the default, has all wheels. */
async function chooseVersion(
  start: Start,
  place: string,
  named: string | undefined,
): Promise<string | undefined> {
  if (isBunOrDeno(start.command)) return start.command[0];
  if (start.runtime !== 'python') return undefined;
  const { lock, version: pinned = usualRuntime('python') } = findProject(place, start.command, {
    known: 'python',
    named,
  });
  const unread = UNREAD.find((name) => existsSync(join(place, name)));
  const none =
    unread === undefined
      ? 'no list of dependencies'
      : `its dependencies in ${unread}, which Bench does not read: write them to a requirements.txt`;
  say('found', lock === undefined ? none : `its dependencies in ${relative(place, lock.file)}`);
  const image = pythonOfImage(place);
  if (image !== undefined && (await findHere(image.version)) !== undefined) {
    say('assumed', `Python ${image.version}, by ${image.why}; --python names another`);
    return image.version === pinned ? undefined : image.version;
  }
  const found = await findVersion(place, lock);
  if (found === undefined || found.version === pinned) {
    sayPinned(place, 'python');
    return undefined;
  }
  const { version, without } = found;
  const why =
    without.length === 0 ? 'that the project admits' : `for which ${without.join(', ')} have wheels`;
  say('assumed', `Python ${version}: the newest available ${why}`);
  return version;
}
