import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import COMPARE, { compareStored } from '../../src/commands/compare.ts';
import { runHere } from '../cli/cli.ts';

const compare = (...runs: string[]) =>
  compareStored({ runs, force: false, question: { by: 'cpu', threshold: 0.02 } });

describe('two runs that differ', () => {
  it('in one factor are refused with the option that declares it', () => {
    expect(() => compare('20261123-202155-wait', '20261123-202329-wait')).toThrow(
      expect.objectContaining({
        message: 'the runs are unlike: engine: threads and aiohttp',
        hint: '--across engine declares that they may differ in this; --force compares anyway and marks the output',
      }),
    );
  });

  it('in anything else are refused with the way to force it', () => {
    expect(() => compare('20261123-202155-wait', '20261123-202600-asyncwait')).toThrow(
      expect.objectContaining({
        message: 'the runs are unlike: workload: wait and asyncwait',
        hint: '--force compares anyway and marks the output',
      }),
    );
  });
});

/** Published runs of one plan and the same code, on one day. */
const EQUAL = [
  '20261123-130242-devices',
  '20261123-185935-devices',
  '20261123-190629-devices',
  '20261123-191639-devices',
];

const PAIRS = EQUAL.flatMap((old, index) => EQUAL.slice(index + 1).map((now) => [old, now] as const));

describe('two runs of identical code', () => {
  it.each(PAIRS)('have ratios, but no verdict: %s and %s', async (old, now) => {
    const { status, stdout } = await runHere(COMPARE, [old, now]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/fastapi@3\.12 .* × \d\.\d{3}\s*$/m);
    expect(stdout).not.toMatch(/slower|faster|confidence/);
  });

  it('cannot fail a job: both sides must be in one run', async () => {
    const [old, now] = PAIRS[4]!;
    const { status, stderr } = await runHere(COMPARE, [old, now, '--fail-on', 'slower']);
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: [
        'error: --fail-on needs one run that holds both sides: two runs of different times have no verdict',
        `       measure both sides in one run: pnpm bench --rev main,HEAD --fail-on slower, or pnpm bench:ci`,
        '',
      ].join('\n'),
    });
  });
});

const PUBLISHED = fileURLToPath(new URL('../../../../results/published', import.meta.url));

describe('--fail-on', () => {
  it.each([
    ['faster', 1, '--fail-on: found faster\n'],
    ['faster,slower', 1, '--fail-on: found faster\n'],
    // The run has two that are slower, but not by their whole interval.
    ['slower', 0, ''],
  ])('%s ends with exit code %i', async (verdicts, status, stderr) => {
    const ended = await runHere(COMPARE, [EQUAL[0]!, '--fail-on', verdicts]);
    expect(ended.stdout).toMatch(/ slower: [^]* faster: /);
    expect(ended).toMatchObject({ status, stderr });
  });
});

/** Stores published runs of one plan as runs of an old version (O) and a new one (N), one on each day. */
function storeRepeats(order: string): { old: string; new: string } {
  const folder = mkdtempSync(join(tmpdir(), 'bench-repeats-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [at, side] of order.split('').entries()) {
    const to = join(folder, `run-${at}`);
    cpSync(join(PUBLISHED, EQUAL[at % EQUAL.length]!), to, { recursive: true });
    const edit = (name: string, change: (text: string) => string) =>
      writeFileSync(join(to, name), change(readFileSync(join(to, name), 'utf8')));
    edit('run.json', (text) => {
      const run = JSON.parse(text) as { plan: object; versions: object };
      const versions = { ...run.versions, 'fastapi@3.12': side };
      return JSON.stringify({ ...run, plan: { ...run.plan, run: `run-${at}` }, versions }, null, 2);
    });
    edit('trials.jsonl', (text) => text.replaceAll('2026-11-23T', `2026-12-0${at + 1}T`));
  }
  const last = (side: string) => join(folder, `run-${order.lastIndexOf(side)}`);
  return { old: last('O'), new: last('N') };
}

describe('two plans with repeats', () => {
  it('have an interval from pairs of neighbours in time, and say what it rests on', async () => {
    const runs = storeRepeats('ONNOON');
    const { stdout } = await runHere(COMPARE, [runs.old, runs.new]);
    expect(stdout).toMatch(/fastapi@3\.12 .* undecided: [+−]\d.* \(−\d+ % to \+\d+ %\)\s+3\s*$/m);
    expect(stdout).toContain(
      "the intervals are those of Student's t over pairs of neighbours in time, from 3 stored runs of the old plan and 3 of the new one",
    );
    const json = await runHere(COMPARE, [runs.old, runs.new, '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({ repeats: { old: 3, new: 3 } });
  });

  it('have none if all runs of one came before those of the other', async () => {
    const runs = storeRepeats('OOONNN');
    const { stdout } = await runHere(COMPARE, [runs.old, runs.new]);
    expect(stdout).toContain('no interval and no verdict');
    expect(stdout).toContain(
      'fewer than 3 pairs of neighbours in time: repeat them in turns with bench --again',
    );
    expect(stdout).not.toMatch(/slower|faster|undecided/);
  });
});
