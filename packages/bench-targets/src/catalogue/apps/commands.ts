/** Everything that a start executes of a project, in words that hide nothing. Changes no file, and runs nothing. */
import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { readTextFile } from 'bench-machine/files';
import { readNodeManifest, readPyproject } from './manifests.ts';
import { findMigration, withMigration } from './migrations.ts';
import { findNeeds } from './needs.ts';
import { findProject } from './project.ts';
import { filesIn } from './starts/files.ts';
import type { Start } from './starts/start.ts';
import { findExample } from './variables.ts';
import { joinWords } from './words.ts';

/** The project, and the files that the user names. */
interface Named {
  root: string;
  lock?: string | undefined;
  envFile?: string | undefined;
}

/**
 * Returns everything that a start executes, in its order: the installation, builds, the setup, and the server. Indented lines say what
 * the one before them leads to.
 */
export function commandsOf(start: Start, { root, lock, envFile }: Named): string[] {
  const place = join(root, start.folder);
  const { build, command, env, setup } = withSetup(root, start);
  const variables = Object.entries(env).map(([name, value]) => `${name}=${joinWords([value])}`);
  const inside = start.folder === '' ? '' : ` in ${start.folder}`;
  return [
    ...installOf(place, start, lock),
    ...build.map((step) => `${joinWords(step)}${inside}`),
    ...(setup === undefined ? [] : [`${joinWords(setup)}${inside}, before each start`]),
    `${[...variables, joinWords(command)].join(' ')}${inside}`,
    ...scriptsOf(place, [...build, ...(setup === undefined ? [] : [setup]), command]),
    ...loadedBy(place, envFile),
  ];
}

/** Returns a start with the migration that it gets if its database is here. */
function withSetup(root: string, start: Start): Start {
  const hasDatabase = findNeeds(root, start.folder).some(({ service }) => 'use' in service);
  const migration = hasDatabase ? findMigration(root, start) : undefined;
  return migration === undefined ? start : withMigration(start, migration);
}

/** The scripts of a package that managers run when they install it. */
const INSTALL_SCRIPTS = [
  'preinstall',
  'install',
  'postinstall',
  'prepublish',
  'preprepare',
  'prepare',
  'postprepare',
];
/** The files of a project by which it changes what a package manager executes. */
const STEERING = [
  '.pnpmfile.cjs',
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  'binding.gyp',
  'bunfig.toml',
  'setup.py',
  'setup.cfg',
];

/** Returns the installation of a project's packages, and what of the project it executes. */
function installOf(place: string, { command, runtime, build }: Start, named: string | undefined): string[] {
  if (runtime === 'none' || (runtime === 'node' && build.length === 0 && !hasPackages(place))) return [];
  const { lock } = findProject(place, command, { known: runtime, named, where: '--lock' });
  if (lock === undefined) return [];
  const whole = dirname(lock.file);
  const steering = STEERING.filter((name) => existsSync(join(whole, name)) || existsSync(join(place, name)));
  const builder =
    runtime === 'python' && readPyproject(place)['build-system'] !== undefined ? ['pyproject.toml'] : [];
  const by = [...builder, ...steering];
  const scripts =
    runtime === 'node'
      ? filesIn(whole, '**/package.json').flatMap((file) => {
          const all = readNodeManifest(join(whole, dirname(file))).scripts ?? {};
          return INSTALL_SCRIPTS.flatMap((name) =>
            all[name] === undefined ? [] : [`  ${file}: ${name}: ${all[name]}`],
          );
        })
      : [];
  return [
    `the installation of ${relative(place, lock.file)}, and what its packages execute for it${by.length === 0 ? '' : `, steered by ${by.join(', ')}`}`,
    ...scripts,
  ];
}

function hasPackages(place: string): boolean {
  const { dependencies = {}, devDependencies = {} } = readNodeManifest(place);
  return Object.keys({ ...dependencies, ...devDependencies }).length > 0;
}

/** A script of package.json in a command line, in another folder or in this one. */
const NAMED =
  /\b(?:npm|pnpm|yarn|bun)\s+(?:(?:-C|--cwd|--prefix)\s+(\S+)\s+)?(?:run(?:-script)?\s+)?([\w:.-]+)/g;

/** Returns the texts of the scripts of package.json that commands run, with those that they run in turn. */
function scriptsOf(place: string, commands: readonly string[][]): string[] {
  const found = new Map<string, string>();
  const follow = (folder: string, line: string): void => {
    for (const [, other = '', name = ''] of line.matchAll(NAMED)) {
      const where = join(folder, other);
      const scripts = readNodeManifest(where).scripts ?? {};
      for (const one of [`pre${name}`, name, `post${name}`]) {
        const text = scripts[one];
        const file = join(relative(place, where), 'package.json');
        if (text === undefined || found.has(`${file}: ${one}`)) continue;
        found.set(`${file}: ${one}`, text);
        follow(where, text);
      }
    }
  };
  for (const words of commands) follow(place, words.join(' '));
  return [...found].map(([name, text]) => `  ${name}: ${text}`);
}

/** Variables by which a file makes programs load code. */
const LOADING =
  /^[ \t]*(?:export\s+)?((?:NODE_OPTIONS|NODE_PATH|LD_\w+|DYLD_\w+|PYTHON\w+|PATH|BASH_ENV|ENV|PERL5\w*|RUBY\w*|CLASSPATH|\w*JAVA\w*OPTIONS|GIT_\w+|SHELL)\s*=.*)$/gm;

/** Returns the variables of a file for the server that make programs load code. */
function loadedBy(place: string, named: string | undefined): string[] {
  const file = named ?? (existsSync(join(place, '.env')) ? '.env' : findExample(place));
  if (file === undefined) return [];
  return [...(readTextFile(join(place, file)) ?? '').matchAll(LOADING)].map(
    ([, line]) => `  ${file}: ${line}`,
  );
}
