import { describe, expect, it } from 'vitest';
import { summariseRoutes } from '../src/routes.ts';
import type { Trial } from 'bench-model/record';
import {
  okTrial,
  sampleCounts,
  sampleLoad,
  sampleMeasured,
  suspectTrial,
} from '../../bench-lab/testing/samples.ts';

const latency = { mean: 100, max: 900 };

/** A trial of two requests. The second one has this median latency and this many timeouts. */
function trialOf(round: number, p50: number, timeout: number, isValid = true): Trial {
  const routes = [
    { counts: sampleCounts({ ok: 100 }), lifetime: sampleCounts({ ok: 120 }), latencyUs: latency },
    {
      counts: sampleCounts({ ok: 50, timeout }),
      lifetime: sampleCounts({ ok: 60, timeout }),
      latencyUs: { ...latency, p50 },
    },
  ];
  const load = sampleLoad({ routes, latencyUs: { ...latency, p50: 90 } });
  const head = {
    round,
    requests: {
      requests: [
        { method: 'GET', path: '/orders?token=secret', weight: 2, headers: [] },
        { method: 'POST', path: '/orders', weight: 1, headers: [] },
      ],
    },
  };
  const measured = { ...sampleMeasured(), load };
  if (isValid) return okTrial('shop', measured, head);
  return suspectTrial(
    'shop',
    measured,
    [{ code: 'late-generator', text: 'late', invalidates: ['p50'] }],
    head,
  );
}

describe('the requests of a user', () => {
  it('have the sums of their outcomes, and medians of the rounds in which a percentile is valid', () => {
    const trials = [trialOf(1, 200, 1), trialOf(2, 9000, 2, false), trialOf(3, 300, 0), trialOf(4, 400, 0)];
    expect(summariseRoutes(trials)).toEqual([
      { request: 'GET /orders?token=(not-kept)', counts: sampleCounts({ ok: 400 }) },
      { request: 'POST /orders', counts: sampleCounts({ ok: 200, timeout: 3 }), p50: 300 },
    ]);
  });

  it('are not listed if there is one', () => {
    expect(summariseRoutes([okTrial('shop', sampleMeasured())])).toEqual([]);
  });
});
