/** The ways that the scripts and the sources of a Node, Bun or Deno project tell. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { lineAt } from '../../json-file.ts';
import { filesIn, readText } from '../files.ts';
import { readDenoTasks, readNodeManifest } from '../manifests.ts';
import { findLock } from '../project.ts';
import { withoutWatcher } from './address.ts';
import type { Told } from './way.ts';

/** The scripts of package.json that start a server, nearest to production first. */
const SCRIPTS = 'start:prod start:production serve:prod prod start serve server start:dev dev'.split(' ');

/** Returns the scripts that start the server, without their watchers. */
export function toldByScripts(root: string, folder: string): Told[] {
  const place = join(root, folder);
  const { scripts = {}, main } = readNodeManifest(place);
  const tasks = readDenoTasks(place);
  const told = SCRIPTS.flatMap((name): Told[] => {
    const line = scripts[name] ?? tasks[name];
    if (typeof line !== 'string') return [];
    const where = name in scripts ? 'package.json: scripts' : 'deno.json: tasks';
    return [{ folder, why: join(folder, `${where}.${name}`), line: withoutWatcher(line) }];
  });
  // npm starts this file if no script does.
  const usual = [main, 'server.js'].find((file) => file !== undefined && existsSync(join(place, file)));
  if (told.length > 0 || usual === undefined || !existsSync(join(place, 'package.json'))) return told;
  return [{ folder, why: join(folder, usual), line: ['node', usual] }];
}

/** How sources serve in Bun and Deno, and what runs them. */
const SERVING: [pattern: RegExp, program: string[]][] = [
  [/\bDeno\.serve\(/, ['deno', 'run', '-A']],
  [/\bBun\.serve\(/, ['bun']],
  [/^export default (?:\{[^}]*\bfetch\b|app;?$)/m, ['bun']],
];
/** The packages of those who export what answers. */
const FETCHING = ['hono', 'elysia', 'bun', '@types/bun', 'bun-types'];

/** Returns the source files that Bun or Deno serves. */
export function toldByNodeSources(root: string, folder: string): Told[] {
  const place = join(root, folder);
  const { devDependencies, dependencies } = readNodeManifest(place);
  const isOfDeno = ['deno.json', 'deno.jsonc'].some((name) => existsSync(join(place, name)));
  if (!isOfDeno && !FETCHING.some((name) => name in { ...devDependencies, ...dependencies })) return [];
  return filesIn(place, '**/*.{js,mjs,ts,tsx}').flatMap((file): Told[] => {
    const text = readText(place, file);
    const [pattern, program] = SERVING.find(([one]) => one.test(text)) ?? [];
    if (pattern === undefined || program === undefined) return [];
    const [says = '', at] = [pattern.exec(text)?.[0], pattern.exec(text)?.index];
    const why = `${join(folder, file)}:${lineAt(text, at ?? 0)}: ${says.split('\n')[0]}`;
    const env = program[0] === 'deno' ? { DENO_SERVE_ADDRESS: 'tcp:{host}:{port}' } : {};
    return [{ folder, why, line: [...program, file], env }];
  });
}

/** The folders into which the build scripts of Node projects write. */
const BUILT = /^(?:\.\/)?(?:dist|build|out|lib|\.output)(?:\/|$)/;

/** Returns the build of a Node project if a command starts what it writes. */
export function buildOfStart(root: string, words: readonly string[]): string[] | undefined {
  const isNext = words[0] === 'next' && words[1] === 'start';
  return isNext || words.slice(1).some((word) => BUILT.test(word)) ? buildOfNode(root) : undefined;
}

/** Returns the build of a Node project; undefined if it has no script for that. */
export function buildOfNode(root: string): string[] | undefined {
  if (readNodeManifest(root).scripts?.['build'] === undefined) return undefined;
  const kind = findLock(root, 'node')?.kind;
  return [kind === 'pnpm' || kind === 'yarn' ? kind : 'npm', 'run', 'build'];
}
