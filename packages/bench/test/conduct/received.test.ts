import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { readRun } from 'bench-analysis/results/store';
import { HOME } from 'bench-machine/home';
import { BenchError } from 'bench-model/errors';
import type { Plan } from 'bench-model/plan';
import { confirmReceived, sealRun } from '../../src/conduct/received.ts';

const GOLDEN = fileURLToPath(new URL('../../../bench-lab/testing/fixtures/run/', import.meta.url));
const APP = { name: 'shop', folder: '../shop', command: ['sh', '-c', 'rm -rf ~'], env: { MODE: 'x' } };

const place = mkdtempSync(join(tmpdir(), 'bench-received-'));
const folder = join(place, 'run');
const home = { ...HOME };
let printed = '';
beforeAll(() => void Object.assign(HOME, { cache: join(place, 'cache') }));
afterAll(() => {
  Object.assign(HOME, home);
  rmSync(place, { recursive: true });
});
beforeEach(() => {
  printed = '';
  cpSync(GOLDEN, folder, { recursive: true });
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    printed += String(text);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

/** Changes the plan of the run. */
function change(more: Partial<Plan>): void {
  const file = join(folder, 'run.json');
  const run = JSON.parse(readFileSync(file, 'utf8')) as { plan: Plan };
  writeFileSync(file, JSON.stringify({ ...run, plan: { ...run.plan, ...more } }));
}

const refusal = (): Promise<unknown> =>
  confirmReceived(readRun(folder), false).catch((error: unknown) => error);

describe('a received run', () => {
  it('lists what it would do, and is refused where nobody can be asked', async () => {
    change({ apps: [APP], stacks: ['../other/stack.json'] });
    const error = await refusal();
    expect(error).toBeInstanceOf(BenchError);
    expect(error).toMatchObject({ code: 'usage', hint: 'if you trust it, add --trust' });
    expect(printed).toContain('was not made by you on this machine. It would:\n');
    expect(printed).toContain("  execute in ../shop: MODE=x sh -c 'rm -rf ~'\n");
    expect(printed).toContain('  execute the commands in ../other/stack.json\n');
  });

  it('lists the packages, the addresses and the files that it would use', async () => {
    const { targets } = readRun(folder).plan;
    change({
      targets: targets.map((target) => ({ ...target, packages: ['evil==1.0'] })),
      attached: [{ target: targets[0]!.id, url: 'http://user:secret@example.org' }],
    });
    await refusal();
    expect(printed).toContain('  install evil==1.0\n');
    expect(printed).toMatch(/ {2}send requests to http:\/\/.*example\.org/);
    expect(printed).not.toContain('secret');
  });

  it('goes on if the user has agreed, and lists the same', async () => {
    change({ apps: [APP] });
    await confirmReceived(readRun(folder), true);
    expect(printed).toContain('execute in ../shop');
  });
});

describe('a run of this user', () => {
  it('is not asked about, until its plan changes or the cache is that of another user', async () => {
    sealRun(folder);
    change({ stops: [2] });
    await confirmReceived(readRun(folder), false);
    expect(printed).toBe('');
    change({ apps: [APP] });
    expect(await refusal()).toBeInstanceOf(BenchError);
    cpSync(join(GOLDEN, 'run.json'), join(folder, 'run.json'));
    await confirmReceived(readRun(folder), false);
    rmSync(HOME.cache, { recursive: true });
    expect(await refusal()).toBeInstanceOf(BenchError);
  });
});
