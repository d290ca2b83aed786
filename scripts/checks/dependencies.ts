/** Checks the dependencies: that each has its reason, a licence that allows its use, and no pin that its registry warns of. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HOME } from 'bench-machine/home';
import { run, SubprocessError } from 'bench-machine/subprocess';
import { provideUv } from 'bench-targets/prepare/uv';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LIMIT = { cwd: ROOT, timeoutMs: 120_000 };

/** Licences that allow what this repository does with a package: use it, and bundle it into bench-http. */
const LICENCES = new Set(['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'Unlicense']);
/** Others, and why they are right. */
const ALSO: Readonly<Record<string, string>> = {
  'MPL-2.0': 'used unchanged, by tests alone',
  '(MIT AND Zlib)': 'both allow it',
};
/** The files whose pins come from PyPI. */
const PYTHON = ['python/dev-requirements.txt', 'python/constraints.txt'];

/** Lists the entries of the catalog in `pnpm-workspace.yaml` without a comment that says why they are there. */
export function listUnexplained(workspace: string): string[] {
  const [, catalog = ''] = workspace.split(/^catalog:$/m);
  const [entries = ''] = catalog.split(/^$/m);
  return entries
    .split('\n')
    .filter((line) => line.startsWith('  ') && !/ # \S+ \S+/.test(line))
    .map(
      (line) =>
        `pnpm-workspace.yaml:${line.split(': ')[0]?.replace(/^ */, ' ')}: say why it is there, after a #`,
    );
}

/** Lists the packages whose licence is not known to allow their use, from the report of pnpm by licence. */
export function listForbidden(byLicence: Readonly<Record<string, readonly { name: string }[]>>): string[] {
  return Object.entries(byLicence)
    .filter(([licence]) => !LICENCES.has(licence) && !Object.hasOwn(ALSO, licence))
    .flatMap(([licence, packages]) => packages.map(({ name }) => `${name}: its licence is ${licence}`));
}

/** Lists the advisories of malware in the report of `pnpm audit`. */
export function listMalware(report: string): string[] {
  const { advisories = {} } = JSON.parse(report === '' ? '{}' : report) as {
    advisories?: Record<string, { module_name: string; title: string; cwe?: unknown }>;
  };
  // CWE-506 is embedded malicious code.
  return Object.values(advisories)
    .filter(
      ({ title, cwe }) => /malware|malicious/i.test(title) || JSON.stringify(cwe ?? '').includes('CWE-506'),
    )
    .map(({ module_name: name, title }) => `${name}: ${title}`);
}

/** Lists the pins that PyPI has yanked, from what uv prints. */
export function listYanked(printed: string): string[] {
  return printed
    .split('\n')
    .flatMap((line) => (/is yanked/.test(line) ? [line.replace(/^warning: /, '')] : []));
}

/** Returns the output of a program, also if it fails. */
async function outputOf(argv: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  try {
    return await run(argv, LIMIT);
  } catch (error) {
    if (error instanceof SubprocessError) return error;
    throw error;
  }
}

async function yankedIn(file: string): Promise<string[]> {
  const uv = await provideUv(HOME.cache);
  const words = ['pip', 'compile', '--no-deps', '--no-annotate', '--quiet', '--output-file', '/dev/null'];
  return listYanked((await outputOf([uv, ...words, file])).stderr);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const pnpm = ['npx', '-y', 'pnpm@12'];
  const licences = await outputOf([...pnpm, '--recursive', 'licenses', 'list', '--json']);
  const byLicence = JSON.parse(licences.stdout) as Record<string, { name: string }[]>;
  if (process.argv.includes('--licences')) {
    for (const [licence, packages] of Object.entries(byLicence))
      process.stdout.write(
        `${licence}: ${packages
          .map(({ name }) => name)
          .toSorted()
          .join(', ')}\n`,
      );
  }
  const audit = await outputOf([...pnpm, 'audit', '--json']);
  const wrong = [
    ...listUnexplained(readFileSync(join(ROOT, 'pnpm-workspace.yaml'), 'utf8')),
    ...listForbidden(byLicence),
    ...listMalware(audit.stdout.trim()),
    ...(await Promise.all(PYTHON.map(yankedIn))).flat(),
  ];
  process.stdout.write(wrong.map((line) => `${line}\n`).join(''));
  process.exitCode = wrong.length > 0 ? 1 : 0;
}
