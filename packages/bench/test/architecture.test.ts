import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { importsOf, type Import } from './imports.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const SOURCE = join(ROOT, 'packages/bench/src');

/** A room imports only rooms before it. Only commands and the scripts import cli. */
const ROOMS = [
  'model',
  'catalogue',
  'plan',
  'machine',
  'prepare',
  'services',
  'load',
  'resources',
  'judge',
  'measure',
  'results',
  'analyse',
  'report',
  'cli',
  'commands',
];

/** The rooms that touch the machine while something is measured. */
const MEASURING = ['machine', 'prepare', 'services', 'load', 'resources', 'judge', 'measure'];

/** Files that every room may import. */
const FOUNDATIONS = [
  'numbers.ts',
  'histogram.ts',
  'random.ts',
  'change-points.ts',
  'steadiness.ts',
  'growth.ts',
  'time-report.ts',
  'nearest.ts',
  'redact.ts',
  'home.ts',
  'disposal.ts',
  'json-schema.ts',
];

/** The rooms that analyse and show stored runs, without the code that measures. */
const READERS = ['analyse', 'report'];

/** Started as separate processes: the harness writes their command line, not a user. */
const PROGRAMS = ['load/rival-plain.ts', 'load/rival-stock.ts', 'load/stock.ts'];

/** The scripts of the HTML report and of the index over runs, which run in a browser, and the files that they share with the other reports. */
const PAGE = join(ROOT, 'packages/bench/page');
const SHARED_WITH_PAGE = [
  'model/counts.ts',
  'model/metrics.ts',
  'numbers.ts',
  'report/cells.ts',
  'report/format.ts',
  'report/knee.ts',
  'report/site/changes.ts',
];

const sources = globSync('**/*.ts', { cwd: SOURCE }).filter((file) => !file.endsWith('.d.ts'));
const imports = sources.flatMap((file) => importsOf(SOURCE, file));

function read(file: string): string {
  return readFileSync(join(SOURCE, file), 'utf8');
}

/** Definitions load TypeBox, which takes longer than a report. */
const DEFINING = new Set(
  imports.filter(({ to, erased }) => to === 'typebox' && !erased).map(({ from }) => from),
);

function isOurs({ to }: Import): boolean {
  return sources.includes(to);
}

/** The room of a file, or undefined for a foundation. */
function roomOf(file: string): string | undefined {
  if (FOUNDATIONS.includes(file)) return undefined;
  return file.split('/')[0];
}

/** The judges of companions: pure, and needed to read a stored run. */
const JUDGES = /^services\/(judges?|\w+\/judge)\.ts$/;

/** Checks if a file starts, loads or samples servers. */
function measures(file: string): boolean {
  return ['services', 'load', 'resources', 'measure'].includes(roomOf(file) ?? '') && !JUDGES.test(file);
}

function importedBy(file: string): string[] {
  return imports.filter(({ from }) => from === file).map(({ to }) => to);
}

/** The files that run when something stored is analysed or reported. A definition runs only if another file imports it. */
function reachedByReaders(): Set<string> {
  const running = imports.filter((found) => isOurs(found) && !found.erased);
  const reached = new Set(
    sources.filter((file) => READERS.includes(roomOf(file) ?? '') && !DEFINING.has(file)),
  );
  // The loop also visits the files that it adds to the set.
  for (const file of reached) {
    for (const { to } of running.filter(({ from }) => from === file)) reached.add(to);
  }
  return reached;
}

/** The files that are loaded with this one, without those that wait for the code that needs them. */
function loadedWith(file: string): Set<string> {
  const reached = new Set([file]);
  // The loop also visits the files that it adds to the set.
  for (const from of reached) {
    const found = imports.filter((one) => one.from === from && !one.erased && !one.deferred);
    for (const { to } of found) reached.add(to);
  }
  return reached;
}

/** Returns the imports that lie on a circle, or between two. */
function listCircular(): Import[] {
  let left = imports.filter(isOurs);
  for (;;) {
    const [from, to] = [new Set(left.map((one) => one.from)), new Set(left.map((one) => one.to))];
    const kept = left.filter((one) => to.has(one.from) && from.has(one.to));
    if (kept.length === left.length) return kept;
    left = kept;
  }
}

function show(found: readonly Import[]): string[] {
  return found.map(({ from, to }) => `${from} imports ${to}`);
}

describe('the architecture', () => {
  it('is checked on all imports of all source files', () => {
    expect(sources.length).toBeGreaterThan(40);
    expect(show(imports.filter((found) => found.relative && !isOurs(found)))).toEqual([]);
    const ends = sources.map((file) => read(file).match(/^(?:import |\}).*from '.*;$/gm)?.length ?? 0);
    expect(imports.length).toBeGreaterThanOrEqual(ends.reduce((sum, count) => sum + count, 0));
  });

  it('has a room for every file', () => {
    const rooms = sources.map(roomOf).filter((room) => room !== undefined);
    expect([...new Set(rooms)].filter((room) => !ROOMS.includes(room))).toEqual([]);
  });

  it('lets a room import only earlier rooms', () => {
    const wrong = imports.filter(isOurs).filter(({ from, to }) => {
      const [source, target] = [roomOf(from), roomOf(to)];
      if (target === undefined || target === 'model') return false;
      return source === undefined || ROOMS.indexOf(target) > ROOMS.indexOf(source);
    });
    expect(show(wrong)).toEqual([]);
  });

  it('keeps the syntax of the command line in cli, which only commands and the scripts import', () => {
    const importers = imports.filter(
      ({ from, to }) => roomOf(to) === 'cli' && !['cli', 'commands'].includes(roomOf(from) ?? ''),
    );
    expect(show(importers)).toEqual([]);
    const running = imports.filter(
      ({ from, to, erased }) =>
        roomOf(from) === 'cli' && !erased && ['measure', 'results', 'report'].includes(roomOf(to) ?? ''),
    );
    expect(show(running)).toEqual([]);
  });

  it('has no circle of imports, types included', () => {
    expect(show(listCircular())).toEqual([]);
  });

  it('lets the model import nothing of ours', () => {
    const model = imports.filter((found) => roomOf(found.from) === 'model');
    expect(show(model.filter((found) => isOurs(found) && roomOf(found.to) !== 'model'))).toEqual([]);
    expect(new Set(model.filter((found) => !isOurs(found)).map(({ to }) => to))).toEqual(
      new Set(['typebox']),
    );
    expect(importedBy('model/errors.ts')).toEqual([]);
  });

  it('lets the page of the HTML report run only what needs no Node', () => {
    const files = globSync('**/*.ts', { cwd: PAGE });
    const shared = files.flatMap((file) =>
      importsOf(PAGE, join(PAGE, file))
        .filter(({ to, erased }) => to.startsWith(SOURCE) && !erased)
        .map(({ to }) => to.slice(SOURCE.length + 1)),
    );
    expect(new Set(shared)).toEqual(new Set(SHARED_WITH_PAGE));
    const running = imports.filter(({ from, erased }) => SHARED_WITH_PAGE.includes(from) && !erased);
    expect(running.filter(({ to }) => !SHARED_WITH_PAGE.includes(to))).toEqual([]);
  });

  it('keeps the definitions out of commands that only read', () => {
    expect([...reachedByReaders()].filter((file) => DEFINING.has(file))).toEqual([]);
  });

  it('lets analyse and report run without the code that measures', () => {
    const direct = imports.filter(
      ({ from, to }) => READERS.includes(roomOf(from) ?? '') && MEASURING.includes(roomOf(to) ?? ''),
    );
    expect(show(direct)).toEqual([]);
    expect([...reachedByReaders()].filter((file) => MEASURING.includes(roomOf(file) ?? ''))).toEqual([]);
  });

  it('loads nothing that speaks to a cluster, or installs Ray, without --cluster', () => {
    const loaded = loadedWith('commands/outcome.ts');
    expect(loaded).toContain('load/fleet.ts');
    const cluster = [...loaded].filter((file) => /^load\/cluster\/|^catalogue\/cluster\/program/.test(file));
    expect(cluster).toEqual([]);
    expect(loadedWith('commands/cluster.ts')).toContain('load/cluster/program.ts');
  });

  it('explains pnpm bench, and plans it, without the code that measures', () => {
    for (const step of ['bench', 'request', 'dry'])
      expect([...loadedWith(`commands/${step}.ts`)].filter(measures)).toEqual([]);
    expect(
      [...loadedWith('commands/bench.ts')].filter((file) => /^(plan\/plan|analyse\/.*)\.ts$/.test(file)),
    ).toEqual([]);
  });

  it('defines small arithmetic once', () => {
    const defining = sources.filter((file) =>
      /^(?:export )?function (?:sum|mean|median|medianOf|middle|clamp)\(/m.test(read(file)),
    );
    expect(defining).toEqual(['numbers.ts']);
  });

  it('leaves the command line and the exit code to the scripts', () => {
    const wrong = sources.filter((file) => /process\.(argv|exitCode)|parseArgs\(\)/.test(read(file)));
    expect(wrong).toEqual(PROGRAMS);
  });
});

describe('the files', () => {
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
