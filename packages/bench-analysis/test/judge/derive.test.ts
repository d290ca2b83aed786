import { describe, expect, it } from 'vitest';
import { countSampled, derive, overWindow } from '../../src/judge/trial.ts';
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
    const answers = countSampled({ load, server, turns: undefined }, 'amount');
    expect(derive(server, answers)).toEqual({ cpuUsPerRequest: 80, contextSwitchesPerRequest: 2 });
  });

  it('are ratios of rates if the load continued at the edges of the sampled span', () => {
    // 50,000 responses in 5 s; sampled for 5.05 s, in which 50,500 were answered.
    const cpu = { cpuUserUs: 2.02e6, cpuSystemUs: 0.505e6, contextSwitches: 101_000 };
    const wide = { ...server, seconds: 5.05, ...cpu };
    const found = derive(
      wide,
      countSampled({ load: sampleLoad(), server: wide, turns: undefined }, 'closed'),
    );
    expect(found.cpuUsPerRequest).toBeCloseTo(50);
    expect(found.contextSwitchesPerRequest).toBeCloseTo(2);
  });

  it('are absent without a correct response', () => {
    expect(derive(server, 0)).toEqual({});
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
