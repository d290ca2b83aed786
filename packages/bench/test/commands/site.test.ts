import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import report from '../../src/commands/report.ts';
import { writeSite } from '../../src/conduct/site.ts';
import type { Site } from 'bench-report/site/data';
import { runHere } from '../cli/cli.ts';

const fixture = (path: string) =>
  fileURLToPath(new URL(`../../../bench-lab/testing/fixtures/${path}`, import.meta.url));

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-site-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const results = () => join(folder, 'results');
const site = () => join(folder, 'site');
const store = (name: string, from = 'run') =>
  cpSync(fixture(from), join(results(), name), { recursive: true });
const write = () => writeSite(site(), results());
const reports = () => readdirSync(join(site(), 'runs')).toSorted();
const readData = (): Site => {
  const text = readFileSync(join(site(), 'index.html'), 'utf8');
  const [, data = ''] = /id="data">(.*)<\/script>\n/.exec(text) ?? [];
  return JSON.parse(data) as Site;
};

describe('writeSite', () => {
  it('writes an index and a report of each run, published ones too', async () => {
    store('a');
    store('b');
    store('published/c');
    expect(await write()).toEqual({ index: join(site(), 'index.html'), reports: 3, skipped: [] });
    expect(reports()).toEqual(['a.html', 'b.html', 'c.html']);
    const { runs } = readData();
    expect(runs.map(({ run }) => run).toSorted()).toEqual(['a', 'b', 'c']);
    for (const { href } of runs) expect(existsSync(join(site(), href))).toBe(true);
  });

  it('follows the stored runs when it is written again', async () => {
    store('a');
    store('b');
    await write();
    rmSync(join(results(), 'a'), { recursive: true });
    store('c');
    await write();
    expect(reports()).toEqual(['b.html', 'c.html']);
    expect(readData().runs).toHaveLength(2);
  });

  it('names what it cannot read, without the folders of this machine, and shows the rest', async () => {
    store('good');
    store('broken');
    writeFileSync(join(results(), 'broken/trials.jsonl'), '{"schema":\n');
    store('other');
    const file = join(results(), 'other/run.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/"schema": \d+/, '"schema": 999'));
    mkdirSync(join(results(), 'empty'));
    const { reports: count, skipped } = await write();
    expect(count).toBe(1);
    expect(skipped).toEqual([
      { name: 'broken', reason: expect.stringMatching(/^trials\.jsonl:1: cannot be read/) as string },
      { name: 'empty', reason: 'holds no run: it has no run.json' },
      { name: 'other', reason: expect.stringMatching(/^run\.json: has schema 999/) as string },
    ]);
    expect(readData().skipped).toEqual(skipped);
    expect(readFileSync(join(site(), 'index.html'), 'utf8')).not.toContain(folder);
  });

  it('leaves a folder with other files as it is', async () => {
    mkdirSync(site());
    writeFileSync(join(site(), 'index.html'), '<p>mine</p>');
    await expect(write()).rejects.toMatchObject({ code: 'usage' });
    expect(readdirSync(site())).toEqual(['index.html']);
  });

  it('does not list itself when it is inside the results', async () => {
    store('a');
    const inside = join(results(), 'site');
    await writeSite(inside, results());
    expect((await writeSite(inside, results())).skipped).toEqual([]);
  });

  it('writes an index without runs', async () => {
    mkdirSync(results());
    expect(await write()).toMatchObject({ reports: 0, skipped: [] });
    expect(readData().runs).toEqual([]);
  });
});

describe('pnpm report --site', () => {
  it('refuses a run beside it', async () => {
    const { status, stderr } = await runHere(report, [fixture('run'), '--site', site()]);
    expect(stderr).toContain('--site covers all stored runs');
    expect(status).toBe(2);
    expect(existsSync(site())).toBe(false);
  });
});
