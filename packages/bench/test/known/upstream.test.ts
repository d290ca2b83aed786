import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readManifest } from '../../src/catalogue/manifest.ts';
import { BENCH } from '../../src/cli/bench.ts';
import { readStacks } from '../../src/catalogue/stacks.ts';
import { findUpstream, type UpstreamProgram } from '../../src/services/upstream/upstream.ts';
import { UPSTREAMS } from '../../src/upstreams.ts';
import { makePlan } from '../../src/plan/plan.ts';
import { loadOf, openRig, reasonOf, reasonsOf, type Order, type Seen } from './rig.ts';

const rig = openRig();

const path = (name: string): string => fileURLToPath(new URL(`../../planted/${name}`, import.meta.url));
const vanilla = readStacks().find(({ name }) => name === 'vanilla');
const EVERYTHING = ['goodput', 'p50', 'p99', 'cpu', 'memory', 'startup'];

/** The upstream itself is looked at three times before the launch, and three before the load. */
const LOOKED_AT = 6;
/** With 2 fixtures: one answer until it is ready, two to verify it. */
const BEFORE = LOOKED_AT + 6;

/** An upstream that answers so many requests rightly, and then does something else. */
function faulty(sound: number, fault: 'fail' | 'close' | 'delay' | 'die'): UpstreamProgram {
  const args = ['--host', '{host}', '--port', '{port}', '--sound', String(sound), '--fault', fault];
  return {
    kind: 'planted',
    version: fault,
    command: [process.execPath, path('upstream.ts'), ...args],
    parseCount: Number,
  };
}

function measure(order: Partial<Order>): Promise<Seen> {
  const bench = ['--workload', 'gather', '--param', 'fixtures=2', '--param', 'items=3', '--connections', '4'];
  return rig.measure({
    planted: 'node',
    ...(vanilla === undefined ? {} : { stack: vanilla }),
    ...order,
    bench: [...bench, ...(order.bench ?? ['--amount', '300'])],
  });
}

describe('gather', () => {
  it.for(UPSTREAMS)(
    'over %s: every request reaches it, and the answers tell how long that took',
    async (kind, { skip }) => {
      const upstream = await findUpstream(kind).catch((error: Error) => error);
      if (upstream instanceof Error) return skip(upstream.message);
      const seen = await measure({ upstream });
      const { trial } = seen;
      expect(reasonsOf(seen)).toEqual([]);
      expect(trial.companions?.upstream).toEqual({ kind, version: upstream.version });
      const load = loadOf(seen);
      expect(load.counts).toMatchObject({ sent: 300, ok: 300 });
      expect(trial).toMatchObject({
        measured: { companions: { upstream: { requests: 2 * load.lifetime.ok } } },
      });
      const { metric, toldUs, restUs } = load.timing ?? {};
      expect(metric).toBe('gather');
      expect((toldUs?.mean ?? 0) + (restUs?.mean ?? 0)).toBeCloseTo(load.latencyUs?.mean ?? 0, -2);
    },
  );

  it.each([
    ['cached', /, but the upstream got only 0 requests: the server may have cached fixtures$/],
    ['twice', /, but the upstream got [\d,]+ requests: more than needed$/],
  ])('by a server that asks otherwise (%s) has failed, by the count alone', async (planted, text) => {
    const seen = await measure({ planted, stack: readManifest(path('gather/stack.json')) });
    expect(seen.trial.status).toBe('failed');
    expect(loadOf(seen).counts).toMatchObject({ ok: 300, mismatch: 0 });
    expect(reasonsOf(seen)).toEqual(['upstream-count']);
    expect(reasonOf(seen, 'upstream-count')).toMatchObject({
      text: expect.stringMatching(text) as string,
      invalidates: EVERYTHING,
    });
  });
});

describe('an upstream that from the beginning', () => {
  it.each([
    ['fail', 'answered /fixtures/0.json with status 500'],
    ['close', 'does not answer: socket hang up'],
    ['die', 'has ended (exit status 1)'],
  ] as const)('should %s fails the trial before anything is launched', async (fault, what) => {
    const seen = await measure({ upstream: faulty(0, fault) });
    expect(seen.trial.status).toBe('failed');
    expect(seen.trial).not.toHaveProperty('partial');
    expect(reasonsOf(seen)).toEqual(['upstream']);
    expect(reasonOf(seen, 'upstream')).toMatchObject({
      text: `the upstream (planted ${fault}) ${what}`,
      invalidates: EVERYTHING,
    });
    expect(seen.log).toBe('');
  });

  it('is slow makes the trial suspect, and nothing of its pace the server’s', async () => {
    const seen = await measure({ upstream: faulty(0, 'delay'), bench: ['--amount', '40'] });
    expect(seen.trial.status).toBe('suspect');
    expect(reasonsOf(seen)).toEqual(['upstream-slow']);
    expect(reasonOf(seen, 'upstream-slow')).toMatchObject({
      text: expect.stringMatching(/^the upstream took 1\d\d ms per fixture/) as string,
      invalidates: ['goodput', 'p50', 'p99'],
    });
  });
});

describe('an upstream that under load', () => {
  it.each([
    ['fail', /^the upstream \(planted fail\) answered \/fixtures\/0\.json with status 500$/],
    ['close', /^the upstream \(planted close\) does not answer: socket hang up$/],
    ['die', /^the upstream \(planted die\) has ended \(exit status 1\)/],
  ] as const)('begins to %s fails the trial', async (fault, text) => {
    const seen = await measure({ upstream: faulty(BEFORE + 200, fault) });
    expect(seen.trial.status).toBe('failed');
    expect(reasonsOf(seen)).toEqual(['upstream']);
    expect(reasonOf(seen, 'upstream').text).toMatch(text);
  });
});

describe('a duel over gather', () => {
  it('gives each server an upstream of its own, whose count is exact', async () => {
    const stacks = [vanilla ?? [], readManifest(path('gather/stack.json'))].flat();
    const targets = ['vanilla', 'gather/twice'];
    const words = '--workload gather --param fixtures=2 --param items=3 --upstream embedded --connections 4';
    const length = '--rounds 1 --duel --duration 1 --warmup 0.2';
    const request = BENCH.parse([...targets, ...words.split(' '), ...length.split(' ')]);
    const all = await rig.measureAll(makePlan(request, stacks, 'known', 1), stacks);
    const [rightly, twice] = targets.map((id) => all.find(({ trial }) => trial.target.id === id));
    if (rightly === undefined || twice === undefined) throw new Error('not both were measured');
    expect(reasonsOf(rightly)).toEqual([]);
    const { ok } = loadOf(rightly).lifetime;
    expect(ok).toBeGreaterThan(0);
    expect(rightly.trial).toMatchObject({
      duel: 'c4-r1',
      measured: { companions: { upstream: { requests: 2 * ok } } },
    });
    expect(reasonsOf(twice)).toEqual(['upstream-count']);
  });
});
