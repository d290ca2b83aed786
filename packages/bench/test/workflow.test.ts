import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { environmentOfUser, git, runToEnd, type Ended } from '../../bench-lab/testing/user.ts';
import { runIn } from './cli/cli.ts';

const WORKFLOW = new URL('../../../docs/examples/bench.yml', import.meta.url);
const ACTION = new URL('../../../action.yml', import.meta.url);
const PAGE = new URL('../../../docs/guides/ci.md', import.meta.url);

interface Step {
  uses?: string;
  run?: string;
  with?: Record<string, unknown>;
}

const stepsOfAction = (): Step[] =>
  (parse(readFileSync(ACTION, 'utf8')) as { runs: { steps: Step[] } }).runs.steps;

describe('the sample workflow', () => {
  it('fetches the whole history', () => {
    const { jobs } = parse(readFileSync(WORKFLOW, 'utf8')) as { jobs: { bench: { steps: Step[] } } };
    const checkout = jobs.bench.steps.find(({ uses }) => uses?.startsWith('actions/checkout'));
    expect(checkout?.with?.['fetch-depth']).toBe(0);
  });
});

const SERVER = `require('node:http')
  .createServer((request, response) => response.end(list()))
  .listen(process.env.PORT, process.env.HOST);
`;
const FAST = `${SERVER}const list = () => 'orders';\n`;
/** Computes for 4 ms of CPU, however busy the machine is. */
const SLOW = `${SERVER}const list = () => {
  const before = process.cpuUsage();
  for (;;) {
    const { user, system } = process.cpuUsage(before);
    if (user + system > 4000) return 'orders';
  }
};
`;
/** A load for which a few seconds are enough; a planted slowdown is a multiple of any noise. */
const SHORT = {
  run: 'node server.cjs',
  get: ['/orders'],
  rounds: 3,
  connections: [2],
  amount: 20,
  warmup: 0,
};

describe('the job of the sample workflow, with a tag as the baseline', () => {
  let folder: string;
  let shop: string;
  let environment: NodeJS.ProcessEnv;

  const commit = (subject: string): string => {
    git(shop, 'add', '.');
    git(shop, 'commit', '--quiet', '--message', subject);
    return git(shop, 'rev-parse', '--short=7', 'HEAD');
  };
  /** Runs the steps of the action as GitHub does, on the commit that is checked out. */
  const runJob = (): { status: number | null; output: string; summary: string } => {
    const summary = join(folder, `summary-${git(shop, 'rev-parse', 'HEAD')}.md`);
    appendFileSync(summary, '');
    environment['GITHUB_STEP_SUMMARY'] = summary;
    const scripts = stepsOfAction().flatMap(({ run: script }) => script ?? []);
    const ended = scripts.map((script) =>
      runToEnd(['bash', '--noprofile', '--norc', '-eo', 'pipefail', '-c', script], shop, environment),
    );
    return {
      status: ended.find(({ status }) => status !== 0)?.status ?? 0,
      output: ended.map(({ stdout, stderr }) => stdout + stderr).join('\n'),
      summary: readFileSync(summary, 'utf8'),
    };
  };
  let baseline: string;
  /** Writes the documented configuration and its budget against a commit, with another one and these changes. */
  const configure = (changed: object, against: string): void => {
    const [, json = ''] = /^```json\n(.*?)^```$/ms.exec(readFileSync(PAGE, 'utf8')) ?? [];
    const named = json.replaceAll('"HEAD^1"', `"${against}"`);
    const { bench, budgets } = JSON.parse(named) as { bench: object; budgets: [object] };
    // Three short rounds on a busy machine differ by more than the documented limit in some runs.
    const config = {
      bench: { ...bench, ...SHORT, duration: undefined, ...changed },
      budgets: [{ ...budgets[0], worseByAtMost: '90%' }],
    };
    writeFileSync(join(shop, 'bench.config.json'), JSON.stringify(config));
  };

  beforeAll(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'bench-job-')));
    shop = join(folder, 'shop');
    mkdirSync(shop);
    mkdirSync(join(folder, 'bin'));
    // Everything is installed in this checkout.
    symlinkSync(fileURLToPath(new URL('.', ACTION)), join(folder, 'bench-http'));
    writeFileSync(join(folder, 'bin', 'npm'), '#!/bin/sh\n', { mode: 0o755 });
    environment = {
      ...environmentOfUser(folder),
      PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
      RUNNER_TEMP: folder,
      PACKAGE: 'bench-http.tgz',
      CONFIG: 'bench.config.json',
      GITHUB_ACTIONS: 'true',
      GITHUB_PATH: join(folder, 'path'),
      GITHUB_OUTPUT: join(folder, 'outputs'),
    };

    writeFileSync(join(shop, 'server.cjs'), FAST);
    git(shop, 'init', '--quiet', '--initial-branch=main');
    baseline = commit('List the orders');
    git(shop, 'tag', 'baseline');
    configure({ rounds: 1 }, 'baseline');
    commit('Hold every commit against the baseline');
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('passes a commit without a change of the service', () => {
    writeFileSync(join(shop, 'README.md'), 'A shop\n');
    const head = commit('Describe the shop');
    const { status, output, summary } = runJob();
    expect({ status, output }).toMatchObject({ status: 0 });
    // One round says nothing, and a job does not fail for that.
    expect(summary).toMatch(/^## Bench: 1 of 1 budget checks undecided\n/);
    expect(summary).toContain(`shop[HEAD ${head}]`);
    expect(summary).toContain(`baseline ${baseline}: List the orders`);
  });

  it('fails a commit that is slower, and its summary names commit, budget and difference', () => {
    writeFileSync(join(shop, 'server.cjs'), SLOW);
    configure({}, 'HEAD^1');
    const before = git(shop, 'rev-parse', '--short=7', 'HEAD');
    const head = commit('Sort the orders');
    const { status, summary, output } = runJob();
    expect(status).toBe(1);
    expect(output).toMatch(
      /^::error title=Bench::CPU µs\/req at most 90 %25 worse than HEAD\^1, .*, broken$/m,
    );
    const next = `bench-http compare ${before} ${head} '--run=node server.cjs' --get=/orders`;
    expect(output).toContain(`Which lines cost more? On your machine: ${next}`);
    expect(summary).toContain(`Which lines cost more? On your machine: \`${next}`);
    expect(summary.startsWith(readFileSync(join(shop, '.bench', 'comment.md'), 'utf8'))).toBe(true);
    expect(readFileSync(join(folder, 'outputs'), 'utf8')).toContain('verdict=Bench: 1 of 1 budget checks');
    expect(summary).toMatch(
      new RegExp(
        String.raw`\| CPU µs/req at most 90 % worse than HEAD\^1 \| shop\[HEAD ${head}\] \| 2 \| [\d.]+ × .* \| broken \|`,
      ),
    );
    // The comparison is a table of Markdown.
    expect(summary).toMatch(
      new RegExp(String.raw`\| 2 \| shop\[HEAD ${head}\] \| × [\d.]+ \| slower: .* \| 3 \| 2 \|`),
    );
    expect(summary).toContain(`HEAD ${head}: Sort the orders`);
  });

  /** Runs the job of the document with the server of the shop and these options. */
  const runDocumented = (changed: object, words: string[] = [], others = ['cpu']): Promise<Ended> => {
    const [[, json = ''] = []] = readFileSync(PAGE, 'utf8').matchAll(/^```json\n(.*?)^```$/gms);
    const { bench, budgets } = JSON.parse(json) as { bench: object; budgets: { metric: string }[] };
    const own = budgets.filter(({ metric }) => !others.includes(metric));
    const config = { bench: { ...bench, run: 'node server.cjs', ...changed }, budgets: own };
    writeFileSync(join(shop, 'bench.config.json'), JSON.stringify(config));
    return runIn(shop, ['ci', ...words], () => environmentOfUser(folder));
  };

  it('has enough requests in each round for a p99', async () => {
    expect(await runDocumented({}, ['--dry-run'])).toMatchObject({ status: 0 });
  });

  it('measures one commit at a rate at which no budget compares', async () => {
    const { stdout } = await runDocumented({}, ['--dry-run'], ['p50']);
    expect(stdout.match(/^\d+ trials: \d targets?/gm)).toEqual([
      '24 trials: 2 targets',
      '12 trials: 1 target',
    ]);
  });

  it('is refused before it runs if its rounds are too short, with the duration that is not', async () => {
    const { status, stderr } = await runDocumented({ duration: 2 });
    expect(status).toBe(2);
    expect(stderr).toMatch(/a p99 needs 1000 responses in each round, .* only 1000 requests/);
    expect(stderr).toContain('"duration": 2.1');
  });
});
