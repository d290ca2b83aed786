import { COMPANION_JUDGES, type CompanionEvidence } from 'bench-analysis/judge/companions';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { BenchError } from 'bench-model/errors';
import type { Resources } from 'bench-model/figures';
import {
  CompanionError,
  type CompanionContext,
  type CompanionNeeds,
  type CompanionTrial,
  type MovableCompanion,
  type MovableKind,
  type TrialCompanion,
} from '../../src/services/companion.ts';
import { findDistant, listElsewhere } from '../../src/services/index.ts';
import { findElsewhere, type CompanionHosts, type DistantProgram } from '../../src/services/movable.ts';
import { errorOf, sampleLoad, samplePlan, sampleResources } from '../../../bench-lab/testing/samples.ts';

afterEach(() => void vi.unstubAllEnvs());

/** A host whose program can be lost. */
class FakeHost implements DistantProgram {
  readonly kind = 'embedded';
  readonly version: string;
  readonly host;
  readonly cores = [0, 1];
  why: string | undefined;

  constructor(name: string, version = '26') {
    this.version = version;
    this.host = { name, cores: 2, release: '6.1' };
  }

  lost(): string | undefined {
    return this.why;
  }

  machine(): { otherProcessesCores: number } {
    return { otherProcessesCores: 0.34 };
  }

  launch(): never {
    throw new Error('not asked');
  }
}

/** A companion that records the calls to it. */
function companionOf(done: string[], trial: Partial<TrialCompanion> = {}): MovableKind {
  const movable: MovableCompanion = {
    isNeeded: () => true,
    example: { workload: 'gather' },
    find: () => Promise.reject(new Error('not here')),
    async start(program) {
      const { name } = (program as DistantProgram).host;
      done.push(`start on ${name}`);
      return {
        name: 'upstream',
        head: () => ({ kind: 'embedded', version: '26' }),
        begin: async () => ({
          ...trial,
          [Symbol.asyncDispose]: trial[Symbol.asyncDispose] ?? (async () => {}),
        }),
        async [Symbol.asyncDispose]() {
          done.push(`end on ${name}`);
        },
      };
    },
  };
  return {
    name: 'upstream',
    movable,
    find: async () => undefined,
  };
}

const hostsOf = (...hosts: FakeHost[]): CompanionHosts => ({
  async find() {
    const host = hosts.find(({ why }) => why === undefined);
    if (host === undefined)
      throw new BenchError('trial', 'the cluster has 0 of 1 hosts with the role upstream');
    return host;
  },
});

const NEEDS: CompanionNeeds = { ...samplePlan('--workload gather') };
const TARGET = NEEDS.targets[0] as CompanionTrial['target'];
const MEANS = {} as CompanionContext;
const TRIAL = {} as CompanionTrial;
const DRAW = {} as Parameters<Awaited<ReturnType<MovableCompanion['start']>>['begin']>[0];

const evidenceOf = (resources?: Resources): CompanionEvidence => ({
  load: sampleLoad({}),
  resources,
  placement: { kind: 'separate', server: [1], generator: [0] },
  besideRequests: 0,
});

const DOWN: Partial<TrialCompanion> = {
  afterLoad: () => Promise.reject(new CompanionError('it is down', 'upstream')),
  judge: () => {
    throw new Error('judged without its host');
  },
  [Symbol.asyncDispose]: () => Promise.reject(new CompanionError('it is down', 'upstream')),
};

describe('a companion on another host', () => {
  it('starts once, and its record and its judgement name that host with its cores', async () => {
    const done: string[] = [];
    const kind = companionOf(done, {
      ...COMPANION_JUDGES.upstream(() => undefined),
    });
    const found = await findElsewhere(kind, NEEDS, hostsOf(new FakeHost('h3')));
    expect(found).toMatchObject({ version: 'embedded 26', isPlaced: false });
    const running = await found.start(MEANS);
    const first = await running.begin(DRAW, TRIAL);
    await running.begin(DRAW, TRIAL);
    expect(running.head(TARGET)).toMatchObject({
      kind: 'embedded',
      version: '26',
      host: { name: 'h3', cores: 2 },
    });
    const own = { ...evidenceOf(sampleResources(0.95)), ...first.elsewhere?.() };
    expect(own).toMatchObject({ host: 'h3', placement: { beside: { upstream: [0, 1] }, generator: [] } });
    // On this machine, a generator on the same core would have to use less.
    expect(first.bottleneck?.(own)).toBe('upstream');
    expect(own.machine).toEqual({ otherProcessesCores: 0.34 });
    await running[Symbol.asyncDispose]();
    expect(done).toEqual(['start on h3', 'end on h3']);
  });

  it('fails the trial if its host is lost, by name, and begins the next one on another host', async () => {
    const done: string[] = [];
    const lost = new FakeHost('h3');
    const hosts = hostsOf(lost, new FakeHost('h4'));
    const running = await (await findElsewhere(companionOf(done, DOWN), NEEDS, hosts)).start(MEANS);
    const trial = await running.begin(DRAW, TRIAL);
    lost.why = 'its host was lost: the node has died';
    await trial.afterLoad?.();
    expect(trial.judge?.({ ...evidenceOf(), limit: 'waiting' })).toMatchObject([
      {
        code: 'host-lost',
        text: 'h3 did not keep the upstream running: its host was lost: the node has died',
      },
    ]);
    expect(trial.keepsServerBusy?.()).toBe(true);
    // It is reported once, also if the trial failed before it could be judged.
    expect(await trial.afterStop?.(true)).toEqual([]);
    const early = await (
      await findElsewhere(companionOf([], DOWN), NEEDS, { find: async () => lost })
    ).start(MEANS);
    expect(await (await early.begin(DRAW, TRIAL)).afterStop?.(true)).toMatchObject([{ code: 'host-lost' }]);
    await trial[Symbol.asyncDispose]();
    expect(running.head(TARGET)).toMatchObject({ host: { name: 'h3' } });
    await running.begin(DRAW, TRIAL);
    expect(running.head(TARGET)).toMatchObject({ host: { name: 'h4' } });
    expect(done).toEqual(['start on h3', 'end on h3', 'start on h4']);
  });

  it('fails by itself, with the name of its host, if that is there', async () => {
    const kind = companionOf([], DOWN);
    const running = await (await findElsewhere(kind, NEEDS, hostsOf(new FakeHost('h3')))).start(MEANS);
    const trial = await running.begin(DRAW, TRIAL);
    const error = { message: 'h3: it is down', reason: 'upstream' };
    await expect(trial.afterLoad?.()).rejects.toMatchObject(error);
    await expect(trial[Symbol.asyncDispose]()).rejects.toMatchObject(error);
  });

  it('takes part in a later trial again after one in which no host was left', async () => {
    const [lost, back] = [new FakeHost('h3'), new FakeHost('h4')];
    back.why = 'not there yet';
    const found = await findElsewhere(companionOf([]), NEEDS, hostsOf(lost, back));
    const running = await found.start(MEANS);
    lost.why = 'gone';
    await expect(running.begin(DRAW, TRIAL)).rejects.toThrow('0 of 1 hosts with the role upstream');
    expect(running.head(TARGET)).toBeDefined();
    back.why = undefined;
    await running.begin(DRAW, TRIAL);
    expect(running.head(TARGET)).toMatchObject({ host: { name: 'h4' } });
  });

  it('is refused on a host with another version: one run cannot mix them', async () => {
    const lost = new FakeHost('h3');
    const found = await findElsewhere(companionOf([]), NEEDS, hostsOf(lost, new FakeHost('h4', '27')));
    const running = await found.start(MEANS);
    lost.why = 'gone';
    await expect(running.begin(DRAW, TRIAL)).rejects.toThrow(
      'the upstream on h4 is embedded 27, and the one before embedded 26',
    );
  });
});

describe('the companions on other hosts', () => {
  const cluster = {
    address: '10.0.0.1:6379',
    roles: { server: 'server', generator: 'generator', upstream: 'far', database: 'far' },
    generators: 1,
    processes: 1,
    leadMs: 500,
    skewMs: 100,
    deadlineSeconds: 10,
    connectSeconds: 30,
  };

  it('are those with a role that the workload needs', () => {
    expect(listElsewhere({ ...NEEDS, cluster })).toEqual(['upstream']);
    expect(listElsewhere({ ...NEEDS, cluster, workload: 'users', params: {} })).toEqual(['database']);
    expect(listElsewhere({ ...NEEDS, cluster, workload: 'devices', params: {} })).toEqual([]);
    expect(listElsewhere(NEEDS)).toEqual([]);
  });

  it('cannot be a database if DATABASE_URL names another one', async () => {
    vi.stubEnv('DATABASE_URL', 'postgresql://a:b@10.0.0.9/c');
    const needs = { ...NEEDS, cluster, workload: 'users', params: {} };
    const error = await findDistant(needs, hostsOf()).catch((thrown: unknown) => thrown);
    expect(
      errorOf(() => {
        throw error;
      }),
    ).toMatchObject({
      code: 'usage',
      message: 'DATABASE_URL names the database, and the cluster has a role for one',
    });
  });
});
