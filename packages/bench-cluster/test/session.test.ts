import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { judge } from 'bench-analysis/judge/judge';
import type { LoadSpec } from 'bench-load/protocol';
import { ClusterSession, type ClusterTerms } from '../src/session.ts';
import { sum } from 'bench-statistics/numbers';
import { createRandom } from 'bench-statistics/random';
import type { LoadResult } from 'bench-model/load';
import { isFatal } from 'bench-model/reasons';
import { sampleEvidence } from '../../bench-lab/testing/samples.ts';
import { encodeLatencies, SimulatedAgent, type Fault, type Nature } from './simulated.ts';

const HOSTS = 100;
const ALLOWED_MS = 30;
const WINDOW = { warmupSeconds: 0.1, windowSeconds: 1, load: { mode: 'closed' } } as const;

const SPEC: LoadSpec = {
  host: '10.0.0.1',
  port: 80,
  requests: [{ method: 'GET', path: '/', headers: {} }],
  connections: 10 * HOSTS,
  timeoutSeconds: 10,
  barrierSeconds: 30,
  expected: undefined,
  hashEvery: 1,
};

/** Hosts whose clocks are up to an hour wrong and whose orders take up to 20 ms; the first ones have these faults. */
function simulate(seed: number, faults: { fault: Fault; faultMs?: number }[] = []): SimulatedAgent[] {
  const random = createRandom(seed);
  return Array.from({ length: HOSTS }, (_, index) => {
    const { fault, faultMs = 0 } = faults[index] ?? {};
    const nature: Nature = {
      name: `h${index}`,
      offsetMs: random.below(7_200_000) - 3_600_000,
      delayMs: 1 + random.below(20),
      perSecond: 20 + random.below(80),
      fault,
      faultMs,
    };
    return new SimulatedAgent(nature, random);
  });
}

function open(agents: SimulatedAgent[], given: Partial<ClusterTerms> = {}): ClusterSession {
  return new ClusterSession(
    {
      place: async () => agents,
      processes: 1,
      leadMs: 200,
      skewMs: ALLOWED_MS,
      deadlineSeconds: 5,
      backlog: async () => 511,
      ...given,
    },
    SPEC,
  );
}

/** Passes the time of the fake timers until a promise settles. */
async function pass<T>(promise: Promise<T>): Promise<T> {
  const state = { isSettled: false };
  const settle = (): void => {
    state.isSettled = true;
  };
  promise.then(settle, settle);
  while (!state.isSettled) await vi.advanceTimersByTimeAsync(100);
  return promise;
}

async function load(session: ClusterSession, mark: (edge: string) => void = () => {}): Promise<LoadResult> {
  await pass(session.arm());
  return pass(session.fire(WINDOW, mark));
}

/** The codes of the reasons that make a trial with this load fail. */
function failuresOf(result: LoadResult): string[] {
  const { reasons } = judge(sampleEvidence({ load: result }));
  return reasons.some(isFatal) ? reasons.map(({ code }) => code) : [];
}

/** The largest distance of a window from that of the last host, which has no fault, in true time. */
function trueSkewMs(agents: readonly SimulatedAgent[]): number {
  const plannedMs = agents.at(-1)?.window?.fromMs ?? 0;
  return Math.max(...agents.map(({ window }) => Math.abs((window?.fromMs ?? plannedMs) - plannedMs)));
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('100 hosts with wrong clocks and a slow network', () => {
  it.for([1, 2])('add up to what they truly did (seed %i)', async (seed) => {
    const agents = simulate(seed);
    const marks: string[] = [];
    const result = await load(open(agents), (edge) => marks.push(edge));
    const all = agents.flatMap((agent) => agent.counted());
    expect(result.counts.ok).toBe(all.length);
    expect(result.latencyHistogram).toBe(encodeLatencies(all));
    const fromMs = Math.max(...agents.map(({ window }) => window?.fromMs ?? 0));
    const toMs = Math.min(...agents.map(({ window }) => window?.toMs ?? 0));
    const inOverlap = sum(agents.map((agent) => agent.within(fromMs, toMs).length));
    const truePerSecond = (inOverlap / (toMs - fromMs)) * 1000;
    expect(Math.abs(result.goodputPerSecond / truePerSecond - 1)).toBeLessThan(0.01);
    expect(failuresOf(result)).toEqual([]);
    const cut = (result.cluster?.overlapSeconds ?? 0) - (toMs - fromMs) / 1000;
    expect(Math.abs(cut)).toBeLessThan(0.025);
    expect(result.cluster?.parts).toHaveLength(HOSTS);
  });

  it('know the clock of each host within the error that they state', async () => {
    const agents = simulate(4);
    const { cluster } = await load(open(agents));
    for (const [index, { offsetMs, clockErrorMs }] of (cluster?.hosts ?? []).entries())
      expect(Math.abs(offsetMs - agents[index]!.nature.offsetMs)).toBeLessThanOrEqual(clockErrorMs);
  });

  it.for([
    { faults: [{ fault: 'dies-in-window' }], code: 'host-lost', lost: 1 },
    {
      faults: [{ fault: 'never-reports' }, { fault: 'dies-in-window' }],
      code: 'host-lost',
      lost: 2,
    },
    { faults: [{ fault: 'late-order', faultMs: 300 }], code: 'host-lost', lost: 1 },
    { faults: [{ fault: 'opens-late', faultMs: 80 }], code: 'host-lost', lost: 0 },
    { faults: [{ fault: 'clock-steps', faultMs: 90 }], code: 'host-lost', lost: 0 },
  ] satisfies { faults: { fault: Fault; faultMs?: number }[]; code: string; lost: number }[])(
    'fail with $code, and keep what arrived: $faults.0.fault',
    async ({ faults, code, lost }) => {
      const agents = simulate(5, faults);
      const result = await load(open(agents));
      expect(failuresOf(result)[0]).toBe(code);
      expect(result.cluster?.parts).toHaveLength(HOSTS - lost);
      expect(result.cluster?.missing.map(({ host }) => host).toSorted()).toEqual(
        agents.slice(0, lost).map(({ name }) => name),
      );
      const arrived = agents.slice(lost).flatMap((agent) => agent.counted());
      expect(result.counts.ok).toBe(arrived.length);
    },
  );

  it('never pass a window that truly opened too far from the plan', async () => {
    const random = createRandom(6);
    const verdicts: string[] = [];
    for (let run = 0; run < 6; run++) {
      const faultMs = random.below(3 * ALLOWED_MS);
      const agents = simulate(100 + run, [{ fault: 'opens-late', faultMs }]);
      const result = await load(open(agents));
      const known = Math.max(...(result.cluster?.hosts ?? []).map(({ clockErrorMs }) => clockErrorMs));
      const skewMs = trueSkewMs(agents);
      const isFailed = failuresOf(result).includes('host-lost');
      if (skewMs > ALLOWED_MS + known) verdicts.push(isFailed ? 'rightly failed' : 'wrongly passed');
      if (skewMs + 3 * known < ALLOWED_MS) verdicts.push(isFailed ? 'wrongly failed' : 'rightly passed');
    }
    expect(verdicts).toContain('rightly failed');
    expect(verdicts.filter((verdict) => verdict.startsWith('wrongly'))).toEqual([]);
  });
});

describe('a load by several hosts', () => {
  it('cannot begin if a generator dies before', async () => {
    const agents = simulate(7, [{ fault: 'dies-at-arm' }]);
    await expect(pass(open(agents).arm())).rejects.toThrow('the generator on h0 failed: it ended (SIGKILL)');
  });

  it('fails with every reason if no report arrives', async () => {
    const agents = simulate(8, [{ fault: 'dies-in-window' }, { fault: 'never-reports' }]).slice(0, 2);
    const session = open(agents);
    await expect(load(session)).rejects.toThrow(/h0: .*SIGKILL.*; h1: h1 did not respond for \d+ s/);
  });

  it('passes on one opening and one closing, also if a generator dies in between', async () => {
    const agents = simulate(9, [{ fault: 'dies-in-window' }]).slice(0, 3);
    const marks: string[] = [];
    const originals = agents.map((agent) => agent.open.bind(agent));
    for (const [index, agent] of agents.entries())
      agent.open = (events) =>
        originals[index]!({
          ...events,
          take: (report) => {
            if (report.event === 'done') {
              events.take({ event: 'opened' });
              events.take({ event: 'closed' });
            }
            events.take(report);
          },
        });
    await load(open(agents), (edge) => marks.push(edge));
    expect(marks).toEqual(['opened', 'closed']);
  });
});
