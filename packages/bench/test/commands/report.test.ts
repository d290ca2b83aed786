import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runReport } from '../../src/commands/report.ts';
import { runHere } from '../cli/cli.ts';

const fixture = (path: string) => fileURLToPath(new URL(`../fixtures/${path}`, import.meta.url));

const report = (...words: string[]) => runHere(runReport, [fixture('run'), ...words]);

describe('pnpm report --format', () => {
  it.each([
    ['markdown', /^\| target \|/m],
    ['json', /^\{\n {2}"schema": 4,/],
    ['csv', /^run,trial,started_at,/],
    ['bmf', /^\{\n {2}"devices: vanilla at 10 connections": \{/],
    ['gab', /^\[\n {2}\{\n {4}"name": "devices: vanilla at 10 connections, p50"/],
    ['gab-bigger', /^\[\n {2}\{\n {4}"name": "devices: fastify at 10 connections, goodput"/],
  ])('%s prints that format', async (format, start) => {
    const { status, stdout } = await report('--format', format);
    expect(stdout).toMatch(start);
    expect(status).toBe(0);
  });

  it('warns if a format leaves figures out, on stderr', async () => {
    const { stdout, stderr } = await report('--format', 'bmf');
    expect(stderr).toMatch(/^warning: \d+ of \d+ figures are left out: they are invalid or lower bounds\n$/);
    expect(JSON.parse(stdout)).toHaveProperty(['devices: fastify at 10 connections']);
  });

  it('json prints what --json prints', async () => {
    expect(await report('--format', 'json')).toEqual(await report('--json'));
  });

  it('markdown renders the ladder too', async () => {
    const { stdout } = await report('--ladder', '--format', 'markdown');
    expect(stdout).toMatch(/^\| connections \| goodput\/s \|/m);
  });
});

describe('pnpm report --time', () => {
  it('shows the reports of the run beside those of several files', async () => {
    const files = [fixture('time/gnu-exit-0.txt'), fixture('recheck/readme.md')];
    const { status, stdout } = await report('--time', ...files.flatMap((file) => ['--with', file]));
    expect(stdout).toContain('gnu-exit-0.txt #1');
    expect(stdout).toContain('readme.md #4');
    expect(stdout).toContain('0.89 s');
    expect(status).toBe(0);
  });

  it.each([
    ['missing.txt', 'missing.txt: cannot be read (ENOENT)'],
    [fixture('run/host.json'), 'no autocannon table and no time(1) report'],
  ])('refuses %s', async (file, words) => {
    const { status, stdout, stderr } = await report('--time', '--with', file);
    expect(stderr).toContain(words);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  });
});
