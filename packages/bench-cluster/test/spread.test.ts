import { programVoice } from 'bench-http/terminal/voice';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { HostOrder, PreparedHost } from '../src/host-protocol.ts';
import type { Produced, ProgramHost } from '../src/hosts.ts';
import { measureSpread } from '../src/spread.ts';
import type { ResolvedRequest } from 'bench-http/conduct/resolve';
import type { Session } from 'bench-http/conduct/session';
import type { Plan } from 'bench-model/plan';
import { toModel } from 'bench-report/model/model';
import { describeSetting } from 'bench-report/view';
import type { Trial } from 'bench-model/record';
import { appendTrials, readRun } from 'bench-analysis/results/store';
import { createRandom } from 'bench-statistics/random';
import { okTrial, readGoldenRun, sampleMeasured, samplePlan } from '../../bench-lab/testing/samples.ts';

const { folder } = vi.hoisted(() => {
  const made = `${process.env['TMPDIR'] ?? '/tmp'}/bench-spread-${process.pid}`;
  process.env['BENCH_RESULTS'] = made;
  return { folder: made };
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { host } = readGoldenRun();
const random = createRandom(3);

const SPREAD = { address: '10.0.0.1:6379', role: 'server', hosts: 3, threshold: 0.05, deadlineSeconds: 10 };

let id = 0;
function planOf(line: string): Plan {
  return {
    ...samplePlan(line),
    run: `20261123-1200${String(id++).padStart(2, '0')}-devices`,
    spread: SPREAD,
  };
}

interface Nature {
  /** CPU per request, relative to that of others. */
  factor?: number;
  prepared?: Partial<PreparedHost>;
  /** The round in which it is lost, after one trial. */
  diesIn?: number;
  /** The CPU per request of a target, relative to the others. */
  costs?: Record<string, number>;
}

class FakeHost implements ProgramHost {
  readonly name: string;
  readonly orders: HostOrder[] = [];
  readonly #nature: Nature;

  constructor(name: string, nature: Nature) {
    this.name = name;
    this.#nature = nature;
  }

  async ask(order: HostOrder, _seconds: number, take: (message: Produced) => void): Promise<void> {
    this.orders.push(order);
    const { plan } = order;
    if (order.do === 'prepare') {
      const targets = plan.targets.map((target) => target.id);
      const versions = { node: '26', ...Object.fromEntries(targets.map((target) => [target, 'sources 1'])) };
      const placement = { kind: 'separate' as const, server: [1], generator: [0] };
      const prepared = { host, placement, versions, targets, leftOut: [], plan, ...this.#nature.prepared };
      take({ event: 'prepared', prepared });
      return;
    }
    for (const planned of plan.trials) {
      const { factor = 1, diesIn, costs = {} } = this.#nature;
      // Others get their turn.
      await new Promise(setImmediate);
      const isAA = plan.run.endsWith('-aa');
      if (!isAA && planned.round === diesIn && planned !== plan.trials[0])
        throw new Error('its host was lost: the node has died');
      const cpu = 36 * factor * (costs[planned.target] ?? 1) * (1 + 0.01 * random.float());
      const { target, connections, round, order: at } = planned;
      const head = { id: planned.id, run: plan.run, connections, round, order: at };
      const trial = {
        ...okTrial(target, sampleMeasured({ cpu, goodput: 1000, given: { limit: 'unknown' } }), head),
        files: ['logs/a.log'],
      };
      take({
        event: 'trial',
        trial: { ...trial, files: [`logs/${planned.id}.log`] },
        files: { [`logs/${planned.id}.log`]: this.name },
      });
    }
  }

  stop(): void {}
}

interface Measured {
  hosts: FakeHost[];
  log: string[];
  trials: Trial[];
  folder: string;
  setting: string[];
}

async function measure(
  natures: Record<string, Nature>,
  plan: Plan,
  resumed?: ReturnType<typeof readRun>,
): Promise<Measured> {
  const hosts = Object.entries(natures).map(([name, nature]) => new FakeHost(name, nature));
  const log: string[] = [];
  const session = { [Symbol.dispose]() {} } as Session;
  const { run } = await measureSpread(
    {
      request: { outline: plan, resumed, isNamed: true } as ResolvedRequest,
      session,
      voice: programVoice((line) => log.push(line)),
    },
    async () => ({ hosts, [Symbol.asyncDispose]: async () => {} }),
  );
  return { hosts, log, trials: run.trials, folder: run.folder, setting: describeSetting(toModel(run)) };
}

const refusalOf = (natures: Record<string, Nature>): Promise<string> =>
  measure(natures, planOf('--rounds 2 --connections 10')).then(
    () => 'accepted',
    (error: Error) => error.message,
  );

const roundsOn = (trials: readonly Trial[]): Map<string | undefined, Set<number>> =>
  new Map(
    [...Map.groupBy(trials, (trial) => trial.host)].map(([name, own]) => [
      name,
      new Set(own.map(({ round }) => round)),
    ]),
  );

describe('a run on identical hosts', () => {
  it('stores each round with its host, with the files of its trials and the A/A trials', async () => {
    const plan = planOf('--rounds 6 --connections 10');
    const { trials, folder: made, setting, log } = await measure({ a: {}, b: {}, c: {} }, plan);
    expect(trials).toHaveLength(12);
    const hosts = roundsOn(trials);
    expect(new Set(hosts.keys())).toEqual(new Set(['a', 'b', 'c']));
    const rounds = [...hosts.values()].flatMap((own) => [...own]);
    expect(rounds.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6]);
    const stored = readRun(made);
    expect(stored.trials).toEqual(trials);
    expect(stored.hosts?.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    for (const trial of trials)
      expect(readFileSync(join(made, trial.files[0] ?? ''), 'utf8')).toBe(trial.host);
    expect(setting.filter((line) => /A\/A/.test(line))).toHaveLength(3);
    expect(log.filter((line) => /begins round/.test(line))).toHaveLength(6);
  });

  it('sends each host the trials of one round, as those of one machine', async () => {
    const plan = planOf('--rounds 6 --connections 10,100');
    const { hosts } = await measure({ a: {}, b: {}, c: {} }, plan);
    const rounds = hosts.flatMap(({ orders }) => orders.filter(({ plan: { run } }) => run === plan.run));
    const measuring = rounds.filter((order) => order.do === 'measure');
    expect(measuring).toHaveLength(6);
    for (const { plan: own } of measuring) {
      const round = own.trials[0]?.round;
      expect(own.trials).toEqual(plan.trials.filter((planned) => planned.round === round));
      expect(own).toMatchObject({ rounds: plan.rounds, targets: plan.targets });
      expect(own.spread).toBeUndefined();
    }
  });

  it('leaves out a slow host, and says so in the log, the run and the report', async () => {
    const plan = planOf('--rounds 4 --connections 10');
    const {
      trials,
      hosts,
      log,
      folder: made,
      setting,
    } = await measure({ a: {}, b: { factor: 1.3 }, c: {} }, plan);
    expect(new Set(roundsOn(trials).keys())).toEqual(new Set(['a', 'c']));
    expect(hosts[1]?.orders.map(({ plan: { run } }) => run)).toEqual([plan.run, `${plan.run}-aa`]);
    expect(log.join('\n')).toMatch(
      /^b: 4\d\.\d µs of CPU per request, \+\d+ % \(.* to .*\): slower by more than 5 %/m,
    );
    expect(readRun(made).hosts?.find(({ name }) => name === 'b')).toMatchObject({ verdict: 'slower' });
    expect(setting.find((line) => line.startsWith('b left out'))).toMatch(/slower by more than 5 %/);
  });

  it('refuses hosts without a majority, and those that are not equal, by name', async () => {
    expect(await refusalOf({ a: {}, b: { factor: 1.3 } })).toMatch(
      /no more than half of the hosts agree: a: .*; b: .*slower/,
    );
    const other = { host: { ...host, release: '9.9' } };
    expect(await refusalOf({ a: {}, b: { prepared: other } })).toMatch(
      /only be spread over equal hosts: b, unlike a: kernel release: .* and 9\.9/,
    );
    const newer = { versions: { node: '26', vanilla: 'sources 2', fastify: 'sources 1' } };
    expect(await refusalOf({ a: {}, b: {}, c: { prepared: newer } })).toMatch(
      /c, unlike a: vanilla: sources 1 and sources 2/,
    );
  });

  it('fails the round of a lost host, keeps its log, and goes on with the others', async () => {
    const plan = planOf('--rounds 6 --connections 10');
    const { trials, hosts, folder: made } = await measure({ a: {}, b: { diesIn: 2 }, c: {} }, plan);
    expect(trials).toHaveLength(12);
    const failed = trials.filter(({ status }) => status === 'failed');
    expect(failed.map(({ round, host: name }) => `${round} ${name}`)).toEqual(['2 b', '2 b']);
    expect(failed[0]?.reasons[0]?.text).toContain('b did not complete the round');
    expect(readFileSync(join(made, failed[0]?.files[0] ?? ''), 'utf8')).toBe('b');
    expect(hosts[1]?.orders.filter(({ do: what }) => what === 'measure')).toHaveLength(2);
    expect(readRun(made).trials).toEqual(trials);
  });

  it('resumes on hosts that are still alike, with rounds that were not stored', async () => {
    const plan = planOf('--rounds 4 --connections 10');
    const first = await measure({ a: { diesIn: 1 }, b: { diesIn: 2 } }, plan);
    expect(new Set(first.trials.map(({ round }) => round))).toEqual(new Set([1, 2]));
    expect(first.log.at(-1)).toContain(
      `no host is left, and 2 rounds were not measured; to continue: pnpm bench --resume ${plan.run}`,
    );
    const stored = readRun(first.folder);
    const second = await measure({ b: {}, d: {} }, stored.plan, stored);
    expect(new Set(second.trials.map(({ round }) => round))).toEqual(new Set([1, 2, 3, 4]));
    expect(
      second.setting.some((line) => /^rounds? [34] on d, which joined when the run was resumed$/.test(line)),
    ).toBe(true);
    const other = { host: { ...host, release: '9.9' } };
    await expect(measure({ a: { prepared: other } }, stored.plan, readRun(first.folder))).rejects.toThrow(
      'was measured on another machine',
    );
  });

  it('pairs within rounds, so that hosts of unequal speed decide a comparison until a look', async () => {
    const plan = planOf('--threshold 2% --connections 10');
    const costs = { fastify: 1.05 };
    const { trials } = await measure({ a: { costs }, b: { costs, factor: 1.04 }, c: { costs } }, plan);
    const rounds = new Set(trials.map(({ round }) => round));
    const { sequentialTest } = plan;
    // It ends at the first look, and no round after the look has begun.
    expect(rounds.size).toBe(Number(sequentialTest?.looks.split('/')[0]));
    expect(Math.max(...rounds)).toBe(rounds.size);
  });
});

describe('rounds that were stored out of order', () => {
  it('count up to the first that is missing', async () => {
    const plan = planOf('--rounds 4 --connections 10');
    const { trials, folder: made } = await measure({ a: {} }, plan);
    writeFileSync(join(made, 'trials.jsonl'), '');
    appendTrials(
      made,
      trials.filter(({ round }) => round !== 2),
    );
    expect(toModel(readRun(made)).rounds).toEqual({ measured: 1, planned: 4 });
  });
});
