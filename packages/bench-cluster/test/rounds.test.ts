import type { RunEvent } from 'bench-model/planned';
import { describe, expect, it } from 'vitest';
import {
  runSpread,
  type HostRound,
  type RoundHost,
  type SpreadEffects,
  type SpreadTrials,
} from '../src/rounds.ts';
import type { Plan, PlannedTrial } from 'bench-model/plan';
import type { Trial } from 'bench-model/record';
import { okTrial, sampleMeasured, samplePlan } from '../../bench-lab/testing/samples.ts';

const PLAN = samplePlan('--rounds 5 --connections 10');
const TARGETS = new Set(PLAN.targets.map(({ id }) => id));

function measured({ id, target, connections, round, order }: PlannedTrial): Trial {
  return okTrial(target, sampleMeasured({ cpu: 20 }), { id, connections, round, order });
}

function ofRound(round: number): Trial[] {
  return PLAN.trials.filter((planned) => planned.round === round).map(measured);
}

/** A host whose rounds end when the test says so. */
class FakeHost implements RoundHost {
  readonly name: string;
  readonly placement = { kind: 'unpinned' } as const;
  readonly rounds: number[] = [];
  #end: ((round: HostRound) => void) | undefined;
  #planned: readonly PlannedTrial[] = [];

  constructor(name: string) {
    this.name = name;
  }

  measure(planned: readonly PlannedTrial[]): Promise<HostRound> {
    this.rounds.push(planned[0]?.round ?? 0);
    this.#planned = planned;
    return new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  async end(lost?: string, arrived = this.#planned.length): Promise<void> {
    this.#end?.({ trials: this.#planned.slice(0, arrived).map(measured), lost });
    // Its consequences happen before the test goes on.
    await new Promise(setImmediate);
  }
}

interface Spreading {
  hosts: FakeHost[];
  recorded: Trial[][];
  events: RunEvent[];
  result: Promise<SpreadTrials>;
}

function spread(
  names: string[],
  { plan = PLAN, before = [], ...effects }: { plan?: Plan; before?: Trial[] } & Partial<SpreadEffects> = {},
): Spreading {
  const hosts = names.map((name) => new FakeHost(name));
  const recorded: Trial[][] = [];
  const events: RunEvent[] = [];
  const result = runSpread(
    plan,
    { hosts, targets: TARGETS, before },
    {
      record: async (trials) => {
        recorded.push(trials);
      },
      decide: () => 'continue',
      due: () => () => true,
      nextLook: () => Infinity,
      begun() {},
      interrupted: () => false,
      now: () => 0,
      on: (event) => events.push(event),
      ...effects,
    },
  );
  return { hosts, recorded, events, result };
}

const roundsOf = (hosts: readonly FakeHost[]): number[][] => hosts.map(({ rounds }) => rounds);

describe('a run that is spread over hosts', () => {
  it('gives each free host the next whole round', async () => {
    const { hosts, recorded, result } = spread(['a', 'b']);
    const [a, b] = hosts as [FakeHost, FakeHost];
    await b.end();
    await b.end();
    await a.end();
    await a.end();
    expect(roundsOf(hosts)).toEqual([
      [1, 5],
      [2, 3, 4],
    ]);
    await b.end();
    const { trials } = await result;
    expect(trials.map(({ round, host }) => `${round} ${host}`)).toEqual([
      '2 b',
      '2 b',
      '3 b',
      '3 b',
      '1 a',
      '1 a',
      '5 a',
      '5 a',
      '4 b',
      '4 b',
    ]);
    // A round is stored as a whole: a resumed run could not complete it on the same host.
    expect(recorded.map((round) => round.length)).toEqual([2, 2, 2, 2, 2]);
  });

  it('uses more hosts than it has rounds for as many rounds as it has', async () => {
    const { hosts, result } = spread(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
    for (const host of hosts) await host.end();
    expect((await result).trials).toHaveLength(10);
    expect(roundsOf(hosts)).toEqual([[1], [2], [3], [4], [5], [], []]);
  });

  it('fails the round of a lost host, keeps what arrived as partial, repeats nothing and goes on', async () => {
    const { hosts, result } = spread(['a', 'b']);
    const [a, b] = hosts as [FakeHost, FakeHost];
    await a.end('its host was lost', 1);
    for (let round = 2; round <= 5; round++) await b.end();
    const { trials } = await result;
    expect(roundsOf(hosts)).toEqual([[1], [2, 3, 4, 5]]);
    const failed = trials.filter(({ status }) => status === 'failed');
    expect(failed.map(({ round, host }) => `${round} ${host}`)).toEqual(['1 a', '1 a']);
    for (const { reasons } of failed) {
      expect(reasons.map(({ code, text }) => `${code}: ${text}`)).toEqual([
        'host-lost: a did not complete the round of this trial: its host was lost',
      ]);
    }
    const [there, missing] = failed as [Trial & { status: 'failed' }, Trial & { status: 'failed' }];
    expect(there.partial?.cpuUsPerRequest).toBe(20);
    expect(missing.partial).toBeUndefined();
    expect(missing.id).toBe(PLAN.trials[1]?.id);
    expect(trials).toHaveLength(10);
  });

  it('fails a round of which a trial is missing without a word', async () => {
    const { hosts, result } = spread(['a'], { plan: samplePlan('--rounds 1 --connections 10') });
    await hosts[0]?.end(undefined, 1);
    const { trials } = await result;
    expect(trials.map(({ status }) => status)).toEqual(['failed', 'failed']);
  });

  it('ends when no host is left: the other rounds stay open', async () => {
    const { hosts, result } = spread(['a', 'b']);
    for (const host of hosts) await host.end('its host was lost', 0);
    const { trials, left } = await result;
    expect(trials.map(({ round }) => round)).toEqual([1, 1, 2, 2]);
    expect(left).toBe(3);
  });

  it('begins no round after a look before all rounds up to the look have ended', async () => {
    const looks = [2, 4];
    const { hosts, result } = spread(['a', 'b', 'c'], {
      nextLook: (round) => looks.find((look) => look >= round) ?? Infinity,
    });
    const [a, b, c] = hosts as [FakeHost, FakeHost, FakeHost];
    await b.end();
    expect(roundsOf(hosts)).toEqual([[1], [2], []]);
    await a.end();
    expect(roundsOf(hosts)).toEqual([[1], [2, 4], [3]]);
    await c.end();
    await b.end();
    expect(roundsOf(hosts)).toEqual([[1, 5], [2, 4], [3]]);
    await a.end();
    expect((await result).trials).toHaveLength(10);
  });

  it('skips rounds that nothing is due in, and counts only what is left', async () => {
    const { hosts, events, result } = spread(['a'], {
      nextLook: (round) => (round <= 1 ? 1 : Infinity),
      due: (trials) => (planned) => trials.length === 0 || planned.target === 'fastify',
    });
    const [a] = hosts as [FakeHost];
    for (let round = 1; round <= 5; round++) await a.end();
    const { trials } = await result;
    expect(trials.filter(({ round }) => round > 1).map(({ target }) => target.id)).toEqual(
      Array.from({ length: 4 }, () => 'fastify'),
    );
    expect(events.at(-1)).toMatchObject({ kind: 'ended', done: 6, of: 6 });
  });

  it('resumes with the rounds of which nothing was stored', async () => {
    const before = [...ofRound(1), ...ofRound(3), ...ofRound(4).slice(0, 1)];
    const { hosts, result } = spread(['a'], { before });
    const [a] = hosts as [FakeHost];
    await a.end();
    await a.end();
    expect((await result).trials).toHaveLength(5 + 4);
    expect(a.rounds).toEqual([2, 5]);
  });

  it('stores no incomplete round of an interrupted run, and begins none', async () => {
    let isInterrupted = false;
    const { hosts, recorded, result } = spread(['a', 'b'], { interrupted: () => isInterrupted });
    const [a, b] = hosts as [FakeHost, FakeHost];
    isInterrupted = true;
    await a.end(undefined, 1);
    await b.end();
    const { trials, left } = await result;
    expect(trials.map(({ round }) => round)).toEqual([2, 2]);
    expect(left).toBe(0);
    expect(recorded).toHaveLength(1);
    expect(roundsOf(hosts)).toEqual([[1], [2]]);
  });

  it('begins no round after its budget, but keeps those that run', async () => {
    let decision: 'continue' | 'stop' = 'continue';
    const { hosts, result } = spread(['a', 'b'], { decide: () => decision });
    decision = 'stop';
    for (const host of hosts) await host.end();
    expect((await result).trials).toHaveLength(4);
  });
});
