/** The variables that a project names: in its settings, its compose files and its sources. Changes no file. */
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { lineAt } from '../json-file.ts';
import { filesIn, readText } from './files.ts';
import type { Way } from './ways/way.ts';
import { joinWords } from '../projects/words.ts';

/** Files that show which variables a server needs. */
const EXAMPLE = /^(\.?env([.-]\w+)?[.-](example|sample|dist|template)|\.?(example|sample)[.-]env)$/;
const SETTINGS = /^\.env(\.(local|development))?$|^(docker-)?compose(\.\w+)?\.ya?ml$/;
/** `NAME=value` and `NAME: value`, after the dash of a list. Blanks and comments end a value. */
const ASSIGNED = /^[ \t]*(?:-\s*)?(?:export\s+)?["']?([A-Za-z_]\w*)["']?[ \t]*[=:][ \t]*["']?([^"'\s]*)/gm;

const SOURCES = '**/*.{py,js,mjs,cjs,ts,mts,go,rs,rb,php,cs,prisma}';
/** A variable as sources read it, and its default if they have one. */
const READ =
  /(?:\bprocess\.env(?:\.|\[['"])|\bENV(?:\.fetch\(|\[)['"]|\b(?:environ|env)(?:\.get\(|\[)\s*['"]|\b(?:\w*[Ee]nv\w*|env::var|config)\(\s*['"])(\w+)["']?!?\]?(?:(?:,\s*10)?\))?\s*(?:(?:\|\||\?\?|,|\?:|\bor\b)\s*(?:default\s*=\s*)?(?:['"]([^'"\n]*)['"]|(\d+)))?/g;
/** An option of a program in Go, and its default: `flag.String("listen", ":8080", …)`. */
const OPTION = /\.(?:String|Int)(?:Var)?\((?:&?[\w.]+,\s*)?"([\w-]+)",\s*"?([\w.]*:?\d+)\b/g;

/** A variable, or an option such as `--listen`, and the value that a file gives it; empty if it gives none. */
export interface Variable {
  /** Relative to the project. */
  file: string;
  name: string;
  value: string;
}

/** Returns the variables in the settings of a folder and of those above it in the project, and in its sources. */
export function variablesOf(root: string, folder: string): Variable[] {
  const parts = folder.split('/').filter((part) => part !== '');
  const places = parts.map((_, index) => join(root, ...parts.slice(0, parts.length - index)));
  const settings = [...places, root].flatMap((place) =>
    namesIn(place, SETTINGS, EXAMPLE).map((name) => relative(root, join(place, name))),
  );
  const read = (file: string, pattern: RegExp, prefix = ''): Variable[] =>
    [...readText(root, file).matchAll(pattern)].map(([, name = '', value = '', digits = '']) => ({
      file,
      name: prefix + name,
      value: value || digits,
    }));
  const sources = filesIn(join(root, folder), SOURCES).map((file) => join(folder, file));
  return [
    ...settings.flatMap((file) => read(file, ASSIGNED)),
    ...sources.flatMap((file) => [...read(file, READ), ...read(file, OPTION, '--')]),
  ];
}

function namesIn(folder: string, ...patterns: RegExp[]): string[] {
  const names = readdirSync(folder).toSorted();
  return names.filter((name) => patterns.some((pattern) => pattern.test(name)));
}

/** Returns each of these variables once: the first that has a value. */
export function firstOfEach(variables: readonly Variable[]): Variable[] {
  return [...Map.groupBy(variables, ({ name }) => name).values()].flatMap(
    (same) => same.find(({ value }) => value !== '') ?? same[0] ?? [],
  );
}

/** Returns the file of a project that shows which variables its server needs. */
export function findExample(root: string): string | undefined {
  return namesIn(root, EXAMPLE)[0];
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
  const command = way.command.map((word) => word.replace(isPort, placeholder));
  if (way.command.some((word) => isPort.test(word)))
    return { way: { ...way, command }, why: `${placeholder} for ${port}: ${joinWords(command)}` };
  const own = Object.entries(way.env).map(([name, value]): Variable => ({ file: way.why, name, value }));
  const variables = [...own, ...firstOfEach(variablesOf(root, ''))].filter(
    ({ name }) => name !== 'PORT' || name in way.env,
  );
  const isItsPort = new RegExp(`^(?:[\\w.]*:)?${port}$`);
  const found =
    variables.find(({ value }) => isItsPort.test(value)) ??
    // Its default may stand elsewhere.
    variables.find(({ name, value }) => value === '' && OF_SERVER.test(name));
  if (found === undefined || way.command.includes(found.name)) return undefined;
  const { name, value, file } = found;
  if (way.env[name]?.includes(placeholder) === true) return undefined;
  const filled = value.replace(isPort, placeholder) || placeholder;
  const why = `${file} ${value === '' ? 'reads it' : `sets it to ${value}`}`;
  return name.startsWith('-')
    ? { way: { ...way, command: [...command, name, filled] }, why: `${name} ${filled}: ${why}` }
    : { way: { ...way, env: { ...way.env, [name]: filled } }, why: `${name}=${filled}: ${why}` };
}
