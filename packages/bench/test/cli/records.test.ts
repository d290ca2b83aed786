import { appendFileSync, cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Trial } from 'bench-model/record';
import type { Plan } from 'bench-model/plan';
import { readProcess } from 'bench-machine/procfs';
import type { Ended } from '../../../bench-lab/testing/user.ts';
import { PLANTED, Place, flags } from './cli.ts';

const SHORT = { rounds: 1, duration: 0.4, warmup: 0 };

interface Document {
  schema: number;
  plan: Plan;
  host: { platform: string };
  rows: { target: string; connections: number; rounds: number }[];
  trials: Trial[];
}

let place: Place;
let ended: Ended;
let document: Document;

beforeAll(async () => {
  place = new Place();
  ended = await place.run('bench', ['vanilla', ...flags({ connections: '1,2', ...SHORT }), '--json']);
  document = JSON.parse(ended.stdout) as Document;
});
afterAll(() => place[Symbol.asyncDispose]());

describe('a run', () => {
  it('with --json prints one document on stdout, and its progress on stderr', () => {
    expect(ended.status).toBe(0);
    expect(ended.stdout.startsWith('{')).toBe(true);
    expect(document.trials.map(({ id }) => id)).toEqual(document.plan.trials.map(({ id }) => id));
    expect(document.rows.map(({ target, connections }) => [target, connections])).toEqual([
      ['vanilla', 1],
      ['vanilla', 2],
    ]);
    expect(ended.stderr).toMatch(/^\[1\/2\] vanilla at \d, round 1: (ok|suspect), [\d,.]+\/s, /m);
    expect(ended.stderr).toMatch(/^\[2\/2\] vanilla at \d, round 1: /m);
    expect(ended.stderr).toContain(
      `saved in ${place.runFolder()}; to show it again: pnpm report ${document.plan.run}`,
    );
    expect(ended.stderr).toMatch(/\nreport with charts: \S+\/report\.html\n$/);
    // Output to a file contains no control characters.
    for (const control of ['\r', '\u001B']) expect(ended.stderr).not.toContain(control);
  });

  it('stores what it printed, and leaves no process and no lock', async () => {
    expect(place.trials()).toEqual(document.trials);
    expect(place.runFile().plan).toEqual(document.plan);
    expect(existsSync(place.lock)).toBe(false);
    await place.untilGone();
  });

  it('keeps the server log and the report of time(1) of each trial', () => {
    expect(document.trials).toHaveLength(2);
    for (const { files, time } of document.trials) {
      expect(files).toHaveLength(2);
      for (const file of files) expect(existsSync(join(place.runFolder(), file))).toBe(true);
      expect(time?.maxResidentBytes).toBeGreaterThan(2 ** 20);
    }
  });
});

describe('pnpm report', () => {
  it('shows the run again, as a table and as the same document', async () => {
    const table = await place.run('report', [document.plan.run, '--detail']);
    expect(table.stdout).toMatch(/│ vanilla │ raw {3}│/);
    expect(table.stdout).toContain(`run ${document.plan.run}, seed ${document.plan.seed}`);
    expect(table.stdout).toMatch(/printed by autocannon|window \d\.\d+ s: \d+ sent/);
    expect(table).toMatchObject({ status: 0, stderr: '' });
    const json = await place.run('report', [place.runFolder(), '--json']);
    expect(json).toEqual({ status: 0, stderr: '', stdout: ended.stdout });
  });

  it('suggests similar names for an unknown run', async () => {
    const { status, stderr } = await place.run('report', [`${document.plan.run}x`]);
    expect(stderr).toContain(`unknown run "${document.plan.run}x"`);
    expect(stderr).toContain(`did you mean ${document.plan.run}`);
    expect(status).toBe(2);
  });

  it('ends without an error if its reader closes the pipe', async () => {
    await using copy = copyRun();
    const file = join(copy.folder, 'trials.jsonl');
    const lines = readFileSync(file, 'utf8');
    for (let size = 0; size < 200_000; size += lines.length) appendFileSync(file, lines);
    const line = `node packages/bench/bench-http.mjs report ${copy.folder} --json | head -1; echo "$?"`;
    const { stdout, status } = await copy.place.startInTerminal(`sh -c '${line}'`).ended;
    expect(stdout.replaceAll('\r', '')).toBe('{\n0\n');
    expect(status).toBe(0);
  });
});

describe('without /usr/bin/time', () => {
  it('a run continues with a warning, and its trials have no report', async () => {
    await using other = new Place();
    const missing = { BENCH_TIME: join(other.folder, 'time') };
    const args = ['vanilla', ...flags({ connections: 1, ...SHORT })];
    const { status, stdout, stderr } = await other.start('bench', args, missing).ended;
    expect(stderr).toMatch(/warning: \S+time is missing/);
    expect(stdout).toMatch(/│ vanilla │/);
    expect(status).toBe(0);
    const [trial] = other.trials();
    expect(trial).not.toHaveProperty('time');
    expect(trial?.files).toHaveLength(1);
    expect(trial).toHaveProperty('measured.cpuUsPerRequest');
    expect(trial).toHaveProperty('measured.server.peakBytes');
    await other.untilGone();
  });
});

describe('--dry-run', () => {
  it('prints the plan, and starts, stores and locks nothing', async () => {
    await using other = new Place();
    // Another run holds the lock, which --dry-run does not need.
    const began = String(readProcess(process.pid)?.startTicks ?? '');
    const lock = JSON.stringify({ pid: process.pid, began, run: 'another', token: '0123456789abcdef' });
    writeFileSync(other.lock, lock);
    const args = ['vanilla', 'fastify', '--connections', '10,1000', '--rounds', '2'];
    const { status, stdout, stderr } = await other.run('bench', [...args, '--dry-run']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^8 trials: 2 targets at 10, 1,000 connections, 2 rounds, workload devices$/m);
    expect(stdout).toMatch(/^about \d+ (s|min)$/m);
    expect(stdout.match(/^ +\d+ {2}round 1 {2}(vanilla|fastify) at (10|1,000)$/gm)).toHaveLength(4);
    expect(stdout).toMatch(/^ +and 1 round more, /m);
    expect(readFileSync(other.lock, 'utf8')).toBe(lock);
    expect(existsSync(other.results)).toBe(false);
  });

  it('plans a stack outside the repository, however its path is written', async () => {
    await using other = new Place();
    const stack = join(other.folder, 'stack.json');
    const mine = readFileSync('packages/vanilla/stack.json', 'utf8').replace('"vanilla"', '"mine"');
    writeFileSync(stack, mine);
    const { stdout } = await other.run('bench', ['--stack', stack, '--connections', '1', '--dry-run']);
    expect(stdout).toMatch(/^3 trials: 1 targets? at 1 connections?/);
    expect(stdout).toMatch(/round 1 {2}mine at 1$/m);
    const dotted = await other.run('bench', ['--stack', `./${PLANTED}`, '--connections', '1', '--dry-run']);
    expect(dotted.stdout).toMatch(/round 1 {2}planted at 1$/m);
  });
});

function copyRun(): AsyncDisposable & { place: Place; folder: string } {
  const other = new Place();
  const folder = join(other.folder, 'copy');
  cpSync(place.runFolder(), folder, { recursive: true });
  return { place: other, folder, [Symbol.asyncDispose]: () => other[Symbol.asyncDispose]() };
}
