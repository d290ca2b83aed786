import { describe, expect, it } from 'vitest';
import { judge, type Evidence } from '../../src/judge/judge.ts';
import { METRIC_IDS, metricsOf } from 'bench-model/metrics';
import type { Counts, Resources } from 'bench-model/figures';
import type { LoadResult } from 'bench-model/load';
import type { Placement } from 'bench-model/record';
import { isSaturated, judgeUpstream, type CompanionEvidence } from '../../src/judge/companions.ts';
import {
  sampleCounts,
  sampleEvidence,
  sampleLoad,
  sampleResources,
} from '../../../bench-lab/testing/samples.ts';

const RATES = metricsOf('pace');

interface UpstreamCase {
  requests: number;
  fetchUs: number;
  resources?: Resources;
  placement: Placement;
  besideRequests: number;
}

/** The upstream of a window of 50,000 responses of 10 fixtures each, on a separate core. */
function evidenceOf(given: Partial<UpstreamCase> = {}): UpstreamCase {
  return {
    requests: 500_000,
    fetchUs: 800,
    resources: sampleResources(0.3),
    placement: { kind: 'separate', server: [2], generator: [0], beside: { upstream: [1] } },
    besideRequests: 0,
    ...given,
  };
}

function windowOf(
  { requests, fetchUs, resources, placement, besideRequests }: UpstreamCase,
  load: LoadResult,
  serverCores = 0.5,
): Evidence {
  const judgeOwn = (own: CompanionEvidence) => judgeUpstream(own, { requests, fetchUs }, 10);
  const evidence = { load, resources, placement, besideRequests };
  const companions = [{ companion: { limit: 'upstream' as const, judge: judgeOwn }, evidence }];
  return sampleEvidence({ load, server: sampleResources(serverCores), companions });
}

function judgeOf(upstream: UpstreamCase, counts: Partial<Counts> = {}, statusCodes = {}) {
  const lifetime = sampleCounts({ ok: 50_000, ...counts });
  const load = sampleLoad({ lifetime, statusCodes: { 200: 50_000, ...statusCodes } });
  const verdict = judge(windowOf(upstream, load));
  return { ...verdict, texts: verdict.reasons.map(({ code, text }) => `${code}: ${text}`) };
}

describe('the count of the upstream', () => {
  it('must be exact if every request was answered correctly', () => {
    expect(judgeOf(evidenceOf()).reasons).toEqual([]);
    for (const requests of [499_999, 500_001]) {
      const { reasons } = judgeOf(evidenceOf({ requests }));
      expect(reasons).toMatchObject([{ code: 'upstream-count', invalidates: METRIC_IDS }]);
    }
  });

  it('allows for requests that companions sent to the server', () => {
    expect(judgeOf(evidenceOf({ requests: 500_010, besideRequests: 1 })).reasons).toEqual([]);
    expect(judgeOf(evidenceOf({ requests: 500_011, besideRequests: 1 })).reasons).toHaveLength(1);
  });

  it('reports too few requests as possible caching, and too many as more than needed', () => {
    expect(judgeOf(evidenceOf({ requests: 20 })).texts).toEqual([
      'upstream-count: 50,000 responses need 10 fixtures each, but the upstream got only 20 requests: the server may have cached fixtures',
    ]);
    expect(judgeOf(evidenceOf({ requests: 1_000_000 })).texts).toEqual([
      'upstream-count: 50,000 responses need 10 fixtures each, but the upstream got 1,000,000 requests: more than needed',
    ]);
  });

  it('allows for 0 to 10 fixtures for each unfinished request', () => {
    const lost = { timeout: 2, inFlight: 1 };
    for (const requests of [500_000, 500_015, 500_030])
      expect(judgeOf(evidenceOf({ requests }), lost).texts.join()).not.toContain('upstream-count');
    for (const requests of [499_999, 500_031])
      expect(judgeOf(evidenceOf({ requests }), lost).texts.join()).toContain('upstream-count');
  });
});

describe('an upstream', () => {
  it('that used up its core is the limit, unless the server used up its core too', () => {
    const full = evidenceOf({ resources: sampleResources(0.95) });
    const verdict = judgeOf(full);
    expect(verdict.limit).toBe('upstream');
    expect(verdict.reasons).toMatchObject([{ code: 'companion-bound', invalidates: RATES }]);
    expect(verdict.texts[0]).toContain('the upstream used 0.95 cores (core 1)');
    const both = judge(windowOf(full, sampleLoad({ lifetime: sampleCounts({ ok: 50_000 }) }), 0.97));
    expect(both).toMatchObject({ limit: 'server', reasons: [] });
  });

  it('that used up its core is not the limit if the generator is saturated', () => {
    const full = evidenceOf({ resources: sampleResources(0.95) });
    const both = judge(
      windowOf(
        full,
        sampleLoad({
          lifetime: sampleCounts({ ok: 50_000 }),
          generators: [{ cpuUs: 1e6, seconds: 5, utilisation: 0.95 }],
        }),
      ),
    );
    expect(both).toMatchObject({
      limit: 'generator',
      reasons: [{ code: 'generator-bound', invalidates: RATES }],
    });
  });
});

/** A window in which the generator used this many cores. */
const beside = (cores: number) =>
  sampleLoad({ generators: [{ cpuUs: cores * 5e6, seconds: 5, utilisation: cores }] });

/** An upstream that used this many cores, on the core of the generator. */
const shared = (cores: number) =>
  evidenceOf({
    resources: sampleResources(cores),
    placement: { kind: 'separate', server: [1], generator: [0], beside: { upstream: [0] } },
  });

const isUpstreamFull = (evidence: CompanionEvidence) => isSaturated('upstream', evidence);

describe('a full upstream', () => {
  it.each([
    [0.6, 0.35, true],
    [0.35, 0.6, false],
    [0.4, 0.3, false],
  ])('depends on which of upstream and load uses more of one core: %d and %d, %s', (own, load, full) => {
    expect(isUpstreamFull({ ...shared(own), load: beside(load), resources: shared(own).resources })).toBe(
      full,
    );
  });

  it('depends on its one process if nothing is pinned, and is false if it was not sampled', () => {
    const isFull = (given: Pick<UpstreamCase, 'placement'> & { resources: Resources }) =>
      isUpstreamFull({ ...evidenceOf(given), ...given, load: beside(0.1) });
    const unpinned = { placement: { kind: 'unpinned' as const } };
    expect(isFull({ ...unpinned, resources: sampleResources(0.92) })).toBe(true);
    expect(isFull({ ...unpinned, resources: sampleResources(0.8) })).toBe(false);
    const { resources: _, ...unsampled } = evidenceOf();
    expect(isUpstreamFull({ ...unsampled, resources: undefined, load: beside(0.1) })).toBe(false);
  });
});
