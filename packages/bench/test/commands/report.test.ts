import { copyFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import REPORT from '../../src/commands/report.ts';
import { runHere } from '../cli/cli.ts';

const fixture = (path: string) =>
  fileURLToPath(new URL(`../../../bench-lab/testing/fixtures/${path}`, import.meta.url));

const report = (...words: string[]) => runHere(REPORT, [fixture('run'), ...words]);

describe('pnpm report', () => {
  it.each([
    ['markdown', /^\| target \|/m],
    ['json', /^\{\n {2}"run": /],
  ])('--%s prints that format', async (format, start) => {
    const { status, stdout } = await report(`--${format}`);
    expect(stdout).toMatch(start);
    expect(status).toBe(0);
  });
});

/** Copies the committed run without its trials into a folder of the current test, and returns it. */
function copyEmpty(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bench-report-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const file of ['run.json', 'host.json']) copyFileSync(fixture(`run/${file}`), join(folder, file));
  writeFileSync(join(folder, 'trials.jsonl'), '');
  return folder;
}

describe('pnpm report of a run without trials', () => {
  it.each([[[]], [['--time']], [['--markdown']], [['--open']]])(
    'says so instead of printing an empty table: %j',
    async (words) => {
      const { status, stdout, stderr } = await runHere(REPORT, [copyEmpty(), ...words]);
      expect(stderr).toMatch(/^error: run \S+ has no trials: it ended before the first one did\n/);
      expect(stderr).toMatch(/pnpm bench --resume \S+\n$/);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    },
  );

  it('prints its record for programs', async () => {
    const { status, stdout } = await runHere(REPORT, [copyEmpty(), '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ rows: [], trials: [] });
    expect(status).toBe(0);
  });
});

describe('pnpm report of a run that compares', () => {
  it('shows the verdicts of its comparisons', async () => {
    const run = fileURLToPath(
      new URL('../../../../results/published/20261123-130242-devices', import.meta.url),
    );
    const { stdout } = await runHere(REPORT, [run]);
    expect(stdout).toMatch(/against .+ +verdict: difference \(95 % interval\)/);
  });
});

describe('pnpm report --open', () => {
  it('takes a run', () => {
    expect(REPORT.parse(['latest', '--open'])).toMatchObject({ args: ['latest'], open: true });
  });
});

describe('pnpm report --site', () => {
  it('writes the reports of a folder of runs, and an index that shows them', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bench-site-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const place = join(folder, 'site');
    cpSync(fixture('run'), join(folder, 'runs/one'), { recursive: true });
    const { status, stderr } = await runHere(REPORT, [join(folder, 'runs'), '--site', place]);
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: expect.stringMatching(/site\/index\.html/) as string,
    });
    const [page = ''] = readdirSync(place).filter((file) => file !== 'index.html');
    const index = readFileSync(join(place, 'index.html'), 'utf8');
    expect(index).toContain(`<iframe src="${page}"`);
    expect(index).toMatch(/<h2><a href="[^"]+">\S+ .+<\/a><\/h2>/);
    expect(readFileSync(join(place, page), 'utf8')).toContain('Bench report');
  });
});
