/** The ways that the scripts and the sources of a Node, Bun or Deno project tell. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { lineAt } from '../../json-file.ts';
import { filesIn, readText } from '../files.ts';
import { readDenoTasks, readNodeManifest } from '../../projects/manifests.ts';
import { findLock } from '../../projects/project.ts';
import { inShell } from '../../projects/line.ts';
import type { Told } from './way.ts';

/** The scripts of package.json that start a server, nearest to production first. */
const SCRIPTS = 'start:prod start:production serve:prod prod start serve server start:dev dev'.split(' ');

/** Returns the scripts that start the server, without their watchers. */
export function toldByScripts(place: string): Told[] {
  const { scripts, main } = readNodeManifest(place);
  const tasks = readDenoTasks(place);
  const told = SCRIPTS.flatMap((name): Told[] => {
    const line = scripts[name] ?? tasks[name];
    if (typeof line !== 'string') return [];
    const where = name in scripts ? 'package.json: scripts' : 'deno.json: tasks';
    return [{ why: `${where}.${name}`, words: inShell(withoutWatcher(line)) }];
  });
  // npm starts this file if no script does.
  const usual = [main, 'server.js'].find((file) => file !== undefined && existsSync(join(place, file)));
  if (told.length > 0 || usual === undefined || !existsSync(join(place, 'package.json'))) return told;
  return [{ why: usual, words: ['node', usual] }];
}

/** Returns the line of a script without the options and the programs that start it again at each change. */
function withoutWatcher(line: string): string {
  return line
    .replaceAll(/\s--(?:watch|watch-path|hot|reload)(?:=\S+)?(?=\s|$)/g, '')
    .replace(/\btsx\s+watch\b(\s+--clear-screen=false)?/, 'tsx')
    .replace(/\bnodemon\s(?:.*\s)?(?:--exec|-x)\s+(?=[\w-]+\s)/, '')
    .replace(/\bnodemon\s(?:.*\s)?(?=[\w./-]+\.[cm]?js\b)/, 'node ');
}

/** How sources serve in Bun and Deno, and what runs them. */
const SERVING: [pattern: RegExp, words: string[], env?: Record<string, string>][] = [
  [/\bDeno\.serve\(/, ['deno', 'run', '-A'], { DENO_SERVE_ADDRESS: 'tcp:{host}:{port}' }],
  [/\bBun\.serve\(|^export default (?:\{[^}]*\bfetch\b|app;?$)/m, ['bun']],
];
/** The packages of those who export what answers. */
const FETCHING = ['hono', 'elysia', 'bun', '@types/bun', 'bun-types'];

/** Returns the source files that Bun or Deno serves. */
export function toldByNodeSources(place: string): Told[] {
  const { listed } = readNodeManifest(place);
  const isOfDeno = ['deno.json', 'deno.jsonc'].some((name) => existsSync(join(place, name)));
  if (!isOfDeno && !FETCHING.some((name) => name in listed)) return [];
  return filesIn(place, '**/*.{js,mjs,ts,tsx}').flatMap((file): Told[] => {
    const text = readText(place, file);
    for (const [pattern, words, env = {}] of SERVING) {
      const found = pattern.exec(text);
      if (found === null) continue;
      const why = `${file}:${lineAt(text, found.index)}: ${found[0].split('\n')[0]}`;
      return [{ why, words: [...words, file], env }];
    }
    return [];
  });
}

/** The folders into which the build scripts of Node projects write. */
const BUILT = /^(?:\.\/)?(?:dist|build|out|lib|\.output)(?:\/|$)/;

/** Returns the build of a Node project if a command starts what it writes. */
export function buildOfStart(place: string, words: readonly string[]): string[][] {
  const isNext = words[0] === 'next' && words[1] === 'start';
  return isNext || words.slice(1).some((word) => BUILT.test(word)) ? buildOfNode(place) : [];
}

/** Returns the build of a Node project; empty if it has no script for that. */
export function buildOfNode(place: string): string[][] {
  if (readNodeManifest(place).scripts['build'] === undefined) return [];
  const kind = findLock(place, 'node')?.kind;
  return [[kind === 'pnpm' || kind === 'yarn' ? kind : 'npm', 'run', 'build']];
}
