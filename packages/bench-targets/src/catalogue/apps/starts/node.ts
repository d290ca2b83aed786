/** The starts that the scripts and the sources of a Node project tell. */
import { existsSync, globSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { lineAt } from '../../json-file.ts';
import { readDenoTasks, readNodeManifest } from '../manifests.ts';
import { findLock } from '../project.ts';
import { ownFilesIn, readText } from './files.ts';
import { withoutWatcher } from './listen.ts';
import type { Told } from './start.ts';

/** The scripts of package.json that start a server, nearest to production first. */
const SCRIPTS = [
  'start:prod',
  'start:production',
  'serve:prod',
  'prod',
  'start',
  'serve',
  'server',
  'start:dev',
  'dev',
];

/** Returns the scripts that start the server, without their watchers. */
export function toldByScripts(root: string, folder: string): Told[] {
  const place = join(root, folder);
  const { scripts = {} } = readNodeManifest(place);
  const tasks = readDenoTasks(place);
  return SCRIPTS.flatMap((name): Told[] => {
    const line = scripts[name] ?? tasks[name];
    const where = name in scripts ? 'package.json: scripts' : 'deno.json: tasks';
    if (typeof line !== 'string') return [];
    return [{ place: 'scripts', folder, why: join(folder, `${where}.${name}`), line: withoutWatcher(line) }];
  });
}

/** Returns the source files that listen. */
export function toldByNodeSources(root: string, folder: string): Told[] {
  const place = join(root, folder);
  if (!existsSync(join(place, 'package.json'))) return [];
  const { devDependencies = {}, dependencies = {} } = readNodeManifest(place);
  const hasTsx = 'tsx' in { ...devDependencies, ...dependencies };
  return ownFilesIn(place, '**/*.{js,mjs,cjs,ts,mts}', ['package.json']).flatMap((file): Told[] => {
    const text = readText(place, file);
    const at = /\.listen\(|\bserve\(/.exec(text);
    const port =
      /process\.env(?:\.PORT\b|\[['"]PORT['"]\])|\.listen\(\s*\d{2,5}|\bport\s*[:=]\s*\d{2,5}/i.exec(text);
    if (at === null || port === null) return [];
    if (file.endsWith('ts') && !hasTsx && !isRunByNode(text)) return [];
    const says = /env/.test(port[0]) ? 'listens on process.env.PORT' : 'listens on a port of its own';
    return [
      {
        place: 'sources',
        folder,
        why: `${join(folder, file)}:${lineAt(text, port.index)}: ${says}`,
        line: [hasTsx && file.endsWith('ts') ? 'tsx' : 'node', file],
      },
    ];
  });
}

/** An import of a file of the project. */
const LOCAL = /\b(?:from|import|require\()\s*['"](\.{1,2}\/[^'"]*)['"]/g;

/** Returns true if Node itself can run this TypeScript: it finds only files that are named with their extension, and compiles no decorators. */
function isRunByNode(text: string): boolean {
  const named = [...text.matchAll(LOCAL)].every(([, file = '']) => /\.(?:[mc]?ts|json)$/.test(file));
  return named && !/^[ \t]*@\w+\(/m.test(text);
}

/** Returns the web framework among the dependencies of a Node project. */
export function frameworkOfNode(root: string): string {
  const { dependencies = {} } = readNodeManifest(root);
  const known = [
    'fastify',
    '@nestjs/core',
    'express',
    'koa',
    'hono',
    '@hapi/hapi',
    'next',
    'nuxt',
    'polka',
    'restify',
  ];
  return known.find((name) => dependencies[name] !== undefined) ?? 'unknown';
}

/** The folders into which the build scripts of Node projects write. */
const BUILT = /^(?:\.\/)?(?:dist|build|out|lib|\.output)(?:\/|$)/;

/** The option of each package manager that names the folder of a script. */
const AT = { pnpm: '-C', yarn: '--cwd', npm: '--prefix' };

/** Returns true if a command starts what the build of a Node project writes. */
export function startsBuild(root: string, [program = '', ...words]: readonly string[]): boolean {
  const isBuilt = words.some((word) => BUILT.test(word)) || (program === 'next' && words[0] === 'start');
  return isBuilt && hasBuild(root);
}

/**
 * Returns the builds of a Node project if a command starts what they write: first those of the packages of its workspace that it
 * imports, directly or indirectly.
 */
export function buildsOfNode(root: string, command: readonly string[]): string[][] {
  if (!startsBuild(root, command)) return [];
  const { kind, file } = findLock(root, 'node').lock ?? {};
  const manager = kind === 'pnpm' || kind === 'yarn' ? kind : 'npm';
  const whole = file === undefined ? root : dirname(file);
  const packages = whole === root ? new Map<string, string>() : packagesIn(whole);
  const before = importsOf(root, packages).filter(hasBuild);
  return [
    ...before.map((folder) => [manager, AT[manager], relative(root, folder), 'run', 'build']),
    [manager, 'run', 'build'],
  ];
}

function hasBuild(folder: string): boolean {
  return readNodeManifest(folder).scripts?.['build'] !== undefined;
}

function isInstalled({ name }: { name: string }): boolean {
  return name === 'node_modules';
}

/** Returns the folders of the packages in a workspace by name. */
function packagesIn(whole: string): Map<string, string> {
  return new Map(
    globSync('**/package.json', { cwd: whole, withFileTypes: true, exclude: isInstalled }).map(
      ({ parentPath }) => [readNodeManifest(parentPath).name ?? '', parentPath],
    ),
  );
}

/** Returns the folders of the packages that a package imports, each after those that it imports itself. */
function importsOf(root: string, packages: ReadonlyMap<string, string>, seen = new Set([root])): string[] {
  const { dependencies = {}, devDependencies = {} } = readNodeManifest(root);
  return Object.keys({ ...dependencies, ...devDependencies }).flatMap((name) => {
    const folder = packages.get(name);
    if (folder === undefined || seen.has(folder)) return [];
    seen.add(folder);
    return [...importsOf(folder, packages, seen), folder];
  });
}
