import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readApp, toStack } from '../../../src/catalogue/projects/app.ts';
import { findLock, findProject } from '../../../src/catalogue/projects/project.ts';
import type { Stack } from 'bench-model/stack';
import { errorOf } from '../../../../bench-lab/testing/samples.ts';

function stackOf(folder: string, run: string): Stack {
  return toStack(readApp({ folder, run }));
}

describe("a user's app", () => {
  let place: string;

  beforeEach(() => {
    place = mkdtempSync(join(tmpdir(), 'bench-app-'));
  });
  afterEach(() => rmSync(place, { recursive: true, force: true }));

  /** Creates a project with these files, which are empty by default. */
  function makeProject(...files: (string | [name: string, text: string])[]): string {
    const folder = join(place, 'my Service_1');
    mkdirSync(folder, { recursive: true });
    for (const file of files) {
      const [name, text] = typeof file === 'string' ? [file, ''] : file;
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    return folder;
  }

  it('becomes a stack that attests nothing, with its address in the command and the environment', () => {
    const stack = stackOf(makeProject('requirements.txt'), 'A=1 uvicorn app:app --port {port}');
    expect(stack).toMatchObject({ name: 'my-service-1', runtime: 'python', framework: 'unknown' });
    const { app } = stack.variants;
    expect(app).toMatchObject({ class: 'unknown', attest: {}, workloads: [] });
    expect(app?.command).toEqual(['uvicorn', 'app:app', '--port', '{port}']);
    expect(app?.env).toEqual({ HOST: '{host}', PORT: '{port}', A: '1' });
  });

  it.each([
    [['uv.lock', 'pyproject.toml', 'requirements.txt'], 'uvicorn a:b', 'uv', 'uv.lock'],
    [['poetry.lock', 'pyproject.toml'], 'gunicorn a:b', 'poetry', 'poetry.lock'],
    [['requirements.txt', 'pyproject.toml'], 'python a.py', 'requirements', 'requirements.txt'],
    [['requirements-prod.txt'], 'python a.py', 'requirements', 'requirements-prod.txt'],
    [['pyproject.toml'], 'python3.12 -m a', 'pyproject', 'pyproject.toml'],
    [['pnpm-lock.yaml', 'package.json'], 'node a.js', 'pnpm', 'pnpm-lock.yaml'],
    [['package-lock.json', 'package.json'], 'node a.js', 'npm', 'package-lock.json'],
    [['yarn.lock', 'package.json'], 'tsx a.ts', 'yarn', 'yarn.lock'],
    [['pnpm-workspace.yaml', 'package.json'], 'node a.js', 'pnpm', 'pnpm-workspace.yaml'],
    [['package.json'], 'node a.js', 'package', 'package.json'],
  ])('uses the preferred lock or manifest of %s', (files, run, kind, file) => {
    const { project } = stackOf(
      makeProject(...files.map((name): [string, string] => [name, name.endsWith('.json') ? '{}' : ''])),
      run,
    );
    expect(project?.lock?.kind).toBe(kind);
    expect(basename(project?.lock?.file ?? '')).toBe(file);
  });

  it.each<[string, string, string, string?]>([
    ['uv.lock', 'pyproject.toml', '[[package]]\nsource = { virtual = "services/api" }\n'],
    ['uv.lock', 'pyproject.toml', '[[package]]\nsource = { editable = "services/api" }\n'],
    ['pnpm-lock.yaml', 'package.json', 'importers:\n\n  services/api:\n    dependencies: {}\n'],
    ['pnpm-workspace.yaml', 'package.json', 'packages: ["services/*", "!services/other"]\n'],
    ['package-lock.json', 'package.json', '{}', '{ "workspaces": ["services/*"] }'],
    ['yarn.lock', 'package.json', '# yarn lockfile v1\n', '{ "workspaces": ["services/*"] }'],
    ['package.json', 'package.json', '', '{ "workspaces": ["services/*"] }'],
  ])('finds the %s above that lists it beside its %s, and no other: %s', (lock, manifest, text, top) => {
    const root = makeProject([lock, text], ['package.json', top ?? '{}']);
    const member = (name: string): string => {
      const folder = join(root, 'services', name);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, manifest), manifest === 'package.json' ? '{}' : '');
      return folder;
    };
    const run = manifest === 'package.json' ? 'node a.js' : 'uvicorn a:b';
    const fileOf = (name: string): string | undefined => stackOf(member(name), run).project?.lock?.file;
    expect(fileOf('api')).toBe(join(root, lock));
    writeFileSync(join(root, 'package.json'), '{}');
    expect(fileOf('other')).toBe(join(root, 'services', 'other', manifest));
  });

  it('has no lock, and names pnpm, which installs it', () => {
    const folder = makeProject(['package.json', '{ "packageManager": "pnpm@10.4.1" }']);
    expect(findLock(folder, 'node')).toEqual({ kind: 'pnpm', file: join(folder, 'package.json') });
  });

  it('uses the lock that the user names', () => {
    const folder = makeProject('uv.lock', 'deploy/all.txt');
    const { lock } = findProject(folder, ['uvicorn'], { named: 'deploy/all.txt' });
    expect(lock).toEqual({ kind: 'requirements', file: join(folder, 'deploy', 'all.txt') });
  });

  it.each([
    ['does not exist', 'python', 'uv.lock', 'uv.lock: does not exist'],
    ['has an unknown format', 'python', 'a.toml', '--lock a.toml: not a lock of Python'],
    ['is for a binary', './serve', 'a.toml', 'runs on neither Python nor Node'],
  ])('rejects a named lock that %s', (_, program, named, problem) => {
    const folder = makeProject('a.toml');
    expect(errorOf(() => findProject(folder, [program], { named })).message).toContain(problem);
  });

  it.each([
    ['uv run uvicorn a:b', ['uvicorn', 'a:b']],
    ['poetry run gunicorn a:b', ['gunicorn', 'a:b']],
    ['uv run --env-file .env --frozen uvicorn a:b', ['uvicorn', 'a:b']],
    ['npx tsx a.ts', ['tsx', 'a.ts']],
    ['pnpm exec cross-env A=1 node a.js', ['node', 'a.js']],
    ['dotenv -e .env -- node a.js', ['dotenv', '-e', '.env', '--', 'node', 'a.js']],
  ])('starts its server directly instead of by a runner: %s', (run, command) => {
    expect(stackOf(makeProject(), run).variants['app']?.command).toEqual(command);
  });

  it('starts the script of package.json instead of npm', () => {
    const manifest = { scripts: { start: 'NODE_ENV=production node server.js', dev: 'node dev.js' } };
    const folder = makeProject(['package.json', JSON.stringify(manifest)]);
    const { app } = stackOf(folder, 'npm start -- --port {port}').variants;
    expect(app?.command).toEqual(['node', 'server.js', '--port', '{port}']);
    expect(app?.env).toMatchObject({ NODE_ENV: 'production', PORT: '{port}' });
    expect(stackOf(folder, 'yarn dev').variants['app']?.command).toEqual(['node', 'dev.js']);
  });

  it('infers its runtime from its command or its files, or has none', () => {
    expect(stackOf(makeProject('go.mod'), './server --port {port}').runtime).toBe('none');
    expect(stackOf(makeProject('go.mod'), 'serve').runtime).toBe('none');
    expect(stackOf(makeProject('requirements.txt'), 'serve').runtime).toBe('python');
    expect(stackOf(makeProject('requirements.txt', ['package.json', '{}']), 'node a.js').runtime).toBe(
      'node',
    );
  });

  it('uses the Python version that its project pins', () => {
    const folder = makeProject('requirements.txt', ['.python-version', '3.12.4\n']);
    expect(stackOf(folder, 'python a.py').project?.version).toBe('3.12');
  });

  it.each([
    ['a folder that does not exist', './nowhere', 'serve', './nowhere: not a folder'],
    ['an unknown placeholder', '', 'serve {prt}', 'unknown placeholder {prt}'],
    ['a secret', '', 'API_TOKEN=abc serve', '--run API_TOKEN=…: the plan is stored'],
    ['a password in a URL', '', 'DB=postgres://u:abc@h/d serve', '--run DB=…: the plan is stored'],
    ['two requirements files', '', 'python a.py', 'requirements-a.txt, requirements-b.txt'],
    ['a command that implies no language', 'both', 'serve', 'a project in both Python and Node'],
  ])('is rejected with %s', (_, folder, run, problem) => {
    const root = makeProject('requirements-a.txt', 'requirements-b.txt', 'a.toml');
    mkdirSync(join(root, 'both'));
    for (const name of ['package.json', 'requirements.txt']) writeFileSync(join(root, 'both', name), '{}');
    const error = errorOf(() => stackOf(folder.startsWith('.') ? folder : join(root, folder), run));
    expect(error.code).toBe('usage');
    expect(error.message).toContain(problem);
    expect(error.hint).toBeTruthy();
    expect(error.message).not.toContain('abc');
  });
});
