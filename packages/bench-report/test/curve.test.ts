import { describe, expect, it } from 'vitest';
import { summariseCurve } from 'bench-analysis/curve';
import type { FoundCapacity, Measured } from 'bench-model/measured';
import type { Trial } from 'bench-model/record';
import { describeDetail } from '../src/detail.ts';
import { renderMarkdown } from '../src/markdown.ts';
import { toModel } from '../src/model/model.ts';
import { renderTerminal } from '../src/terminal.ts';
import { toView } from '../src/view.ts';
import {
  failedTrial,
  okTrial,
  readGoldenRun,
  sampleMeasured,
  samplePlan,
} from '../../bench-lab/testing/samples.ts';

const loop = { seconds: 2, failedShare: 0, limit: 'waiting' as const, generatorBusy: 0.2 };
const step = { ...loop, requests: 8000, brokenShare: 0 };

/** A trial whose capacity is this, with half of it and 90 % of it measured. */
function carry(perSecond: number, head: Parameters<typeof okTrial>[2]): Trial {
  const at = (share: number, p99Us: number) => ({
    share,
    ...loop,
    perSecond: share * perSecond,
    servedPerSecond: share * perSecond,
    p50Us: p99Us / 2,
    p99Us,
    cpuUsPerRequest: 95,
  });
  const capacity: FoundCapacity = {
    perSecond,
    pacePerSecond: 5000,
    by: { of: 'p99', belowUs: 50_000 },
    steps: [
      { ...step, perSecond: 5000, servedPerSecond: 4100, brokenShare: 0.93, p99Us: 411_000, limit: 'server' },
      {
        ...step,
        perSecond,
        servedPerSecond: perSecond,
        brokenShare: 0.008,
        p99Us: 48_000,
        cpuUsPerRequest: 91.2,
      },
    ],
  };
  const curve = [at(0.9, perSecond * 10), at(0.5, perSecond)];
  return okTrial('vanilla', { ...sampleMeasured({ cpu: 100 }), capacity, curve } satisfies Measured, head);
}

const plan = samplePlan('--connections 10 --rounds 3 --slo p99<50ms --rate 50%,90%', ['vanilla']);
const trials = plan.trials.map(({ id, connections, round }, index) =>
  carry([4000, 4200, 4100][index] ?? 0, { id, connections, round }),
);

describe('latency over load', () => {
  it('is the median of the rounds at each share, without failed trials', () => {
    expect(summariseCurve([...trials, failedTrial('vanilla', 'it died')])).toEqual([
      { share: 0.5, perSecond: 2050, served: 2050, p50: 2050, p99: 4100, cpu: 95, limit: 'waiting' },
      { share: 0.9, perSecond: 3690, served: 3690, p50: 20_500, p99: 41_000, cpu: 95, limit: 'waiting' },
    ]);
    expect(summariseCurve([])).toEqual([]);
  });

  it('is a table of the report, in every format', () => {
    const view = toView(toModel({ plan, host: readGoldenRun().host, versions: {}, leftOut: [], trials }));
    for (const text of [renderTerminal(view), renderMarkdown(view)]) {
      expect(text).toContain('Latency over load');
      expect(text.replaceAll(/[│|]/g, ' ').replaceAll(/ +/g, ' ')).toContain(
        '50 % 2,050 2,050 2.05 ms 4.10 ms — 95.0 waiting',
      );
    }
    // Below its capacity, a server waits: only the loads of the curve have a limit.
    expect(view.columns).not.toContain('limit');
    expect(view.columns).toContain('status');
  });
});

describe('rates of an open loop', () => {
  it('are one curve with the main window', () => {
    const { curve = [], ...measured } = (trials[0] as Extract<Trial, { status: 'ok' }>).measured;
    const rates = curve.map(({ perSecond }) => ({ ...loop, perSecond, servedPerSecond: perSecond }));
    const load = {
      mode: 'open',
      perSecond: 500,
      curve: rates.map(({ perSecond }) => ({ perSecond })),
    } as const;
    const trial = okTrial('vanilla', { ...measured, curve: rates }, { load });
    const points = summariseCurve([trial]);
    expect(points.map(({ perSecond }) => perSecond)).toEqual([500, 2000, 3600]);
    expect(points.every((point) => !('share' in point))).toBe(true);
  });
});

describe('a step of a search, in detail', () => {
  it('says what was offered and served, and by how much the queue grew beyond the capacity', () => {
    const text = describeDetail(trials);
    expect(text).toContain(
      'offered 5,000/s for 2 s, served 4,100/s; p99 411 ms, 93 % violated the SLO, limit server',
    );
    expect(text).toContain(
      'offered 4,000/s for 2 s, served 4,000/s; p99 48.0 ms, 0.8 % violated the SLO, 91.2 µs per request, limit waiting',
    );
  });
});
