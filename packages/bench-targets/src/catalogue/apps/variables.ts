/** The variables that a project names: in its settings, its compose files and its sources. Changes no file. */
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { lineAt } from '../json-file.ts';
import { filesIn, readText } from './files.ts';
import type { Way } from './ways/way.ts';
import { joinWords } from './words.ts';

const COMPOSE = /^(docker-)?compose(\.\w+)?\.ya?ml$/;
/** Files that show which variables a server needs. */
const EXAMPLE = /^(\.?env([.-]\w+)?[.-](example|sample|dist|template)|\.?(example|sample)[.-]env)$/;
const SETTINGS = /^\.env(\.(local|development))?$/;
/** `NAME=value` and `NAME: value`, after the dash of a list. Blanks and comments end a value. */
const ASSIGNED = /^[ \t]*(?:-\s*)?(?:export\s+)?["']?([A-Za-z_]\w*)["']?[ \t]*[=:][ \t]*["']?([^"'\s]*)/gm;

const SOURCES = '**/*.{py,js,mjs,cjs,ts,mts,go,rs,rb,php,cs,prisma}';
/** A variable as sources read it, and its default if they have one. */
const READ =
  /(?:\bprocess\.env(?:\.|\[['"])|\bENV(?:\.fetch\(|\[)['"]|\b(?:environ|env)(?:\.get\(|\[)\s*['"]|\b(?:\w*[Ee]nv\w*|env::var|config)\(\s*['"])(\w+)["']?!?\]?(?:(?:,\s*10)?\))?\s*(?:(?:\|\||\?\?|,|\?:|\bor\b)\s*(?:default\s*=\s*)?(?:['"]([^'"\n]*)['"]|(\d+)))?/g;

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
  const places = parts.map((_, index) => join(root, ...parts.slice(0, parts.length - index)));
  const listings = [...places, root].flatMap((place) =>
    readdirSync(place)
      .toSorted()
      .flatMap((name): Listing[] => {
        const isSettings = SETTINGS.test(name) || EXAMPLE.test(name);
        if (!isSettings && !COMPOSE.test(name)) return [];
        const file = relative(root, join(place, name));
        return [{ file, kind: isSettings ? 'settings' : 'compose', text: readText(root, file) }];
      }),
  );
  for (const file of filesIn(join(root, folder), SOURCES).map((one) => join(folder, one)))
    listings.push({ file, kind: 'source', text: readText(root, file) });
  return listings;
}

/** Returns the variables of files, each once: the first that has a value. */
export function variablesIn(listings: readonly Listing[]): Variable[] {
  const all = listings.flatMap(({ file, kind, text }) =>
    [...text.matchAll(kind === 'source' ? READ : ASSIGNED)].map(
      ([, name = '', value = '', digits = '']): Variable => ({ file, name, value: value || digits }),
    ),
  );
  return [...Map.groupBy(all, ({ name }) => name).values()].flatMap(
    (same) => same.find(({ value }) => value !== '') ?? same[0] ?? [],
  );
}

/** Returns the file of a project that shows which variables its server needs. */
export function findExample(root: string): string | undefined {
  return readdirSync(root)
    .toSorted()
    .find((file) => EXAMPLE.test(file));
}

/** Returns the first place in the files of a project that matches, as `config/shop.yaml:6`: in its settings first. */
export function findMention(root: string, pattern: RegExp): string | undefined {
  const kinds = ['**/*.{yml,yaml,toml,json,ini,cfg,conf,env}', SOURCES];
  for (const file of kinds.flatMap((kind) => filesIn(root, kind))) {
    const text = readText(root, file);
    const at = text.search(pattern);
    if (at >= 0) return `${file}:${lineAt(text, at)}`;
  }
  return undefined;
}

/** The variables of a server's own port. */
const OF_SERVER = /^(?:APP|API|HTTP|LISTEN|SERVER|SERVICE|WEB)_?PORT$/;

/**
 * Returns a way that takes its port from Bench, where its command, a variable of the project or an option in its sources names the
 * one on which the server listens, and what that changes. Undefined if none does.
 */
export function withPort(
  way: Way,
  root: string,
  port: number,
  placeholder = '{port}',
): { way: Way; why: string } | undefined {
  const isPort = new RegExp(`(?<!\\d)${port}(?!\\d)`);
  const fill = (word: string): string => word.replace(isPort, placeholder);
  const command = way.command.map(fill);
  if (way.command.some((word) => isPort.test(word)))
    return { way: { ...way, command }, why: `${placeholder} for ${port}: ${joinWords(command)}` };
  const listings = listingsOf(root, '');
  const own = Object.entries(way.env).map(([name, value]): Variable => ({ file: way.why, name, value }));
  const isItsPort = new RegExp(`^(?:[\\w.]*:)?${port}$`);
  const variables = [...own, ...variablesIn(listings)].filter(
    ({ name }) => name !== 'PORT' || name in way.env,
  );
  const found = variables.find(({ value }) => isItsPort.test(value));
  // Its default may stand elsewhere.
  const variable = found ?? variables.find(({ name, value }) => value === '' && OF_SERVER.test(name));
  if (variable !== undefined && !way.env[variable.name]?.includes(placeholder)) {
    const { name, value, file } = variable;
    const filled = fill(value) || placeholder;
    const why = `${name}=${filled}: ${file} ${value === '' ? 'reads it' : `sets it to ${value}`}`;
    return { way: { ...way, env: { ...way.env, [name]: filled } }, why };
  }
  // flag.String("listen", ":8080", …). Flags of Go take two hyphens as well as one; those of others only two.
  const option = new RegExp(
    `\\.(?:String|Int)(?:Var)?\\((?:&?[\\w.]+,\\s*)?"([\\w-]+)",\\s*"?([\\w.]*:)?${port}\\b`,
  );
  for (const { file, text } of listings) {
    const [, name, host = ''] = option.exec(text) ?? [];
    if (name === undefined || way.command.includes(`--${name}`)) continue;
    const words = [`--${name}`, `${host}${placeholder}`];
    return {
      way: { ...way, command: [...command, ...words] },
      why: `${words.join(' ')}: ${file} sets it to ${host}${port}`,
    };
  }
  return undefined;
}
