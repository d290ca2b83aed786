import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, matchesGlob } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { findPrograms } from '../../../scripts/packing/programs.ts';
import { PAGE_SOURCES } from '../src/conduct/page.ts';
import { importsOf, type Import } from '../../bench-lab/testing/imports.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** A package imports only packages before it; the last two import what they need, and nothing imports them. */
const PACKAGES = [
  'bench-model',
  'bench-statistics',
  'bench-machine',
  'bench-targets',
  'bench-load',
  'bench-analysis',
  'bench-report',
  'bench',
  'bench-cluster',
  'bench-lab',
];

/** These analyse and show stored runs, without the code that measures. */
const READERS = ['bench-analysis', 'bench-report'];

/** Started as separate processes: the harness writes their command line, not a user. */
const PROGRAMS = findPrograms(join(ROOT, 'packages')).map((file) => `packages/${file}`);

/** The scripts of the HTML report and of the index over runs, which run in a browser. */
const PAGE = 'packages/bench-report/page';

const sources = globSync(`packages/{${PACKAGES.join(',')}}/src/**/*.ts`, { cwd: ROOT }).filter(
  (file) => !file.endsWith('.d.ts'),
);
const pages = globSync(`${PAGE}/**/*.ts`, { cwd: ROOT });
const imports = sources.flatMap((file) => importsOf(ROOT, file));

/** Definitions load TypeBox, which takes longer than a report. */
const DEFINING = new Set(
  imports.filter(({ to, erased }) => to === 'typebox' && !erased).map(({ from }) => from),
);

const packageOf = (file: string): string => file.split('/')[1] ?? '';
const isOurs = ({ to }: Import): boolean => sources.includes(to);
const show = (found: readonly Import[]): string[] => found.map(({ from, to }) => `${from} imports ${to}`);

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/** Returns the files that some load, and those that these load in turn, as far as `follows` says. */
function reached(from: readonly string[], follows: (found: Import) => boolean): Set<string> {
  const files = new Set(from);
  // The loop also visits the files that it adds to the set.
  for (const file of files) {
    for (const found of imports)
      if (found.from === file && follows(found) && isOurs(found)) files.add(found.to);
  }
  return files;
}

/** Returns the files that are loaded with one, without those that wait for the code that needs them. */
const loadedWith = (file: string): Set<string> =>
  reached([file], ({ erased, deferred }) => !erased && !deferred);

/** Returns the imports, those of types too, by which a file reaches itself; empty if there are none. */
function findCircle(): string[] {
  const finished = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): string[] => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (finished.has(file)) return [];
    path.push(file);
    for (const found of imports) {
      if (found.from !== file || found.deferred || !isOurs(found)) continue;
      const circle = visit(found.to);
      if (circle.length > 0) return circle;
    }
    path.pop();
    finished.add(file);
    return [];
  };
  return sources.map(visit).find((circle) => circle.length > 0) ?? [];
}

const measures = (file: string): boolean =>
  packageOf(file) === 'bench-load' || /^packages\/bench\/src\/(measure|services)\//.test(file);

describe('the architecture', () => {
  it('is checked on all imports of all source files', () => {
    expect(sources.length).toBeGreaterThan(200);
    expect(PACKAGES.filter((name) => !sources.some((file) => packageOf(file) === name))).toEqual([]);
    expect(show(imports.filter((found) => found.relative && !isOurs(found)))).toEqual([]);
    const ends = sources.map((file) => read(file).match(/^(?:import |\}).*from '.*;$/gm)?.length ?? 0);
    expect(imports.length).toBeGreaterThanOrEqual(ends.reduce((sum, count) => sum + count, 0));
  });

  it('lets a package import only earlier ones', () => {
    const wrong = imports.filter(isOurs).filter(({ from, to }) => {
      const [importing, imported] = [packageOf(from), packageOf(to)];
      return importing !== imported && PACKAGES.indexOf(imported) >= PACKAGES.indexOf(importing);
    });
    expect(show(wrong)).toEqual([]);
  });

  it('has nothing that reaches into another package past its exports', () => {
    const wrong = imports.filter(
      ({ from, to, relative }) => relative && packageOf(from) !== packageOf(to) && isOurs({ to } as Import),
    );
    expect(show(wrong)).toEqual([]);
  });

  it('exports only what others import', () => {
    const users = globSync(
      ['packages/*/{src,test,testing,planted,experiments,page}/**/*.ts', 'scripts/*.{ts,mjs}', '*.ts'],
      { cwd: ROOT },
    );
    const used = new Set(users.flatMap((file) => importsOf(ROOT, file).map(({ path }) => path)));
    const unused = PACKAGES.filter((name) => name !== 'bench').flatMap((name) => {
      const { exports } = JSON.parse(read(`packages/${name}/package.json`)) as {
        exports: Record<string, string>;
      };
      return Object.keys(exports)
        .map((key) => key.replace('.', name))
        .filter((key) => !used.has(key));
    });
    expect(unused).toEqual([]);
  });

  it('has no circle of imports, those of types included', () => {
    expect(findCircle()).toEqual([]);
  });

  it('lets analysis and reports run without the code that measures', () => {
    const readers = sources.filter((file) => READERS.includes(packageOf(file)));
    const wrong = [...reached(readers, () => true)].filter((file) => packageOf(file) === 'bench-load');
    expect(wrong).toEqual([]);
  });

  it('keeps the definitions out of commands that only read', () => {
    const readers = sources.filter((file) => READERS.includes(packageOf(file)) && !DEFINING.has(file));
    const found = [...reached(readers, ({ erased, deferred }) => !erased && !deferred)];
    expect(found.filter((file) => DEFINING.has(file))).toEqual([]);
  });

  it('lets the pages run only what needs no Node', () => {
    const shared = pages
      .flatMap((file) => importsOf(ROOT, file))
      .filter(({ to, erased }) => sources.includes(to) && !erased)
      .map(({ to }) => to);
    const running = [...reached(shared, ({ erased }) => !erased)];
    expect(running.length).toBeGreaterThan(3);
    const foreign = imports.filter(
      ({ from, to, erased }) => running.includes(from) && !erased && !sources.includes(to),
    );
    expect(show(foreign)).toEqual([]);
    // A bundle is made again when any of these has changed.
    expect(running.filter((file) => !PAGE_SOURCES.some((pattern) => matchesGlob(file, pattern)))).toEqual([]);
  });

  it('explains pnpm bench, and plans it, without the code that measures', () => {
    for (const step of ['commands/bench', 'conduct/request', 'conduct/dry'])
      expect([...loadedWith(`packages/bench/src/${step}.ts`)].filter(measures)).toEqual([]);
    const planning = /^packages\/(bench\/src\/plan\/plan|bench-analysis\/.*)\.ts$/;
    expect(
      [...loadedWith('packages/bench/src/commands/bench.ts')].filter((file) => planning.test(file)),
    ).toEqual([]);
  });

  it('defines small arithmetic once', () => {
    const defining = sources.filter((file) =>
      /^(?:export )?function (?:sum|mean|median|medianOf|middle|clamp)\(/m.test(read(file)),
    );
    expect(defining).toEqual(['packages/bench-statistics/src/numbers.ts']);
  });

  it('leaves the command line and the exit code to the scripts', () => {
    expect(PROGRAMS).toContain('packages/bench-load/src/generator.ts');
    const reading = sources.filter((file) => /process\.(argv|exitCode)|parseArgs\(\)/.test(read(file)));
    const wrong = reading.filter((file) => !PROGRAMS.includes(file));
    expect(wrong, 'they read the command line, and nothing starts them by programBeside').toEqual([]);
  });
});

/** Files that users write: a README names them, and no folder here must have one. */
const WRITTEN_BY_USERS = ['bench.config.json', 'stack.json'];
const FILE_OR_FOLDER = /`([\w.-]+(?:\/[\w.-]+)*(?:\.(?:[cm]?[jt]s|py|c|css|html|json)|\/))`/g;

/**
 * Returns the files and folders that a README names in backticks or links to, but that do not exist. They are in its folder or
 * below it, or in a folder or a package that the same paragraph names.
 */
function listMissing(readme: string): string[] {
  const folder = dirname(readme);
  const [own = ''] = /^packages\/[^/]+/.exec(folder) ?? [];
  const bases = [folder, own, `${own}/src`, '.', 'packages'];
  return read(readme)
    .split(/\n{2,}/)
    .flatMap((paragraph) => {
      const names = [...paragraph.matchAll(FILE_OR_FOLDER)].map(([, name = '']) => name);
      const links = [...paragraph.matchAll(/\]\((?!\w+:)([^)#]+)/g)].map(([, path = '']) => path);
      const packages = PACKAGES.filter((name) => paragraph.includes(name === 'bench' ? '`bench`' : name));
      const below = [
        folder,
        ...names
          .filter((name) => name.endsWith('/'))
          .flatMap((name) => bases.map((base) => join(base, name))),
        ...packages.flatMap((name) => ['src', 'test', 'schema'].map((part) => `packages/${name}/${part}`)),
      ];
      const isThere = (name: string): boolean =>
        WRITTEN_BY_USERS.includes(name) ||
        bases.some((base) => existsSync(join(ROOT, base, name))) ||
        globSync(
          below.map((base) => `${base}/**/${name}`),
          { cwd: ROOT, exclude: ['**/node_modules'] },
        ).length > 0;
      const missing = [
        ...names.filter((name) => !isThere(name)),
        ...links.filter((path) => !existsSync(join(ROOT, folder, path))),
      ];
      return missing.map((name) => `${readme}: ${name}`);
    });
}

describe('the files', () => {
  it('that READMEs of folders name exist', () => {
    const readmes = globSync('packages/bench*/**/README.md', { cwd: ROOT, exclude: ['**/node_modules'] });
    expect(readmes.length).toBeGreaterThan(20);
    expect(readmes.toSorted().flatMap(listMissing)).toEqual([]);
  });

  it('that lock versions name no registry', () => {
    const locks = [
      'pnpm-lock.yaml',
      ...globSync(['python/{*/requirements,*requirements}.txt', 'packages/*/go.{mod,sum}'], { cwd: ROOT }),
    ];
    expect(locks.length).toBeGreaterThanOrEqual(5);
    const named = locks.flatMap((file) =>
      readFileSync(join(ROOT, file), 'utf8')
        .split('\n')
        .map((line, index) => `${file}:${index + 1}: ${line.trim()}`)
        .filter((line) =>
          /\w:\/\/|--(?:extra-)?index-url|--find-links|\btarball:|registry\.|pypi\.org/.test(line),
        ),
    );
    expect(named).toEqual([]);
  });
});
