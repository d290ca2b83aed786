/** The releases of runtimes that were out on a day. Python: those that uv lists; the others: those that npm has. */
export const RELEASES = {
  asOf: '2026-11-26',
  /** The newest release of each line, newest line first. */
  python: ['3.15.2', '3.14.10', '3.13.18', '3.12.16', '3.11.18', '3.10.22'],
  node: ['26.12.1', '24.21.0', '22.23.3', '20.20.2'],
  bun: ['1.4.5'],
  deno: ['2.9.6'],
} as const;

/** The line of each language that runs what pins none. Python falls back to the second if that alone is here. */
export const USUAL_LINES = { python: ['3.14', '3.13'], node: ['26'] } as const;

/** The oldest line of Python whose makers support its build without the GIL. */
export const FREE_FROM = 14;

/** Returns the line of a version: 3.14 of Python 3.14.2, 26 of Node 26.10.0. */
function lineOf(kind: 'python' | 'node', version: string): string {
  return version.split('.', kind === 'python' ? 2 : 1).join('.');
}

/** Returns the known lines of a language, newest first: `3.15`, `26`. */
export function newestFirst(kind: 'python' | 'node'): string[] {
  return RELEASES[kind].map((version) => lineOf(kind, version));
}

/** Returns the lines of Python since the newest one of a day, oldest first: each October has a new one (PEP 602). */
export function pythonsSince(day: string): string[] {
  const [year = 0, month = 0] = day.split('-').map(Number);
  const newest = Number(RELEASES.python[0].split('.')[1]);
  const first = Math.min(newest, year - (month < 10 ? 2012 : 2011));
  return Array.from({ length: newest - first + 1 }, (_, index) => `3.${first + index}`);
}

/** Returns the lines that Bench chooses from, best first: the usual one, older ones, and newer ones last. */
export function bestFirst(kind: 'python' | 'node'): string[] {
  const lines = newestFirst(kind);
  const usual = lines.indexOf(USUAL_LINES[kind][0]);
  return [...lines.slice(usual), ...lines.slice(0, usual).toReversed()];
}

/** Orders versions such as 3.9.1 and 3.14.0 by their numbers, as `Array.sort` does. */
export function compareVersions(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

/** Returns the release that is newer than a version: of its line, or for Bun and Deno of any; undefined if none is known. */
export function newerRelease(
  program: 'python' | 'node' | 'bun' | 'deno',
  version: string,
): string | undefined {
  const isOne = program === 'bun' || program === 'deno';
  const known = RELEASES[program].find((one) => isOne || lineOf(program, one) === lineOf(program, version));
  return known !== undefined && compareVersions(known, version) > 0 ? known : undefined;
}
