import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ROOT } from 'bench-targets/catalogue/stacks';
import { run, type SubprocessError } from 'bench-machine/subprocess';
import { describeSkips, holdAgainst } from '../../bench-lab/testing/skips.ts';
import { inheritedByUser } from '../../bench-lab/testing/user.ts';

const VITEST = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
/** An empty folder, for PATH. */
const nothing = mkdtempSync(join(tmpdir(), 'bench-needs-'));
afterAll(() => rmSync(nothing, { recursive: true }));

/** Runs the tests of an engine that has to be on PATH, with an empty PATH. */
function runBare(env: Record<string, string>): Promise<{ status: number | null; output: string }> {
  const args = [VITEST, 'run', 'packages/bench-lab/test/known/engines.test.ts', '-t', '^wrk '];
  const bare = { ...inheritedByUser(), PATH: nothing, ...env };
  return run([process.execPath, ...args], { cwd: ROOT, env: bare }).then(
    ({ stdout, stderr }) => ({ status: 0, output: stdout + stderr }),
    ({ status, stdout, stderr }: SubprocessError) => ({ status, output: stdout + stderr }),
  );
}

describe('a tool that is not on PATH', () => {
  it('skips the tests that need it, and is named', async () => {
    const { status, output } = await runBare({});
    expect(output).toContain(
      'Skipped, because something is missing here:\n  wrk is not on PATH, but needed to send the load (2 tests)',
    );
    expect(status).toBe(0);
  });

  it('is an error under CI', async () => {
    const { status, output } = await runBare({ CI: 'true' });
    expect(output).toContain('skipped, but not listed: wrk > ');
    expect(status).toBe(1);
  });
});

const always = (...names: string[]) => ({ always: names, sometimes: [] });

describe('the skips of a run', () => {
  const skipped = [
    { name: 'a', why: 'go is not on PATH' },
    { name: 'b', why: 'go is not on PATH' },
    { name: 'c', why: undefined },
  ];

  it('are grouped by what is missing, and omitted if nothing is', () => {
    expect(describeSkips(skipped)).toEqual([
      'Skipped, because something is missing here:',
      '  go is not on PATH (2 tests)',
    ]);
    expect(describeSkips(skipped.slice(2))).toEqual([]);
  });

  it('must be exactly those that are listed', () => {
    expect(holdAgainst(always('a', 'b', 'c'), skipped, true)).toEqual([]);
    expect(holdAgainst(always('a', 'd'), skipped, true)).toEqual([
      'packages/bench-lab/testing/skipped-under-ci.json:',
      '  skipped, but not listed: b',
      '  skipped, but not listed: c',
      '  listed, but not skipped: d',
    ]);
  });

  it('may be fewer where the pace of the machine decides', () => {
    const listed = { always: ['a', 'b'], sometimes: ['c', 'd'] };
    expect(holdAgainst(listed, skipped, true)).toEqual([]);
  });

  it('may be fewer than listed if only some files run', () => {
    expect(holdAgainst(always('a', 'b', 'd'), skipped, false)).toEqual([]);
    expect(holdAgainst(always('a'), skipped, false)).toEqual([
      'packages/bench-lab/testing/skipped-under-ci.json:',
      '  skipped, but not listed: b',
    ]);
  });
});
