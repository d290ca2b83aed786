import { HOME } from 'bench-machine/home';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expandTargets, readStacks, spreadTargets } from 'bench-targets/catalogue/stacks';
import { BenchError } from 'bench-model/errors';
import { run } from 'bench-machine/subprocess';
import { prepareAll, type Prepared } from 'bench-targets/prepare/prepare';
import { openRig, reasonsOf } from '../../../bench-lab/test/known/rig.ts';
import { needs, target } from '../../../bench-lab/testing/needs.ts';

const rig = openRig();
const stacks = readStacks();
mkdirSync(HOME.cache, { recursive: true });
/** On the file system of the environments, where pnpm could link instead of copy. */
const place = mkdtempSync(join(HOME.cache, 'with-'));
const made: string[] = [];

afterAll(() => {
  for (const folder of [place, ...made]) rmSync(folder, { recursive: true, force: true });
});

/** Prepares a stack with `--with`. The test removes what it made. */
async function prepareWith(name: string, packages: string[]): ReturnType<typeof prepareAll> {
  const targets = expandTargets([name], stacks, 'devices');
  const found = await prepareAll(spreadTargets(targets, { python: [], node: [], packages }), stacks);
  for (const { command, stack } of found.prepared)
    made.push(dirname(dirname(stack.runtime === 'python' ? (command[0] ?? '') : stack.root)));
  return found;
}

/** Prepares a stack with `--with`, or throws a toolchain error. */
async function requireWith(name: string, packages: string[]): Promise<Prepared> {
  const { prepared, missing } = await prepareWith(name, packages);
  const [ready] = prepared;
  if (ready === undefined) throw new BenchError('toolchain', missing[0]?.reason ?? `${name} is missing`);
  return ready;
}

/** Writes a checkout that looks like Fastify until it has to listen. */
function fakeFastify(version: string, scripts: Record<string, string> = {}): string {
  const folder = join(place, `fastify-${version}`);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'fastify', version, scripts }));
  writeFileSync(
    join(folder, 'index.js'),
    'module.exports = () => ({ get() {}, all() {}, async listen() {} });\n',
  );
  return folder;
}

const NOTE = `node -e "fs.writeFileSync('${join(place, 'script-has-run')}', '')"`;

/** Returns the attestation of the server, which ends immediately because nothing listens. */
async function attestationOf({ command, stack }: Prepared): Promise<string> {
  const argv = command.map((word) =>
    word.replace('{host}', '127.0.0.1').replace('{port}', '0').replace('{workers}', '1'),
  );
  return (await run(argv, { cwd: stack.root })).stdout;
}

describe('a Node stack with checkouts in place of its framework', () => {
  let checkouts: string[];
  let prepared: Prepared[];

  beforeAll(async () => {
    const scripts = { preinstall: NOTE, install: NOTE, postinstall: NOTE, prepare: NOTE };
    checkouts = [fakeFastify('0.0.1'), fakeFastify('0.0.2', scripts)];
    ({ prepared } = await prepareWith('fastify', checkouts));
  }, 300_000);

  it('runs each from a separate copy, and attests which', async () => {
    expect(prepared.map(({ installed }) => installed)).toEqual([['fastify 0.0.1'], ['fastify 0.0.2']]);
    const told = await Promise.all(prepared.map(attestationOf));
    expect(told[0]).toContain('"framework":"fastify 0.0.1"');
    expect(told[1]).toContain('"framework":"fastify 0.0.2"');
  });

  it('runs no script of a checkout', () => {
    expect(existsSync(join(place, 'script-has-run'))).toBe(false);
  });

  it('is installed again only if the checkout was edited', async () => {
    const [folder = ''] = checkouts;
    const again = await prepareWith('fastify', [folder]);
    expect(again.prepared[0]).toEqual(prepared[0]);
    writeFileSync(join(folder, 'index.js'), `module.exports = () => { throw new Error('edited'); };\n`);
    const [edited] = (await prepareWith('fastify', [folder])).prepared;
    expect(edited?.stack.root).not.toBe(prepared[0]?.stack.root);
    expect(edited?.digest).not.toBe(prepared[0]?.digest);
    await expect(attestationOf(edited!)).rejects.toMatchObject({ stderr: expect.stringContaining('edited') });
    expect(await attestationOf(prepared[0]!)).toContain('"framework":"fastify 0.0.1"');
  });

  it('is refused for a stack that does not depend on the package', async () => {
    const { missing } = await prepareWith('vanilla', checkouts.slice(1));
    expect(missing.map(({ reason }) => reason)).toEqual(['vanilla does not depend on fastify']);
  });
});

describe('a Python stack with a checkout', () => {
  const folder = join(place, 'mine');
  const found = needs(() => {
    mkdirSync(folder);
    writeFileSync(join(folder, 'pyproject.toml'), '[project]\nname = "Bench.Mine"\nversion = "0.0.7"\n');
    writeFileSync(join(folder, 'bench_mine.py'), '');
    return requireWith('uvicorn/interpreted', [relative('', folder)]);
  });

  it('imports the checkout', async () => {
    const prepared = found.get();
    expect(prepared.installed).toEqual(['bench-mine 0.0.7']);
    const { stdout } = await run([
      prepared.command[0] ?? '',
      '-c',
      'import bench_mine; print(bench_mine.__file__)',
    ]);
    expect(stdout).toContain('.cache/environments/uvicorn-');
  });
});

describe('the environment of a Python variant', () => {
  const wanted = expandTargets(['uvicorn/interpreted-h11'], stacks, 'devices');
  const ready = needs(target(wanted[0]!, stacks));

  it('contains exactly the packages of its locks', async () => {
    const { stack, variant, command } = ready.get();
    const locks = ['requirements.txt', ...variant.groups.map((group) => `requirements-${group}.txt`)];
    const named = locks.flatMap((file) =>
      [...readFileSync(join(stack.root, file), 'utf8').matchAll(/^([\w.-]+)==/gm)].map(
        ([, name = '']) => name,
      ),
    );
    const list = 'import importlib.metadata as m; print(*(d.name for d in m.distributions()))';
    const { stdout } = await run([command[0] ?? '', '-c', list]);
    const installed = stdout.trim().split(' ');
    expect(installed.toSorted()).toEqual([...named, 'bench-contract', 'bench-uvicorn'].toSorted());
    expect(installed).not.toContain('httptools');
    // Its servers find all modules compiled.
    const modules = join(dirname(dirname(command[0] ?? '')), 'lib/python*/site-packages/{,bench_}uvicorn');
    expect(globSync(join(modules, '__pycache__/__init__.*.pyc'))).toHaveLength(2);
  });
});

describe('fastify with an earlier version of its framework', () => {
  needs(() => requireWith('fastify', ['fastify@5.1.0']));

  it('answers correctly, and attests that version', async () => {
    const seen = await rig.measure({
      planted: 'node',
      stack: stacks.find(({ name }) => name === 'fastify')!,
      bench: ['--with', 'fastify@5.1.0', '--connections', '10', '--amount', '500'],
    });
    expect(reasonsOf(seen)).toEqual([]);
    expect(seen.trial.target.id).toBe('fastify[fastify@5.1.0]');
    expect(seen.trial.attested).toEqual([expect.objectContaining({ framework: 'fastify 5.1.0' })]);
  });
});
