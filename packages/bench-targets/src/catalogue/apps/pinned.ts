/** The version of its runtime that a user's project asks for. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_RUNTIMES } from '../runtimes.ts';

/** A version, and the file that asks for it. */
export interface Pinned {
  version: string;
  why: string;
}

/** A place that names a version, or a range of versions. */
interface Source {
  file: string;
  find: (text: string) => string | undefined;
}

/** The versions that Bench chooses from if the default is not in a range, best first. */
const VERSIONS = {
  python: ['3.14', '3.13', '3.12', '3.11', '3.10'],
  node: ['26', '24', '22', '20'],
};

/** A version or a range. Names such as `pypy3.10` and `lts/*` are neither. */
const RANGE = /^[\s\d.,|^~<>=!*xv]*\d[\s\d.,|^~<>=!*xv]*$/;

const firstLine = (text: string): string | undefined => text.trim().split('\n')[0];

/** The sources of each language, best first. */
const SOURCES: Record<'python' | 'node', Source[]> = {
  python: [
    { file: '.python-version', find: firstLine },
    {
      file: 'pyproject.toml',
      find: (text) => /^(?:requires-python|python)\s*=\s*["']([^"']+)["']/m.exec(text)?.[1],
    },
  ],
  node: [
    { file: '.nvmrc', find: firstLine },
    { file: '.node-version', find: firstLine },
    { file: 'package.json', find: (text) => /"engines"\s*:\s*\{[^}]*"node"\s*:\s*"([^"]+)"/.exec(text)?.[1] },
  ],
};

/** Returns the version that a project asks for; undefined if it asks for none, or the default fits a range. */
export function findPinned(root: string, kind: 'python' | 'node'): Pinned | undefined {
  for (const { file, find } of SOURCES[kind]) {
    const path = join(root, file);
    const asked = existsSync(path) ? find(readFileSync(path, 'utf8'))?.trim() : undefined;
    if (asked === undefined || !RANGE.test(asked)) continue;
    const why = `${file}: ${asked}`;
    const exact = (kind === 'python' ? /^(\d+\.\d+)(?:\.\d+)?$/ : /^v?(\d+)(?:\.\d+)*$/).exec(asked)?.[1];
    if (exact !== undefined) return { version: exact, why };
    if (fits(DEFAULT_RUNTIMES[kind] ?? '', asked)) return undefined;
    const version = VERSIONS[kind].find((one) => fits(one, asked));
    return version === undefined ? undefined : { version, why };
  }
  return undefined;
}

/** Returns true if a version is in a range such as `>=3.11,<3.13`, `^22.1` or `20.x || >=22`. */
function fits(version: string, range: string): boolean {
  return range.split('||').some((part) => {
    const limits = [...part.matchAll(/(\^|~=?|>=|<=|={1,3}|!=|>|<)?\s*v?(\d+(?:\.\d+)*)/g)];
    return limits.length > 0 && limits.every(([, sign = '', limit = '']) => keeps(version, sign, limit));
  });
}

/** Compares a version with a limit, by as many numbers as the version has: patch releases fit. */
function keeps(version: string, sign: string, limit: string): boolean {
  const own = version.split('.').map(Number);
  const asked = limit.split('.').map(Number);
  const order = own.map((part, index) => part - (asked[index] ?? 0)).find((one) => one !== 0) ?? 0;
  // `<3.13` excludes 3.13 itself, but `<22.5` leaves earlier releases of 22.
  const isPatch = asked.slice(own.length).some((part) => part > 0);
  switch (sign) {
    case '>=':
    case '>':
      return order >= 0;
    case '<':
      return order < 0 || (order === 0 && isPatch);
    case '<=':
      return order <= 0;
    case '!=':
      return order !== 0 || isPatch;
    case '^':
    case '~=':
      // `~=3.11.2` and `^22.1` fix all but the last number that they leave open.
      return order >= 0 && (sign === '~=' && asked.length > 2 ? order === 0 : own[0] === asked[0]);
    default:
      return order === 0;
  }
}
