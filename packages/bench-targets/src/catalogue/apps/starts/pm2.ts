/** The command that pm2 keeps running: Bench stops a server itself, and must know its process. */
import { basename, join } from 'node:path';
import { isFile } from 'bench-machine/files';
import { fit, type Shape } from '../manifests.ts';
import type { Words } from '../words.ts';
import { readText } from './files.ts';

/** The first app of an ecosystem file, as far as it tells a start. */
interface App {
  script?: string;
  args?: string[];
  interpreter?: string;
  env?: Record<string, string>;
  env_production?: Record<string, string>;
}

const split = (value: unknown): unknown =>
  typeof value === 'string' ? value.split(/\s+/).filter((word) => word !== '') : fit(value, ['string']);

const VARIABLES = (value: unknown): unknown =>
  fit(value, {
    '*': (one) => (['string', 'number', 'boolean'].includes(typeof one) ? String(one) : undefined),
  });

const APP: Shape = {
  script: 'string',
  args: split,
  interpreter: 'string',
  env: VARIABLES,
  env_production: VARIABLES,
};

/** Returns the command that `pm2 start` or `pm2-runtime` keeps running in a folder; undefined for other commands, or if it is not known. */
export function commandOfPm2([program = '', ...rest]: readonly string[], folder: string): Words | undefined {
  if (!/^pm2(?:-runtime|-docker|-dev)?$/.test(basename(program))) return undefined;
  const file = rest.find((word) => isFile(join(folder, word)));
  if (file === undefined) return undefined;
  const at = rest.indexOf('--');
  const args = at < 0 ? [] : rest.slice(at + 1);
  const app = /\.json$|\.config\.[cm]?js$/.test(file) ? readApp(readText(folder, file)) : { script: file };
  const { script, args: own = [], interpreter, env = {}, env_production: more = {} } = app ?? {};
  if (script === undefined) return undefined;
  const runner = interpreter ?? (/\.[cm]?js$/.test(script) ? 'node' : undefined);
  const words = [...(runner === undefined ? [] : [runner]), ...script.split(' '), ...own, ...args];
  return { words, env: { ...env, ...more } };
}

/** Reads an ecosystem file in JSON. Of one in JavaScript, which is not run, the script and its arguments count if they are written out. */
function readApp(text: string): App | undefined {
  try {
    const value = fit(JSON.parse(text), { apps: [APP], '*': (part) => part }) as { apps?: App[] } | undefined;
    return value?.apps?.[0] ?? (fit(value, APP) as App | undefined);
  } catch {
    const written = (name: string): string | undefined =>
      new RegExp(`\\b${name}['"]?\\s*:\\s*['"\`]([^'"\`$]+)['"\`]`).exec(text)?.[1];
    return fit({ script: written('script'), args: written('args') }, APP) as App;
  }
}
