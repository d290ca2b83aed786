/** The commands that the README of a project shows, and its shell scripts. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { filesIn, readText } from './files.ts';
import { NO_SERVER } from './listen.ts';
import type { Told } from './start.ts';

/** Lines that start a server, wherever they stand. */
const STARTS =
  /^(?:\w+=\S+\s+)*(?:(?:uv|poetry|pipenv|pdm)\s+run\s+)?(?:python3?\s+-m\s+)?(?:uvicorn\s|gunicorn\s|hypercorn\s|granian\s|daphne\s|waitress-serve\s|uwsgi\s|flask\s.*\brun\b|fastapi\s+run\b|litestar\s.*\brun\b|python3?\s+manage\.py\s+runserver|python3?\s+[\w/.-]+\.py\s*$|python3?\s+-m\s+[\w.]+\s*$|node\s+[\w/.-]+\s*$|npm\s+(?:run\s+)?start\b|[a-z][\w-]*\s+serve\b)/;

/** Returns the shell scripts that are named like a start. */
export function toldByShell(root: string, folder: string): Told[] {
  const files = filesIn(join(root, folder), '{,bin/,scripts/}{run,start,serve,server}.sh');
  return files.map((file) => ({ place: 'readme', folder, why: join(folder, file), line: ['sh', file] }));
}

/** Returns the lines of a README's code that start a server. */
export function toldByReadme(root: string, folder: string): Told[] {
  const place = join(root, folder);
  const name = readdirSync(place).find((one) => /^readme(\.(md|rst|txt))?$/i.test(one));
  if (name === undefined) return [];
  const lines = readText(place, name).split('\n');
  let isFenced = false;
  return lines.flatMap((text, index): Told[] => {
    if (/^\s*(```|~~~)/.test(text)) isFenced = !isFenced;
    if (!isFenced && !/^( {3,}|\t)/.test(text)) return [];
    const line = text
      .trim()
      .replace(/^[$>%]\s+/, '')
      .replace(/^\(\w+\)\s*\$\s*/, '');
    if (!STARTS.test(line) || /[`|<>]|path\/to|your[-_]/.test(line)) return [];
    const [, program = ''] = /\bpython3?\s+(?:-m\s+)?([\w/.-]+)\s*$/.exec(line) ?? [];
    if (NO_SERVER.test(program)) return [];
    return [{ place: 'readme', folder, why: `${join(folder, name)}:${index + 1}`, line }];
  });
}
