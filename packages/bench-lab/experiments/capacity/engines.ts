/**
 * Does another load generator agree with a found capacity? Loads each planted server of stored runs with wrk, just below and just above
 * the interval of its capacity, and prints whether the promise was kept. A server takes two minutes:
 *
 *   pnpm exec node packages/bench-lab/experiments/capacity/engines.ts <run>…
 *
 * wrk has users who think for exponential times, so its requests arrive at random, as those of Bench do. Programs that send at equal
 * gaps, such as oha and k6, build no queue before a server is saturated.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { killAndWait, run, start } from 'bench-machine/subprocess';
import { findRun, readRun } from 'bench-analysis/results/store';
import { summarise } from 'bench-analysis/summary';
import { readManifest } from 'bench-targets/catalogue/manifest';
import { mean } from 'bench-statistics/numbers';

const STACK = join(import.meta.dirname, '../../planted/service');
const SPELLS = 3;
const SECONDS = 20;
/** Enough users of wrk that those who wait for an answer hardly lower the rate. */
const USERS = 1000;
/** The rates, relative to the ends of the interval. */
const BEYOND = { below: 0.97, above: 1.03 };
const PORT = 18_080;
const URL_OF_SERVER = `http://127.0.0.1:${PORT}/devices`;

/** The rate that was sent, and the share of answers above the limit or wrong. */
interface Seen {
  perSecond: number;
  slow: number;
}

/** Loads the server for a spell at about this rate. */
async function load(perSecond: number, limitMs: number, seed: number): Promise<Seen> {
  const given = { RATE: perSecond, CONNECTIONS: USERS, LIMIT_US: 1000 * limitMs, SEED: seed };
  const strings = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, `${value}`]));
  const script = join(import.meta.dirname, 'think.lua');
  const argv = ['-t1', `-c${USERS}`, `-d${SECONDS}s`, '--timeout', '10s', '-s', script, URL_OF_SERVER];
  const { stdout } = await run(['wrk', ...argv], { env: { ...process.env, ...strings } });
  const printed = JSON.parse(stdout.slice(stdout.indexOf('{'))) as Record<
    'requests' | 'seconds' | 'slow' | 'failed',
    number
  >;
  const { requests, seconds, slow, failed } = printed;
  return { perSecond: requests / seconds, slow: slow + failed / requests };
}

/** Loads a fresh server. */
async function take(variant: string, act: () => Promise<Seen>): Promise<Seen> {
  const { command } = readManifest(join(STACK, 'stack.json')).variants[variant] as { command: string[] };
  const given: Record<string, string> = { runtime: process.execPath, host: '127.0.0.1', port: `${PORT}` };
  const argv = command.map((part) =>
    part.replace(/^\{(\w+)\}$/, (whole, name: string) => given[name] ?? whole),
  );
  const server = start({ cwd: STACK, stdio: 'ignore' })`exec ${argv}`;
  try {
    for (let tries = 0; tries < 50 && !(await fetch(URL_OF_SERVER).catch(() => undefined)); tries++)
      await sleep(100);
    return await act();
  } finally {
    await killAndWait(server);
  }
}

console.log('| server | promise | capacity | rate of wrk | slow answers | promise |');
console.log('|---|---|---|---|---|---|');
for (const name of process.argv.slice(2)) {
  const { plan, trials } = readRun(findRun(name));
  if (plan.load.mode !== 'promise') continue;
  const [promise] = plan.load.promises;
  const limitMs = (promise?.belowUs ?? 0) / 1000;
  for (const { target, figures } of summarise(trials)) {
    const { median, interval } = figures.capacity ?? {};
    if (median === undefined || interval === undefined || target.endsWith(' (A/A)')) continue;
    const [, variant = 'fixed'] = /^service(?:\/(\S+))?$/.exec(target) ?? [];
    for (const [end, rate] of [
      ['below', BEYOND.below * interval.low],
      ['above', BEYOND.above * interval.high],
    ] as const) {
      const spells: Seen[] = [];
      for (let seed = 1; seed <= SPELLS; seed++)
        spells.push(await take(variant, () => load(rate, limitMs, seed)));
      const slow = mean(spells.map((spell) => spell.slow));
      const sent = mean(spells.map((spell) => spell.perSecond));
      const cells = [
        target,
        `p99 < ${limitMs} ms`,
        `${median.toFixed(0)}/s (${interval.low.toFixed(0)} to ${interval.high.toFixed(0)})`,
        `${sent.toFixed(0)}/s (${end})`,
        `${(100 * slow).toFixed(2)} %`,
        slow < 0.01 ? 'kept' : 'broken',
      ];
      console.log(`| ${cells.join(' | ')} |`);
    }
  }
}
