/** A run waits for the compilers of a server, for slow responses too, and says so if they never rest. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { readManifest } from 'bench-targets/catalogue/manifest';
import { runSync } from 'bench-machine/subprocess';
import { openRig, type Seen } from './rig.ts';

const SOURCE = fileURLToPath(new URL('../../planted/compiling/compiling.c', import.meta.url));
const rig = openRig();
const folder = mkdtempSync(join(tmpdir(), 'bench-compiling-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeAll(() => {
  runSync(['cc', '-O2', '-o', join(folder, 'compiling'), SOURCE, '-pthread']);
});

/** The CPU of a request when the compiler rests, in µs; until then it is three times as much. */
const REQUEST_US = 200;

/** The planted server: how long its responses wait, and for how long its compiler works. */
function measure(
  { waitMs = 50, compileSeconds }: { waitMs?: number; compileSeconds: number },
  fields: object = {},
): Promise<Seen> {
  const command = ['./compiling', '{host}', '{port}', ...[REQUEST_US, waitMs, compileSeconds].map(String)];
  const manifest = {
    name: 'compiling',
    language: 'c',
    framework: 'none',
    runtime: 'none',
    default: 'known',
    requests: [{ request: 'GET /' }],
    variants: { known: { command } },
    ...fields,
  };
  const file = join(folder, `stack-${compileSeconds}.json`);
  writeFileSync(file, JSON.stringify(manifest));
  const bench = ['--connections', '10', '--duration', '1', '--warmup', 'auto'];
  return rig.measure({ planted: 'known', stack: readManifest(file), bench });
}

function costOf({ trial }: Seen): number {
  return trial.status === 'failed' ? Number.NaN : (trial.measured.cpuUsPerRequest ?? Number.NaN);
}

const codesOf = ({ trial }: Seen): string[] => trial.reasons.map(({ code }) => code);

describe('a server whose compiler has a thread of its own', { concurrent: true }, () => {
  it('is loaded until that has rested for three seconds, through its pauses', async ({ expect }) => {
    const seen = await measure({ compileSeconds: 12 });
    // A pause ends a shorter one; part of the 12 s is over when the load begins.
    expect(seen.trial.warmupSeconds).toBeGreaterThan(8);
    expect(costOf(seen)).toBeLessThan(2 * REQUEST_US);
    expect(codesOf(seen)).not.toContain('compiling');
  });

  it('is loaded as long if each of its responses takes two seconds', async ({ expect }) => {
    const seen = await measure({ waitMs: 2000, compileSeconds: 20 });
    expect(seen.trial.warmupSeconds).toBeGreaterThan(6);
    expect(costOf(seen)).toBeLessThan(2 * REQUEST_US);
  }, 120_000);

  it('is measured if it never rests: its share is named, and no figure is taken away', async ({ expect }) => {
    const seen = await measure({ compileSeconds: -1 }, { warmupTimeoutSeconds: 6 });
    expect(seen.trial.warmupSeconds).toBeGreaterThan(5);
    expect(seen.trial.warmupSeconds).toBeLessThan(20);
    const found = seen.trial.reasons.find(({ code }) => code === 'compiling');
    expect(found?.text).toMatch(/^after [\d.]+ s of load, its compilers still used \d+ % of its CPU/);
    expect(found?.invalidates).toEqual([]);
  });
});
