/** Everything that a way executes of a project, in words that hide nothing. Changes no file, and runs nothing. */
import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { readTextFile } from 'bench-machine/files';
import type { Manifest } from 'bench-model/manifest';
import { filesIn } from './files.ts';
import { readNodeManifest, readPyproject } from '../projects/manifests.ts';
import { findProject } from '../projects/project.ts';
import type { Way } from './ways/way.ts';
import { joinWords } from '../projects/words.ts';

/**
 * Returns everything that a way of a project executes, in its order: the installation, builds, the setup, and the server. Indented
 * lines say what the one before them leads to. The other fields are those of its manifest.
 */
export function commandsOf(
  way: Way,
  root: string,
  { lock, envFile = '.env', packages = [] }: Partial<Pick<Manifest, 'lock' | 'envFile' | 'packages'>>,
): string[] {
  const place = join(root, way.folder);
  const { build, command, env, setup } = way;
  const variables = Object.entries(env).map(([name, value]) => `${name}=${joinWords([value])}`);
  const inside = way.folder === '' ? '' : ` in ${way.folder}`;
  const steps = [...build, ...(setup === undefined ? [] : [setup]), command];
  return [
    ...installOf(place, way, lock),
    ...packages.map((name) => `the installation of ${name}`),
    ...build.map((step) => `${joinWords(step)}${inside}`),
    ...(setup === undefined ? [] : [`${joinWords(setup)}${inside}, before each start`]),
    `${[...variables, joinWords(command)].join(' ')}${inside}`,
    ...scriptsOf(place, steps),
    // The variables that make programs load code, in the file for the server and in the one that it may read itself.
    ...[...new Set(['.env', envFile])].flatMap((file) =>
      [...(readTextFile(join(place, file)) ?? '').matchAll(LOADING)].map(([, line]) => `  ${file}: ${line}`),
    ),
  ];
}

/** Variables by which a file makes programs load code. */
const LOADING =
  /^[ \t]*(?:export\s+)?((?:NODE_OPTIONS|NODE_PATH|LD_\w+|DYLD_\w+|PYTHON\w+|PATH|BASH_ENV|ENV|PERL5\w*|RUBY\w*|CLASSPATH|\w*JAVA\w*OPTIONS|GIT_\w+|SHELL)\s*=.*)$/gm;
/** The scripts of a package that managers run when they install it. */
const INSTALL_SCRIPTS = /^(?:preinstall|install|postinstall|prepublish|preprepare|prepare|postprepare)$/;
/** The files of a project by which it changes what a package manager executes. */
const STEERING = '.pnpmfile.cjs .npmrc .yarnrc .yarnrc.yml binding.gyp bunfig.toml setup.py setup.cfg';

/** Returns the installation of a project's packages, and what of the project it executes. */
function installOf(place: string, { command, runtime, build }: Way, named: string | undefined): string[] {
  const hasNone = Object.keys(readNodeManifest(place).listed).length === 0;
  if (runtime === 'none' || (runtime === 'node' && build.length === 0 && hasNone)) return [];
  const { lock } = findProject(place, command, { known: runtime, named });
  if (lock === undefined) return [];
  const whole = dirname(lock.file);
  const steering = STEERING.split(' ').filter((name) =>
    [whole, place].some((one) => existsSync(join(one, name))),
  );
  if (runtime === 'python' && readPyproject(place).isBuilt) steering.unshift('pyproject.toml');
  const manifests = runtime === 'node' ? filesIn(whole, '**/package.json') : [];
  const scripts = manifests.flatMap((file) =>
    Object.entries(readNodeManifest(join(whole, dirname(file))).scripts)
      .filter(([name]) => INSTALL_SCRIPTS.test(name))
      .map(([name, line]) => `  ${file}: ${name}: ${line}`),
  );
  const steered = steering.length === 0 ? '' : `, steered by ${steering.join(', ')}`;
  const file = relative(place, lock.file);
  return [`the installation of ${file}, and what its packages execute for it${steered}`, ...scripts];
}

/** A script of package.json in a command line, in another folder or in this one. */
const NAMED =
  /\b(?:npm|pnpm|yarn|bun)\s+(?:(?:-C|--cwd|--prefix)\s+(\S+)\s+)?(?:run(?:-script)?\s+)?([\w:.-]+)/g;

/** Returns the texts of the scripts of package.json that commands run, with those that they run in turn. */
function scriptsOf(place: string, commands: readonly string[][]): string[] {
  const found = new Set<string>();
  const follow = (folder: string, line: string): void => {
    for (const [, other = '', name = ''] of line.matchAll(NAMED)) {
      const where = join(folder, other);
      const { scripts } = readNodeManifest(where);
      for (const one of [`pre${name}`, name, `post${name}`]) {
        const text = `  ${join(relative(place, where), 'package.json')}: ${one}: ${scripts[one]}`;
        if (scripts[one] === undefined || found.has(text)) continue;
        found.add(text);
        follow(where, scripts[one]);
      }
    }
  };
  for (const words of commands) follow(place, words.join(' '));
  return [...found];
}
