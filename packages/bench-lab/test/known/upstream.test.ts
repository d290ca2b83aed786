import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readManifest } from 'bench-targets/catalogue/manifest';
import { readStacks } from 'bench-targets/catalogue/stacks';
import { EMBEDDED_UPSTREAM, findNginx, type UpstreamProgram } from 'bench-http/services/upstream/upstream';
import { makePlan } from 'bench-http/plan/plan';
import { METRIC_IDS } from 'bench-model/metrics';
import { loadOf, openRig, reasonOf, reasonsOf, type Order, type Seen } from './rig.ts';
import { parseBench } from '../../testing/samples.ts';

const rig = openRig();

const path = (name: string): string => fileURLToPath(new URL(`../../planted/${name}`, import.meta.url));
const vanilla = readStacks().find(({ name }) => name === 'vanilla');

/** The requests to the upstream itself: three before the launch, three before the load. */
const LOOKED_AT = 6;
/** With 2 fixtures: one response until it is ready, two to verify it. */
const BEFORE = LOOKED_AT + 6;

/** An upstream that answers this many requests correctly before its fault begins. */
function faulty(sound: number, fault: 'fail' | 'close' | 'delay' | 'die'): UpstreamProgram {
  const args = ['--host', '{host}', '--port', '{port}', '--sound', String(sound), '--fault', fault];
  return {
    kind: 'planted',
    version: fault,
    command: [process.execPath, path('upstream.mjs'), ...args],
  };
}

function measure(order: Partial<Order>): Promise<Seen> {
  const bench = ['--workload', 'gather', '--param', 'fixtures=2', '--param', 'items=3', '--connections', '4'];
  return rig.measure({
    planted: 'node',
    ...(vanilla === undefined ? {} : { stack: vanilla }),
    ...order,
    bench: [...bench, ...(order.bench ?? ['--amount', '100'])],
  });
}

describe('gather', () => {
  it.for(['nginx', 'embedded'])(
    'over %s: every request reaches the upstream, and the responses report its time',
    async (kind, { skip }) => {
      const upstream = kind === 'nginx' ? await findNginx() : EMBEDDED_UPSTREAM;
      if (upstream === undefined) return skip('nginx is missing');
      const seen = await measure({ upstream });
      const { trial } = seen;
      expect(reasonsOf(seen)).toEqual([]);
      expect(trial.companions?.upstream).toEqual({ kind, version: upstream.version });
      const load = loadOf(seen);
      expect(load.counts).toMatchObject({ sent: 100, ok: 100 });
      expect(trial).toMatchObject({
        measured: { companions: { upstream: { requests: 2 * load.lifetime.ok } } },
      });
      const { metric, toldUs, restUs } = load.timing ?? {};
      expect(metric).toBe('gather');
      expect((toldUs?.mean ?? 0) + (restUs?.mean ?? 0)).toBeCloseTo(load.latencyUs?.mean ?? 0, -2);
    },
  );

  it.each([
    ['cached', /only 0 requests/],
    ['twice', /more than needed/],
  ])('by the variant %s fails, by the count alone', async (planted, text) => {
    const seen = await measure({ planted, stack: readManifest(path('gather/stack.json')) });
    expect(seen.trial.status).toBe('failed');
    expect(loadOf(seen).counts).toMatchObject({ ok: 100, mismatch: 0 });
    expect(reasonsOf(seen)).toEqual(['upstream-count']);
    expect(reasonOf(seen, 'upstream-count')).toMatchObject({
      text: expect.stringMatching(text) as string,
      invalidates: METRIC_IDS,
    });
  });
});

describe('an upstream with a fault from the start', () => {
  it.each([
    ['fail', /planted fail.* status 500/],
    ['die', /planted die.*exit status 1/],
  ] as const)('fails the trial before the launch: %s', async (fault, text) => {
    const seen = await measure({ upstream: faulty(0, fault) });
    expect(seen.trial.status).toBe('failed');
    expect(seen.trial).not.toHaveProperty('partial');
    expect(reasonsOf(seen)).toEqual(['companion']);
    expect(reasonOf(seen, 'companion')).toMatchObject({
      text: expect.stringMatching(text) as string,
      invalidates: METRIC_IDS,
    });
    expect(seen.log).toBe('');
  });
});

describe('an upstream with a fault under load', () => {
  it.each([
    ['close', /planted close.* socket hang up/],
    ['die', /planted die.*exit status 1/],
  ] as const)('fails the trial: %s', async (fault, text) => {
    const seen = await measure({ upstream: faulty(BEFORE + 60, fault) });
    expect(seen.trial.status).toBe('failed');
    expect(reasonsOf(seen)).toEqual(['companion']);
    expect(reasonOf(seen, 'companion').text).toMatch(text);
  });
});

describe('a duel over gather', () => {
  it('gives each server a separate upstream with an exact count', async () => {
    const stacks = [vanilla ?? [], readManifest(path('gather/stack.json'))].flat();
    const targets = ['vanilla', 'gather/twice'];
    const words = '--workload gather --param fixtures=2 --param items=3 --connections 4';
    const length = '--rounds 1 --duration 0.5 --warmup 0.2';
    const request = parseBench([...targets, ...words.split(' '), ...length.split(' ')]);
    const all = await rig.measureAll(makePlan({ ...request, interleave: true }, stacks, 'known', 1), stacks);
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
