import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { environmentOfUser, type Ended } from '../../../bench-lab/testing/user.ts';
import { runIn } from '../cli/cli.ts';

const SERVER = `require('node:http').createServer((request, response) => response.end('ok')).listen(process.env.PORT, process.env.HOST);`;
/** Answers after 50 ms. */
const SLOW = SERVER.replace("response.end('ok')", "setTimeout(() => response.end('ok'), 50)");

let folder: string;
let shop: string;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'bench-ci-')));
  shop = join(folder, 'shop');
  mkdirSync(shop);
  writeFileSync(join(shop, 'server.cjs'), SERVER);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const FEW = { connections: [2], amount: 40, warmup: 0 };

const stepFile = (): string => join(folder, 'step.md');

/** Runs a job with these budgets. */
function runJob(rounds: number, budgets: object[], load: object = FEW): Promise<Ended> {
  const bench = { run: 'node server.cjs', get: '/orders', rounds, ...load };
  writeFileSync(join(shop, 'bench.config.json'), JSON.stringify({ bench, budgets }));
  writeFileSync(stepFile(), 'before\n');
  const env = { ...environmentOfUser(folder), GITHUB_STEP_SUMMARY: stepFile(), GITHUB_ACTIONS: 'true' };
  return runIn(shop, ['ci'], () => env);
}

describe('a CI job', () => {
  it('stops after the first round if its window has too few responses for a p99, and keeps that round', async () => {
    writeFileSync(join(shop, 'server.cjs'), SLOW);
    const load = { connections: [2], duration: 0.5, warmup: 0 };
    const { status, stdout, stderr } = await runJob(6, [{ metric: 'p99', atMost: '20ms' }], load);
    writeFileSync(join(shop, 'server.cjs'), SERVER);
    expect(status).toBe(1);
    expect(stderr).toContain('the job stops');
    expect(stdout).toMatch(
      /NOT MEASURED: p99 is missing in 1 of 1 rounds: it needs 1,000 responses, and a round had \d+; "duration": \d+ has enough/,
    );
    const results = join(shop, '.bench', 'results');
    const latest = readdirSync(results).toSorted().at(-1) ?? '';
    const trials = readFileSync(join(results, latest, 'trials.jsonl'), 'utf8');
    expect(trials.match(/\n/g)).toHaveLength(1);
  });

  it('warns of what a server did, with its figure', async () => {
    // Bench tries the server before the load, and answers without fault are few enough to count.
    const failing = SERVER.replace(
      '(request, response) =>',
      '(request, response) => { if (++seen > 60 && seen % 4 === 0) response.statusCode = 500;',
    ).replace("end('ok'))", "end('ok'); })");
    writeFileSync(join(shop, 'server.cjs'), `let seen = 0; ${failing}`);
    const { stderr } = await runJob(1, [{ metric: 'startup', atMost: '600s' }], { ...FEW, amount: 400 });
    writeFileSync(join(shop, 'server.cjs'), SERVER);
    expect(stderr).toMatch(/: .* Found: .*2\d\.\d\d % of the requests failed/m);
    expect(readFileSync(stepFile(), 'utf8')).toMatch(/^- shop at 2: 2\d\.\d\d % of the requests failed \(/m);
  });

  it('passes with a warning if nothing is decided, and writes the summary for the job and for the project', async () => {
    const { status, stdout, stderr } = await runJob(1, [
      { metric: 'startup', atMost: '1ms' },
      { metric: 'startup', atMost: '600s' },
    ]);
    expect(status).toBe(0);
    expect(stderr).toMatch(
      /^::warning title=Bench::start-up at most 1.00 ms, shop at 2 connections: .* undecided: too few rounds\. /m,
    );
    expect(stderr).toContain('Bench: 2 of 2 budget checks undecided; the summary is in .bench/summary.md');
    expect(stdout).toMatch(/start-up at most 600 s .* undecided/);
    const summary = readFileSync(join(shop, '.bench', 'summary.md'), 'utf8');
    expect(summary).toMatch(/\| start-up at most 1.00 ms \| shop \| 2 \| .*undecided/);
    expect(summary).toMatch(
      /^## Bench: 2 of 2 budget checks undecided\n[^]*\n\n<details>[^]*\n<\/details>\n$/,
    );
    expect(readFileSync(stepFile(), 'utf8')).toBe(`before\n${summary}`);
    const results = join(shop, '.bench', 'results');
    expect(readdirSync(join(results, readdirSync(results).toSorted().at(-1)!))).toContain('report.html');
  });

  it('measures the stack.json beside a configuration in a folder of the project', async () => {
    const api = join(shop, 'api');
    mkdirSync(api);
    const variants = { node: { command: ['{runtime}', '../server.cjs'] } };
    const names = { name: 'api', language: 'javascript', framework: 'none', class: 'raw', runtime: 'node' };
    const manifest = { ...names, default: 'node', variants, requests: ['GET /orders'] };
    writeFileSync(join(api, 'stack.json'), JSON.stringify(manifest));
    const config = { bench: { rounds: 6 }, budgets: [{ metric: 'cpu', atMost: '1s' }] };
    writeFileSync(join(api, 'bench.config.json'), JSON.stringify(config));
    const words = ['ci', '--config', 'api/bench.config.json', '--dry-run'];
    const { status, stdout } = await runIn(shop, words, () => environmentOfUser(folder));
    expect({ status, stdout }).toMatchObject({ status: 0 });
    expect(stdout).toMatch(/ 1 {2}round 1 {2}api at [^]*\nin all: about \d+ (s|min)\n$/);
  });
});
