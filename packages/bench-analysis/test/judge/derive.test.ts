import { describe, expect, it } from 'vitest';
import { derive, overWindow } from '../../src/judge/trial.ts';
import { sampleCounts, sampleLoad } from '../../../bench-lab/testing/samples.ts';

/** 100 requests in 10 ms, to a server that was sampled for 100 ms and used 8 ms of CPU. */
const load = sampleLoad({
  counts: sampleCounts({ ok: 100 }),
  windowSeconds: 0.01,
  goodputPerSecond: 10_000,
});
const server = {
  source: 'cgroup v2',
  scope: 'process tree',
  seconds: 0.1,
  cpuUserUs: 6000,
  cpuSystemUs: 2000,
  coresUsed: 0.08,
  contextSwitches: 200,
};

describe('CPU and context switches per request', () => {
  it('are totals divided by responses if the sampled span covers every request', () => {
    expect(derive({ load, server, holdsAll: true })).toEqual({
      cpuUsPerRequest: 80,
      contextSwitchesPerRequest: 2,
    });
  });

  it('are ratios of rates if the load continued at the edges of the sampled span', () => {
    // 50,000 responses in 5 s; sampled for 5.05 s, in which 50,500 were answered.
    const wide = {
      ...server,
      seconds: 5.05,
      cpuUserUs: 2.02e6,
      cpuSystemUs: 0.505e6,
      contextSwitches: 101_000,
    };
    const { cpuUsPerRequest, contextSwitchesPerRequest } = derive({
      load: sampleLoad(),
      server: wide,
      holdsAll: false,
    });
    expect(cpuUsPerRequest).toBeCloseTo(50);
    expect(contextSwitchesPerRequest).toBeCloseTo(2);
  });

  it('are absent without a correct response', () => {
    const none = sampleLoad({ counts: sampleCounts({ non2xx: 100 }), goodputPerSecond: 0 });
    expect(derive({ load: none, server, holdsAll: true })).toEqual({});
  });
});

describe('overWindow', () => {
  it('returns the cores used while the requests were in flight', () => {
    expect(overWindow(server, load)).toEqual({ ...server, seconds: 0.01, coresUsed: 0.8 });
  });

  it('does not change a span no longer than the window', () => {
    expect(overWindow(server, sampleLoad())).toEqual(server);
  });
});
