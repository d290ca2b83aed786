import { describe, expect, it } from 'vitest';
import { describeDetail } from '../src/detail.ts';
import type { Limit } from 'bench-model/measured';
import { readSigns } from '../src/content.ts';
import { toModel } from '../src/model/model.ts';
import { describePlan } from '../src/plan.ts';
import { toView } from '../src/view.ts';
import {
  okTrial,
  readGoldenRun,
  sampleBackground,
  sampleMeasured,
  samplePlan,
} from '../../bench-lab/testing/samples.ts';

const plan = samplePlan('--background "GET /fib/42" --rounds 2 --connections 10', ['fastify']);
const uses = [
  sampleBackground({ sent: 3, statusCodes: { 200: 2 }, durationUs: { mean: 2e6, max: 3e6 } }),
  sampleBackground({ sent: 1, statusCodes: {} }),
];
const trials = plan.trials.map(({ target: id, round }) => {
  const target = plan.targets.find((one) => one.id === id)!;
  const background = target.repeats === undefined ? undefined : uses[round - 1];
  return {
    ...okTrial(id, sampleMeasured({ given: background ? { companions: { background } } : {} }), { round }),
    target,
  };
});

/** Returns the explanation of the limits of a run with these companions. */
function limitBeside(companions: object, limit: Limit = 'server'): string | undefined {
  const trial = { ...okTrial('fastify', sampleMeasured({ given: { limit } })), companions };
  const view = toView(toModel({ ...readGoldenRun(), trials: [trial] }));
  return readSigns(view).find((sign) => sign.startsWith('limit'));
}

describe('a run with a background request', () => {
  it('names the request, its outcome, and the metrics that include its cost', () => {
    const { setting, notes } = toView(
      toModel({ plan, host: readGoldenRun().host, versions: {}, leftOut: [], trials }),
    );
    expect(setting.at(-1)).toBe('background: GET /fib/42, kept in flight during the warm-up and the window');
    expect(notes.at(-1)).toBe(
      'Counts, goodput and latency exclude the background requests; CPU µs/req, memory and limit include their cost. ' +
        'fastify (with GET /fib/42) at 10: 2 answered (the longest after 3.00 s), 2 unfinished at the end and cancelled.',
    );
    expect(describePlan(plan)).toContain('background: GET /fib/42');
  });

  it('describes the background requests of each trial in the detailed report', () => {
    const detail = describeDetail(trials);
    expect(detail).toContain(
      'background, 7.0 s with the warm-up: 3 sent, 2 with status 200, 1 unfinished and cancelled; mean 2.00 s, max 3.00 s',
    );
    expect(detail).toContain('1 sent, 1 unfinished and cancelled\n');
  });

  it('names only the limits that occur', () => {
    const upstream = { kind: 'node', version: '26' };
    expect(limitBeside({ background: plan.background, later: {}, upstream })).toBe(
      'limit: what was saturated: the server.',
    );
    expect(limitBeside({ upstream }, 'upstream')).toBe('limit: what was saturated: the upstream.');
    expect(limitBeside({}, 'waiting')).toBe('limit: what was saturated: nothing (waiting).');
  });

  it('is the only run whose report mentions the background', () => {
    const view = toView(toModel(readGoldenRun()));
    expect([...view.notes, ...view.setting].join()).not.toContain('background');
  });
});
