/** The variables that a project names: in its settings, its compose files and its sources. Changes no file. */
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { filesIn, readText } from './starts/files.ts';
import type { Start } from './starts/start.ts';
import { joinWords } from './words.ts';

const COMPOSE = /^(docker-)?compose(\.\w+)?\.ya?ml$/;
/** Files that show which variables a server needs. */
const EXAMPLE = /^(\.?env([.-]\w+)?[.-](example|sample|dist|template)|\.?(example|sample)[.-]env)$/;
const SETTINGS = /^\.env(\.(local|development))?$/;
/** `NAME=value` and `NAME: value`, after the dash of a list. Blanks and comments end a value. */
const ASSIGNED = /^[ \t]*(?:-\s*)?(?:export\s+)?["']?([A-Za-z_]\w*)["']?[ \t]*[=:][ \t]*["']?([^"'\s]*)/gm;

const SOURCES = '**/*.{py,js,mjs,cjs,ts,mts,go,rs,rb,php,prisma}';
/** A variable as sources read it, and its default if they have one. */
const READ =
  /(?:\bprocess\.env(?:\.|\[['"])|\bENV(?:\.fetch\(|\[)['"]|\benviron(?:\.get\(|\[)\s*['"]|\b[Gg]etenv\(\s*['"]|\benv(?:::var)?\(\s*['"])(\w+)["']?\]?(?:(?:,\s*10)?\))?\s*(?:(?:\|\||\?\?|,|\?:|\bor\b)\s*(?:['"]([^'"\n]*)['"]|(\d+)))?/g;
/** `const { DB_HOST, DB_PORT } = process.env` */
const TAKEN = /\{([^{}]*)\}\s*=\s*process\.env\b/g;

/** A file with variables. */
export interface Listing {
  /** Relative to the project. */
  file: string;
  kind: 'settings' | 'compose' | 'source';
  text: string;
}

/** A variable, and the value that a file gives it; empty if it gives none. */
export interface Variable {
  file: string;
  name: string;
  value: string;
}

/** Returns the settings and the compose files of a folder and of those above it in the project, and its sources. */
export function listingsOf(root: string, folder: string): Listing[] {
  const parts = folder.split('/').filter((part) => part !== '');
  const above = parts.map((_, index) => join(root, ...parts.slice(0, parts.length - index)));
  const named = [...above, root].flatMap((place) =>
    readdirSync(place)
      .toSorted()
      .flatMap((name): Listing[] => {
        const isSettings = SETTINGS.test(name) || EXAMPLE.test(name);
        const kind = isSettings ? 'settings' : COMPOSE.test(name) ? 'compose' : undefined;
        if (kind === undefined) return [];
        return [{ file: relative(root, join(place, name)), kind, text: readText(place, name) }];
      }),
  );
  const sources = filesIn(join(root, folder), SOURCES).map((file): Listing => ({
    file: join(folder, file),
    kind: 'source',
    text: readText(root, folder, file),
  }));
  return [...named, ...sources];
}

/** Returns the variables of files, each once: the first that has a value. */
export function variablesIn(listings: readonly Listing[]): Variable[] {
  const all = listings.flatMap(({ file, kind, text }) => {
    const found = kind === 'source' ? readIn(text) : assignedIn(text);
    return found.map(([name, value]): Variable => ({ file, name, value }));
  });
  return [...Map.groupBy(all, ({ name }) => name).values()].flatMap(
    (same) => same.find(({ value }) => value !== '') ?? same[0] ?? [],
  );
}

function assignedIn(text: string): [name: string, value: string][] {
  return [...text.matchAll(ASSIGNED)].map(([, name = '', value = '']) => [name, value]);
}

function readIn(text: string): [name: string, value: string][] {
  const read = [...text.matchAll(READ)].map(
    ([, name = '', words = '', digits = '']) => [name, words || digits] as [string, string],
  );
  const taken = [...text.matchAll(TAKEN)].flatMap(([, list = '']) =>
    list.split(',').flatMap((part): [string, string][] => {
      const [, name, words = '', digits = ''] =
        /^\s*(\w+)(?:\s*:\s*\w+)?(?:\s*=\s*(?:['"]([^'"]*)['"]|(\d+)))?/.exec(part) ?? [];
      return name === undefined ? [] : [[name, words || digits]];
    }),
  );
  return [...read, ...taken];
}

/** Returns the file of a project that shows which variables its server needs. */
export function findExample(root: string): string | undefined {
  return readdirSync(root)
    .toSorted()
    .find((file) => EXAMPLE.test(file));
}

/**
 * Returns a start that takes its port from Bench, where its command, its environment or a variable of the project names the one on
 * which the server listens, and what that changes. Undefined if none does.
 */
export function withPort(
  start: Start,
  root: string,
  port: number,
): { start: Start; why: string } | undefined {
  const isPort = new RegExp(`(?<!\\d)${port}(?!\\d)`);
  const fill = (word: string): string => word.replace(isPort, '{port}');
  const command = start.command.map(fill);
  const env = Object.fromEntries(Object.entries(start.env).map(([name, value]) => [name, fill(value)]));
  if ([...start.command, ...Object.values(start.env)].some((word) => isPort.test(word)))
    return { start: { ...start, command, env }, why: `{port} for ${port}: ${joinWords(command)}` };
  const found = variablesIn(listingsOf(root, '')).find(({ value }) => value === String(port));
  if (found === undefined || found.name === 'PORT' || found.name in env) return undefined;
  const { name, file } = found;
  return {
    start: { ...start, env: { ...env, [name]: '{port}' } },
    why: `${name}={port}: ${file} sets it to ${port}`,
  };
}
