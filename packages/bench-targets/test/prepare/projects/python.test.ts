import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Lock, Stack, Variant } from 'bench-model/stack';
import { ROOT } from '../../../src/catalogue/stacks.ts';
import { run, type SubprocessError } from 'bench-machine/subprocess';
import { lockOf } from '../../../src/prepare/projects/locks.ts';
import { makeProjectEnvironment, venvArgs } from '../../../src/prepare/projects/python.ts';
import { errorOf, sampleStack } from '../../../../bench-lab/testing/samples.ts';

const place = mkdtempSync(join(tmpdir(), 'bench-python-'));
const root = join(place, 'api');
const bin = join(place, 'bin');
const log = join(place, 'uv.log');

afterAll(() => rmSync(place, { recursive: true }));

beforeEach(() => {
  for (const folder of [root, bin]) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
  }
  writeFileSync(log, '');
});

function script(name: string, text: string): string {
  const file = join(bin, name);
  writeFileSync(file, `#!/bin/sh\n${text}\n`);
  chmodSync(file, 0o755);
  return file;
}

const NOT_BUILT = `printf '%s\\n' 'error: Failed to build \`slow==1.2\`' '  cause: no compiler' >&2; exit 1`;

/** A uv for which `slow==1.2` has no wheel: it logs its arguments, and runs `build` to build from source. */
function fakeUv(build: string): string {
  return script(
    'uv',
    `echo "$*" >> ${log}
case "$*" in
  *--require-hashes*) ${build} ;;
  *list*) echo '[{ "name": "quick", "version": "3" }]' ;;
  venv*) mkdir -p ${place}/made ;;
esac`,
  );
}

function pythonStack(
  files: Record<string, string>,
  groups: string[] = [],
): { stack: Stack; variant: Variant } {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  const stack: Stack = { ...sampleStack('api', { one: { groups } }), runtime: 'python', root };
  return { stack, variant: stack.variants['one'] as Variant };
}

const LOCKED = { 'pyproject.toml': '[build-system]\n', 'requirements.txt': 'quick==3\nslow==1.2\n' };

async function make(build: string): ReturnType<typeof makeProjectEnvironment> {
  const { stack, variant } = pythonStack(LOCKED);
  const lock = lockOf(stack, variant) as Lock;
  const interpreter = { python: 'python3.14', version: '3.14.6', uv: fakeUv(build) };
  const folder = join(place, 'made');
  const spec = { target: 'api', root, lock, folder, packages: [], beside: [join(place, 'shared')] };
  return makeProjectEnvironment({ ...spec, ...interpreter }, () => {});
}

describe('the locks of a variant', () => {
  it('are that of its stack and one per group', () => {
    const { stack, variant } = pythonStack({ ...LOCKED, 'requirements-fast.txt': '' }, ['fast']);
    expect(lockOf(stack, variant)).toEqual({
      kind: 'hashed',
      file: join(root, 'requirements.txt'),
      groups: [join(root, 'requirements-fast.txt')],
    });
  });

  it('are required if there are dependencies', () => {
    const { stack, variant } = pythonStack({ 'pyproject.toml': '' });
    expect(errorOf(() => lockOf(stack, variant))).toMatchObject({
      code: 'toolchain',
      message: 'api has no requirements.txt: its dependencies are not locked',
      hint: 'lock them: uv pip compile --generate-hashes pyproject.toml -o requirements.txt',
    });
    const grouped = pythonStack(LOCKED, ['fast']);
    expect(errorOf(() => lockOf(grouped.stack, grouped.variant)).message).toContain('requirements-fast.txt');
    const ours = { ...stack, root: join(ROOT, 'python', 'contract') };
    expect(errorOf(() => lockOf(ours, variant)).hint).toBe('run python/lock.sh contract');
  });

  it('are empty for a stack without dependencies', () => {
    const { stack, variant } = pythonStack({});
    expect(lockOf(stack, variant)).toBeUndefined();
  });
});

describe('an environment', () => {
  it('is made with the interpreter behind a link, whose library is not beside the link', () => {
    const real = script('python3.14', '');
    const link = join(root, 'python3.14');
    symlinkSync(real, link);
    expect(venvArgs({ python: link, folder: 'made' })).toContain(realpathSync(real));
    expect(venvArgs({ python: 'python3.14', folder: 'made' })).toContain('python3.14');
  });

  it('of a stack is made from its hashed lists alone, with the stack and the packages beside it', async () => {
    mkdirSync(join(place, 'shared'), { recursive: true });
    expect(await make('')).toEqual({ packages: ['quick==3'], changed: [] });
    const steps = readFileSync(log, 'utf8').split('\n');
    expect(steps[1]).toMatch(/^pip install .*-r \S+\/requirements\.txt --no-deps --require-hashes$/);
    expect(steps[2]).toMatch(/^pip install .*--no-deps \S+\/itself\/shared \S+\/itself\/api$/);
  });

  it('that cannot be created causes an error with the package and what can be done', async () => {
    await expect(make(NOT_BUILT)).rejects.toMatchObject({
      code: 'toolchain',
      message: 'slow 1.2 of api has no wheel for Python 3.14.6 and could not be built: cause: no compiler',
      hint: expect.stringContaining('a newer version with --with'),
    });
  });

  it('that cannot be created causes an error with the first one of a compiler', async () => {
    const compiler = `printf '%s\\n' 'error: Failed to build \`slow==1.2\`' 'a.c:1:2: error: no' 'error: Command gcc -c' >&2; exit 1`;
    const message =
      'slow 1.2 of api has no wheel for Python 3.14.6 and could not be built: a.c:1:2: error: no';
    await expect(make(compiler)).rejects.toMatchObject({ message });
  });
});

describe('python/lock.sh', () => {
  const python = join(place, 'python');
  const PROJECT = 'requires-python = ">=3.12"\n';

  /** Locks one stack with a uv that resolves it to these lines. */
  async function lock(lines: string, path: string): Promise<string> {
    rmSync(python, { recursive: true, force: true });
    mkdirSync(join(python, 'quart'), { recursive: true });
    mkdirSync(join(python, 'clients'));
    cpSync(join(ROOT, 'python', 'lock.sh'), join(python, 'lock.sh'));
    writeFileSync(join(python, 'quart', 'stack.json'), '{}');
    for (const stack of ['quart', 'clients']) writeFileSync(join(python, stack, 'pyproject.toml'), PROJECT);
    const uv = join(place, '.cache', 'tools', 'uv-1', 'bin');
    mkdirSync(uv, { recursive: true });
    cpSync(
      script(
        'uv',
        `echo "$*" >> ${log}\nprintf '%s' '${lines}' > "$(echo "$*" | sed 's/.*--output-file \\([^ ]*\\).*/\\1/')"`,
      ),
      join(uv, 'uv'),
    );
    return run(['sh', 'lock.sh', 'quart'], { cwd: python, env: { PATH: path } }).then(
      () => '',
      ({ stderr }: SubprocessError) => stderr,
    );
  }

  it('finds the uv that the harness fetched', async () => {
    expect(await lock('quart==0.23\n', '/usr/bin:/bin')).toBe('');
    expect(readFileSync(join(python, 'quart', 'requirements.txt'), 'utf8')).toBe('quart==0.23\n');
    // Resolved for the oldest Python that the stack supports.
    expect(readFileSync(log, 'utf8')).toMatch(/compile .*--python-version 3\.12 .*requirements\.txt/);
  });

  it('refuses two versions of a package for two interpreters', async () => {
    const fork = 'quart==0.22 ; python_full_version < "3.13"\nquart==0.23 ; python_full_version >= "3.13"\n';
    const told = await lock(fork, '/usr/bin:/bin');
    expect(told).toContain(
      'lock.sh: quart would run on more than one version of quart, depending on the interpreter:',
    );
    expect(told).toContain('  quart==0.22 ; python_full_version < "3.13"\n');
    expect(told).toContain('Pin one version that suits every interpreter in python/constraints.txt');
    expect(existsSync(join(python, 'quart', 'requirements.txt'))).toBe(false);
  });
});
