import { cpSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readRun } from 'bench-analysis/results/store';
import type { RunFile } from 'bench-model/run';
import { forgetRun, isBegun, noteRun, refuseUnknown } from '../../src/conduct/begun.ts';
import { errorOf } from '../../../bench-lab/testing/samples.ts';

const GOLDEN = fileURLToPath(new URL('../../../bench-lab/testing/fixtures/run/', import.meta.url));

let place = '';
let folder = '';
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'bench-begun-'));
  folder = join(place, 'run');
  cpSync(GOLDEN, folder, { recursive: true });
  vi.stubEnv('BENCH_STATE', join(place, 'state'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(place, { recursive: true });
});

/** Changes `run.json`. */
function change(more: (run: RunFile) => object): void {
  const file = join(folder, 'run.json');
  const run = JSON.parse(readFileSync(file, 'utf8')) as RunFile;
  writeFileSync(file, JSON.stringify({ ...run, ...more(run) }));
}

const isKnown = (): boolean => isBegun(readRun(folder));

describe('a run that was begun here', () => {
  beforeEach(() => noteRun(folder));

  it('is known, also after it was stopped', () => {
    change(() => ({ stops: [2] }));
    expect(isKnown()).toBe(true);
    expect(() => refuseUnknown(readRun(folder), '--resume')).not.toThrow();
  });

  it.each([
    ['its plan has changed', () => change(({ plan }) => ({ plan: { ...plan, stacks: ['../stack.json'] } }))],
    [
      'it was copied over another',
      () => {
        rmSync(folder, { recursive: true });
        cpSync(GOLDEN, folder, { recursive: true });
        change(({ plan }) => ({ plan: { ...plan, seed: plan.seed + 1 } }));
      },
    ],
    [
      'it was moved',
      () => {
        renameSync(folder, join(place, 'moved'));
        folder = join(place, 'moved');
      },
    ],
    ['it was begun on another machine', () => vi.stubEnv('BENCH_STATE', join(place, 'other'))],
  ])('is not known if %s', (_what, spoil) => {
    spoil();
    expect(isKnown()).toBe(false);
  });

  it('is forgotten when it is removed', () => {
    forgetRun(folder);
    expect(isKnown()).toBe(false);
    expect(readdirSync(join(place, 'state', 'runs'))).toEqual([]);
  });
});

describe('a received run', () => {
  it('is refused in two sentences, with the command that was typed for it', () => {
    change(() => ({ typed: ['--run', "sh -c 'touch OWNED'"] }));
    expect(errorOf(() => refuseUnknown(readRun(folder), '--again'))).toMatchObject({
      code: 'usage',
      message: `${folder} is not a run that you began here, or its plan has changed since. --again does not execute it`,
      hint: `to read it: pnpm report ${folder}; to measure the same: pnpm bench --run 'sh -c '\\''touch OWNED'\\'''`,
    });
  });

  it('names no command if none was stored', () => {
    expect(errorOf(() => refuseUnknown(readRun(folder), 'why')).hint).toMatch(
      /; to measure the same: start a new run$/,
    );
  });
});
