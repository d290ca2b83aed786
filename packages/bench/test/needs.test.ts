import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ROOT } from 'bench-targets/catalogue/stacks';
import { run, SubprocessError } from 'bench-machine/subprocess';
import { describeSkips, holdAgainst } from '../../bench-lab/testing/skips.ts';
import { inheritedByUser } from '../../bench-lab/testing/user.ts';

const VITEST = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
const nothing = mkdtempSync(join(tmpdir(), 'bench-needs-'));
afterAll(() => rmSync(nothing, { recursive: true }));

describe('a tool that is not on PATH', () => {
  it('skips the tests that need it, is named, and is an error under CI', async () => {
    const args = [VITEST, 'run', 'packages/bench-lab/test/known/engines.test.ts', '-t', '^wrk '];
    const env = { ...inheritedByUser(), PATH: nothing, CI: 'true' };
    const ended: unknown = await run([process.execPath, ...args], { cwd: ROOT, env }).catch(
      (error: unknown) => error,
    );
    if (!(ended instanceof SubprocessError)) throw new Error('it is no error');
    const output = ended.stdout + ended.stderr;
    expect(output).toContain(
      'Skipped, because something is missing here:\n  wrk is not on PATH, but needed to send the load (2 tests)',
    );
    expect(output).toContain('skipped, but not listed: wrk > ');
    expect(ended.status).toBe(1);
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
