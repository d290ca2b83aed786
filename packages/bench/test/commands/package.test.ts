import {
  copyFileSync,
  globSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'rolldown/utils';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runSync, SubprocessError } from 'bench-machine/subprocess';
import type { Trial } from 'bench-model/record';
import { Installed } from '../../../bench-lab/testing/packed.ts';

const { version: VERSION } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { version: string };
const MODULES = fileURLToPath(new URL('../../../../node_modules', import.meta.url));

/** Returns the files of a package. */
function treeOf(folder: string): string[] {
  return globSync('**/*', { cwd: folder, exclude: ['node_modules'] }).toSorted();
}

/** Checks the types of a project, and returns what the compiler prints. */
function check(folder: string): { stdout: string; stderr: string } {
  try {
    return runSync([join(MODULES, '.bin', 'tsc'), '--singleThreaded', '--pretty', 'false', '-p', folder]);
  } catch (error) {
    if (!(error instanceof SubprocessError) || error.stdout === '') throw error;
    return error;
  }
}

/** A program that uses the package. `@ts-expect-error` fails the check if the next line has no error. */
const CONSUMER = `
import { bench, compare, BenchError, type BenchResult, type StoredComparison, type Trial } from 'bench-http';

export async function measure(): Promise<string[]> {
  const lines: string[] = [];
  const result: BenchResult = await bench({ apps: [{ folder: '.', run: 'node a.js' }], userRequests: { requests: [{ method: 'GET', path: '/' }], headers: {} }, matrix: { python: [], node: ['22'], packages: [] }, rounds: 2, log: (line) => lines.push(line) });
  const goodputs: number[] = result.trials.flatMap((trial: Trial) =>
    trial.status === 'failed' ? [] : [trial.measured.load.goodputPerSecond],
  );
  const comparison: StoredComparison = compare([result.run], { by: 'p99', threshold: 0.05 });
  const { compared } = comparison;
  if (compared.kind === 'within') {
    for (const row of compared.table.rows) {
      lines.push(row.candidate + row.comparison.verdict + String(row.comparison.ratio?.estimate.toFixed(3)));
    }
  }
  try {
    // @ts-expect-error no metric has this name
    compare('latest', { by: 'speed' });
  } catch (error) {
    if (error instanceof BenchError) lines.push(error.code, error.message, error.hint ?? '', String(error.exitCode));
  }
  return [...lines, ...goodputs.map(String), String(result.interrupted), result.leftOut[0]?.reason ?? ''];
}
`;

describe('the package', () => {
  let installed: Installed;

  beforeAll(async () => {
    installed = await Installed.create();
  });
  afterAll(() => installed[Symbol.dispose]());

  it('contains JavaScript, declarations and schemas, but no sources', () => {
    const files = globSync('**/*', { cwd: installed.package, exclude: ['node_modules'] });
    expect(files).toContain('bench-http.mjs');
    expect(files).toContain('dist/bench-model/schema/stack.schema.json');
    expect(files.filter((file) => /(?<!\.d)\.ts$/.test(file))).toEqual([]);
  });

  it('contains every program that its modules start', () => {
    const files = globSync('dist/**/*.js', { cwd: installed.package });
    const started = files.flatMap((file) => {
      const text = readFileSync(join(installed.package, file), 'utf8');
      const calls = text.matchAll(/programBeside\(import\.meta\.url, ["']([^"']+)["']\)/g);
      return [...calls].map(([, name = '']) => join(dirname(file), `${name}.js`));
    });
    expect(started.length).toBeGreaterThan(0);
    expect(started.filter((file) => !files.includes(file))).toEqual([]);
  });

  it('contains everything that is loaded into servers', () => {
    const hook = join('bench-targets', 'src', 'prepare', 'hook');
    const names = readdirSync(join(import.meta.dirname, '..', '..', '..', hook));
    const packed = readdirSync(join(installed.package, 'dist', hook));
    expect(names.filter((name) => name !== '__pycache__' && !packed.includes(name))).toEqual([]);
  });

  it('depends only on published versions, and names no registry', () => {
    const text = readFileSync(join(installed.package, 'package.json'), 'utf8');
    const { dependencies } = JSON.parse(text) as { dependencies: Record<string, string> };
    expect(Object.values(dependencies).filter((version) => !/^\d/.test(version))).toEqual([]);
    expect(Object.keys(dependencies).filter((name) => name.startsWith('@bench/'))).toEqual([]);
    expect(text).not.toMatch(/:\/\/|workspace:|catalog:/);
  });

  it('imports nothing from the workspace', () => {
    const files = globSync('dist/**/*.{js,d.ts}', { cwd: installed.package });
    expect(files.length).toBeGreaterThan(100);
    const wrong = files.filter((file) =>
      /['"]@bench\/|from ['"]\..*\.ts['"]/.test(readFileSync(join(installed.package, file), 'utf8')),
    );
    expect(wrong).toEqual([]);
  });

  it('is written in the language of the oldest Node that it runs on', () => {
    const { engines } = JSON.parse(readFileSync(join(installed.package, 'package.json'), 'utf8')) as {
      engines: { node: string };
    };
    const target = engines.node.replace('>=', 'node');
    const files = globSync('dist/**/*.js', { cwd: installed.package, exclude: ['dist/bench-report/page'] });
    const newer = files.filter((file) => {
      const code = readFileSync(join(installed.package, file), 'utf8');
      return transformSync(file, code, { target }).code !== transformSync(file, code).code;
    });
    expect(newer).toEqual([]);
  });

  it('starts in an empty folder without any stacks, and leaves nothing behind', () => {
    const folder = installed.makeProject('empty');
    expect(installed.run(folder, ['--version'])).toMatchObject({ status: 0, stdout: `${VERSION}\n` });
    expect(installed.run(folder, ['--help']).stdout).toMatch(/^ +compare +Compares versions of a service/m);
    const { status, stdout } = installed.run(folder, ['list']);
    expect(status).toBe(0);
    expect(stdout).not.toContain('fastify');
    const report = installed.run(folder, ['report', 'latest']);
    expect(report.status).toBe(2);
    expect(report.stderr).toBe(
      'error: .bench/results has no runs yet\n       bench-http bench creates one\n',
    );
    expect(globSync('**/*', { cwd: folder, exclude: [] })).toEqual([]);
  });

  it('names its documents where they are, and its commands as they are typed', () => {
    const folder = installed.makeProject('lost');
    const { status, stderr } = installed.run(folder, ['ci']);
    expect(status).toBe(2);
    const [, named = ''] = /^ +(\S+) shows a complete bench\.config\.json$/m.exec(stderr) ?? [];
    expect(readFileSync(named, 'utf8')).toContain('bench.config.json');
    expect(installed.run(folder, ['why', '--help']).stdout).toContain('Usage: bench-http why');
  });

  it("measures a user's app in a folder that contains nothing else", () => {
    const folder = installed.makeProject('shop');
    const server = [
      `if (process.env.DATABASE_URL === undefined) throw new Error('no database');`,
      `console.log(process.env.DATABASE_URL);`,
      `const { createServer } = require('node:http');`,
      `createServer((request, response) => response.end(request.url)).listen(process.env.PORT, process.env.HOST);`,
    ].join('\n');
    writeFileSync(join(folder, 'server.cjs'), server);
    const before = treeOf(installed.package);
    const app = ['--run', 'node server.cjs', '--get', '/items?limit=2'];
    const short = ['--rounds', '1', '--connections', '2', '--duration', '0.5', '--warmup', '0.2'];
    const { status, stdout, stderr } = installed.run(folder, [...app, ...short, '--json'], {
      DATABASE_URL: 'postgres://me:not-for-you@localhost/shop',
    });
    expect({ status, stderr }).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('trying shop: node server.cjs'),
    });
    const { trials } = JSON.parse(stdout) as { trials: Trial[] };
    expect(trials).toMatchObject([{ target: { id: 'shop', class: 'unknown', runtime: { kind: 'node' } } }]);
    expect(trials[0]?.process?.executable).toMatch(/node$/);
    expect(readFileSync(join(folder, '.bench', '.gitignore'), 'utf8')).toBe('*\n');
    expect(readFileSync(join(folder, 'server.cjs'), 'utf8')).toBe(server);
    expect(readdirSync(folder).toSorted()).toEqual(['.bench', 'server.cjs']);
    expect(treeOf(installed.package)).toEqual(before);
    const left = globSync('.bench/results/**/*', { cwd: folder, withFileTypes: true }).filter((one) =>
      one.isFile(),
    );
    expect(left.length).toBeGreaterThan(3);
    expect(left.map(({ name }) => name)).toContain('report.html');
    const texts = left.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'));
    expect([...texts, stdout, stderr].join('\n')).not.toContain('not-for-you');
    expect(installed.run(folder, ['report', 'latest']).stdout).toContain('shop: node server.cjs in .');
  });

  it("says immediately why a user's app does not start", () => {
    const folder = installed.makeProject('broken');
    writeFileSync(
      join(folder, 'server.cjs'),
      `console.log('reading the settings'); throw new Error('no settings');`,
    );
    const { status, stderr } = installed.run(folder, ['--run', 'node server.cjs', '--get', '/']);
    expect(status).toBe(1);
    expect(stderr).toContain('error: broken does not start: the server ended before it responded');
    expect(stderr).toContain('  command: node server.cjs\n');
    expect(stderr).toContain('  asked:   GET /\n');
    expect(stderr).toContain('  | reading the settings\n');
    expect(stderr).toContain('  | Error: no settings\n');
    expect(installed.run(folder, ['report', 'latest']).stderr).toContain('has no runs yet');
  });

  it('provides types to a program that imports it', () => {
    const folder = installed.makeProject('consumer');
    symlinkSync(join(installed.folder, 'tools', 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(folder, 'consumer.ts'), CONSUMER);
    const readme = readFileSync(join(installed.package, 'README.md'), 'utf8');
    const [, example = ''] = /```ts\n([^`]*)```/.exec(readme) ?? [];
    expect(example).toContain(`from 'bench-http'`);
    writeFileSync(join(folder, 'readme.ts'), example);
    // The declarations are checked as sources: to check them where they are would check those of all dependencies.
    for (const file of globSync('dist/**/*.d.ts', { cwd: installed.package })) {
      const copy = join(folder, 'declarations', file.replace(/\.d\.ts$/, '.ts'));
      mkdirSync(dirname(copy), { recursive: true });
      copyFileSync(join(installed.package, file), copy);
    }
    symlinkSync(join(installed.package, 'node_modules'), join(folder, 'declarations', 'node_modules'));
    const options = {
      module: 'nodenext',
      target: 'es2024',
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      // A project without @types/node can use it too.
      types: [],
    };
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: options, include: ['*.ts', 'declarations/dist'] }),
    );
    const { stdout, stderr } = check(folder);
    // A declaration may rename a parameter without use, a source may not.
    const errors = stdout.split('\n').filter((line) => line !== '' && !line.includes('error TS2842:'));
    expect({ errors, stderr }).toEqual({ errors: [], stderr: '' });
  });
});
