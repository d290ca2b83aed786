import { dirname, resolve } from 'node:path';
import { UsageError } from 'bench-model/errors';
import { checkBy } from 'bench-model/json-schema';
import type { Manifest as Written, RequestsFile, Service, WrittenVariant } from 'bench-model/manifest';
import { PLAIN_VARIANT, type Stack, type Variant } from 'bench-model/stack';
import { present } from 'bench-model/options';
import { ADDRESS, LANGUAGES, startOf } from './projects/app.ts';
import { findProject, runtimeOf } from './projects/project.ts';
import { canMovePorts } from './ports.ts';
import { fieldsOf, namesService, unknownPlaceholder } from './services.ts';
import { documentOf } from 'bench-machine/home';
import { hide, literalsInCommand, literalsInEnvironment, type Literal } from 'bench-machine/redact';
import { readJsonFile, refuseErrors, type JsonFile } from './json-file.ts';
import { WORKLOAD_NAMES } from './workloads/index.ts';
import { toDraft } from './workloads/requests/file.ts';

/** The fields that the manifest of a user need not have: they are derived. */
const DERIVED = ['language', 'framework', 'runtime', 'default'] as const;
type Manifest = Written & Required<Pick<Written, (typeof DERIVED)[number]>>;

/** The placeholders that the words of a program can hold, by its job. */
const PLACEHOLDERS = {
  build: ['runtime', 'root', 'host', 'port', 'workers', 'threads'],
  server: ['runtime', 'root', 'host', 'port', 'workers', 'threads'],
  service: ['root', 'host', 'port'],
  setup: ['runtime', 'root'],
};

const CONTRACT_HINT = `${documentOf('reference/stack-json.md')} shows a complete stack.json`;

/**
 * Reads one `stack.json`. `root` is the folder that it describes; by default, its own. Throws a usage error with file and
 * line if the file is missing, is not JSON or violates the contract.
 */
export function readManifest(file: string, root = dirname(resolve(file))): Stack {
  const missing = 'name the path of a stack.json, e.g. ../my-api/stack.json';
  return checkManifest(readJsonFile(file, { missing, wrong: CONTRACT_HINT }), root);
}

/** Returns the stack of a manifest in `root`. Throws a usage error if it violates the contract. */
export function checkManifest(read: JsonFile, root: string): Stack {
  refuseErrors(checkBy('stack')(read.value), read, { what: 'a stack', hint: CONTRACT_HINT });
  const written = read.value as Written;
  const manifest = complete(written, root);
  for (const [path, problem] of problemsOf(manifest, written))
    throw new UsageError(`${read.at(path)}: ${problem}`, CONTRACT_HINT);
  const found = findLiterals(manifest);
  hide(found.map(([, { value }]) => value));
  const literals = new Set(found.map(([path, { name }]) => `${read.at(path)}: ${name}`));
  return { ...toStack(manifest, root, read), literals: [...literals] };
}

/** Returns a manifest with the fields that can be derived for the app of a user; that of Bench has them, or is refused. */
function complete(written: Written, root: string): Manifest {
  const [first = ''] = Object.keys(written.variants);
  const { default: usual = first } = written;
  const [program = ''] = written.variants[usual]?.command ?? [];
  const isComplete = written.runtime !== undefined || written.requests === undefined;
  const { runtime = isComplete ? 'none' : runtimeOf(root, program) } = written;
  return { language: LANGUAGES[runtime], framework: 'unknown', ...written, runtime, default: usual };
}

function toStack(manifest: Manifest, root: string, read: JsonFile): Stack {
  const { name, language, framework, runtime, build = [], runtimes = [] } = manifest;
  const start = ({ command, env = {} }: WrittenVariant) => {
    if (manifest.requests === undefined) return { command, env };
    const started = startOf({ words: command, env }, root);
    return { command: started.words, env: { ...ADDRESS, ...started.env } };
  };
  const variants = Object.entries(manifest.variants).map(([variant, one]): [string, Variant] => [
    variant,
    {
      ...PLAIN_VARIANT,
      ...present({ class: manifest.class, scheme: manifest.scheme }),
      ...one,
      ...start(one),
    },
  ]);
  return {
    name,
    language,
    framework,
    runtime,
    build,
    runtimes,
    default: manifest.default,
    variants: Object.fromEntries(variants),
    root,
    manifest: read.shown,
    ...present({
      startSeconds: manifest.startTimeoutSeconds,
      warmupSeconds: manifest.warmupTimeoutSeconds,
      [manifest.movesPort === true && canMovePorts() ? 'movedPort' : 'port']: manifest.port,
      envFile: manifest.envFile,
    }),
    ...(manifest.requests === undefined ? {} : ofApp(manifest, root, read)),
  };
}

/** A manifest with its own requests describes an app, a program of a user: its own lock makes the environment. */
function ofApp(
  manifest: Manifest,
  root: string,
  read: JsonFile,
): Pick<Stack, 'requests' | 'project' | 'surroundings'> {
  const { command = [] } = manifest.variants[manifest.default] ?? {};
  const { services, setup } = manifest;
  const hasAny = services !== undefined || setup !== undefined;
  return {
    ...(hasAny && { surroundings: { services: services ?? {}, ...present({ setup }) } }),
    requests: toDraft(manifest as RequestsFile, read, root),
    project: {
      ...findProject(root, command, {
        named: manifest.lock,
        known: manifest.runtime,
        where: manifest.lock && `${read.at(['lock'])}: "lock":`,
      }),
      ...present({
        packages: manifest.packages,
        packagesUntil: manifest.packagesUntil,
        version: manifest.version,
      }),
    },
  };
}

/** A path into a manifest. */
type Path = (string | number)[];

/** A program that a manifest starts. */
interface Program {
  job: keyof typeof PLACEHOLDERS;
  /** The places of the program, and of its words. */
  path: Path;
  wordsAt: Path;
  words: string[];
  env?: Record<string, string> | undefined;
  url?: string | undefined;
  /** The services that are ready before it starts. */
  services: Record<string, Service>;
}

const place = (...path: string[]) => ({ path, wordsAt: [...path, 'command'] });

function programsOf({ build = [], services = {}, setup, variants }: Manifest): Program[] {
  const builds = (path: Path, commands: string[][]): Program[] =>
    commands.map((words, index) => {
      const at = [...path, 'build', index];
      return { job: 'build', path: at, wordsAt: at, words, services };
    });
  return [
    ...builds([], build),
    ...Object.entries(variants).flatMap(([name, { command: words, env, build: own = [] }]): Program[] => [
      { job: 'server', ...place('variants', name), words, env, services },
      ...builds(['variants', name], own),
    ]),
    ...Object.entries(services).flatMap(([name, service], index): Program[] => {
      if ('use' in service) return [];
      const { command, ready, env, url } = service;
      const before = Object.fromEntries(Object.entries(services).slice(0, index));
      const probe = typeof ready === 'object' && 'command' in ready ? [ready.command] : [];
      const of = { job: 'service' as const, services: before };
      return [
        { ...of, ...place('services', name), words: command, env, url },
        ...probe.map((words) => ({ ...of, ...place('services', name, 'ready'), words })),
      ];
    }),
    ...(setup === undefined
      ? []
      : [{ job: 'setup' as const, ...place('setup'), words: setup.command, env: setup.env, services }]),
  ];
}

/** Finds the secrets that a manifest holds in plain text, with their places. */
function findLiterals(manifest: Manifest): [Path, Literal][] {
  return programsOf(manifest).flatMap(({ path, wordsAt, words, env = {}, url }) => [
    ...literalsInCommand(words).map((one): [Path, Literal] => [wordsAt, one]),
    ...literalsInEnvironment(env).map((one): [Path, Literal] => [[...path, 'env', one.name], one]),
    ...literalsInEnvironment({ url }).map((one): [Path, Literal] => [[...path, 'url'], one]),
  ]);
}

/** The fields that only the app of a user has. */
const OF_APP = 'lock envFile port version packages packagesUntil services setup'.split(' ') as Field[];
type Field = keyof Written;

/** Finds what the schema cannot express: names that nothing defines, and fields without an effect. */
function* problemsOf(manifest: Manifest, written: Written): Generator<[Path, string]> {
  const { runtime, variants } = manifest;
  const isApp = manifest.requests !== undefined;
  const lacking = isApp ? undefined : DERIVED.find((field) => !(field in written));
  if (lacking !== undefined) yield [[], `without "requests", a stack needs the field "${lacking}"`];
  for (const field of isApp ? [] : OF_APP)
    if (manifest[field] !== undefined)
      yield [[field], `"${field}" has no effect without "requests": the stacks of Bench have none`];
  if (manifest.movesPort !== undefined && manifest.port === undefined)
    yield [['movesPort'], '"movesPort" has no effect without "port", the port that the sources name'];
  if (variants[manifest.default] === undefined) {
    const names = Object.keys(variants).join(', ');
    yield [['default'], `the default variant "${manifest.default}" is not among the variants (${names})`];
  }
  for (const program of programsOf(manifest)) yield* problemsIn(program, manifest);
  for (const [name, variant] of Object.entries(variants)) {
    const { workloads, groups, deviates = [], note, command } = variant;
    const build = [...(manifest.build ?? []), ...(variant.build ?? [])];
    const path = ['variants', name];
    if (workloads === undefined && !isApp)
      yield [
        path,
        `"${name}" lists no "workloads", and the manifest has no "requests": nothing can be measured`,
      ];
    for (const [index, workload] of (workloads ?? []).entries()) {
      if (!WORKLOAD_NAMES.includes(workload))
        yield [
          [...path, 'workloads', index],
          `unknown workload "${workload}", expected one of ${WORKLOAD_NAMES.join(', ')}`,
        ];
    }
    if (groups !== undefined && runtime !== 'python')
      yield [[...path, 'groups'], 'only Python stacks have dependency groups'];
    if (build.length === 0 && command.some((word) => word.includes('{build}')))
      yield [
        [...path, 'command'],
        `the command of "${name}" starts a program in {build}, but no "build" makes it`,
      ];
    if (deviates.length > 0 && note === undefined)
      yield [[...path, 'deviates'], `the "note" of "${name}" must say why it deviates`];
    if (!isApp && !command.some((word) => word.includes('{port}')))
      yield [
        [...path, 'command'],
        `the command of "${name}" has no {port}, but Bench chooses the port of each trial`,
      ];
  }
}

function* problemsIn(program: Program, manifest: Manifest): Generator<[Path, string]> {
  const { job, path, wordsAt, words, env = {}, services } = program;
  const isApp = manifest.requests !== undefined;
  // A binary is built into the cache, so that nothing is written into the project.
  const isBinary = manifest.runtime === 'none' && ['server', 'build'].includes(job);
  const known = [...PLACEHOLDERS[job], ...(isBinary ? ['build'] : [])];
  if (isApp && manifest.runtime === 'python' && job === 'build')
    yield [path, 'the environment of a Python project is made from its lock, so "build" has no effect'];
  for (const [index, word] of words.entries()) {
    const at = [...wordsAt, index];
    if (word === '{threads}')
      yield [
        at,
        '{threads} must share a word with its option, e.g. "--threads={threads}": without --threads the whole word is omitted',
      ];
    if (namesService(word))
      yield [at, `${word}: the address of a service goes into "env", not into a command`];
    for (const [placeholder, name = ''] of word.matchAll(/\{(\w*)\}/g)) {
      if (!known.includes(name))
        yield [
          at,
          `unknown placeholder ${placeholder}, expected one of ${known.map((one) => `{${one}}`).join(' ')}`,
        ];
    }
  }
  if (!isApp) return;
  for (const [name, value] of Object.entries(env)) {
    const unknown = unknownPlaceholder(value, services);
    if (unknown === undefined) continue;
    const names = Object.entries(services).flatMap(([one, service]) =>
      fieldsOf(service).map((field) => `{${one}.${field}}`),
    );
    const given =
      names.length === 0 ? 'no service starts before' : `services before it give ${names.join(' ')}`;
    yield [[...path, 'env', name], `nothing gives ${unknown} a value: ${given}`];
  }
}
