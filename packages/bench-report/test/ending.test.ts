import { describe, expect, it } from 'vitest';
import { endingOf } from 'bench-analysis/due';
import { describeEnding } from '../src/ending.ts';
import { toPage } from '../src/html/data.ts';
import { renderJson } from '../src/json.ts';
import { renderMarkdown } from '../src/markdown.ts';
import { toModel } from '../src/model/model.ts';
import { renderTerminal } from '../src/terminal.ts';
import { readSigns } from '../src/content.ts';
import { toView } from '../src/view.ts';
import type { MetricId } from 'bench-model/metrics';
import type { Plan } from 'bench-model/plan';
import type { Trial } from 'bench-model/record';
import {
  okTrial,
  readGoldenRun,
  sampleMeasured,
  samplePlan,
  suspectTrial,
} from '../../bench-lab/testing/samples.ts';

/** Returns rounds in which `fastify` costs `ratio` times as much as `vanilla`, with 2 % noise. */
function rounds(ratio: number, count: number): Trial[] {
  return Array.from({ length: count }, (_, index) => {
    const round = index + 1;
    const cost = (factor: number) => sampleMeasured({ cpu: factor * (100 + (index % 5)) });
    return [
      okTrial('vanilla', cost(1), { round }),
      okTrial('fastify', cost(ratio * (1 + 0.02 * ((index % 3) - 1))), { round }),
    ];
  }).flat();
}

const decided = (line = '') =>
  samplePlan(`--connections 10 --threshold 2% ${line}`, undefined, { looks: '12/18/24' });

const end = (plan: Plan, trials: Trial[], interrupted?: boolean, by?: MetricId): string[] =>
  describeEnding(endingOf({ plan, trials }, interrupted), plan, by);

const HELD = 'of at most 24 rounds (the budget of 3m holds no more';
const OPEN = 'the comparison is undecided';

describe('describeEnding', () => {
  it.each([
    ['', 1.2, 12, undefined, '12 of at most 24 rounds: every comparison is decided'],
    ['', 1.02, 24, undefined, 'all 24 rounds: the comparison is undecided'],
    ['', 1.02, 14, undefined, '14 of at most 24 rounds (interrupted): the comparison is undecided'],
    ['--budget 180s', 1.06, 11, false, `11 ${HELD}): every comparison is decided`],
    ['--budget 180s', 1.2, 5, false, `5 ${HELD}): a decision needs at least 6 rounds`],
    ['--budget 180s', 1.02, 14, true, `14 of at most 24 rounds (interrupted): ${OPEN}`],
    ['--budget 180s', 1.02, 14, undefined, `14 ${HELD}, or the run was interrupted): ${OPEN}`],
  ])(
    'says why a run stopped (%s, × %d, %i rounds, interrupted: %s)',
    (line, ratio, count, interrupted, said) => {
      expect(end(decided(line), rounds(ratio, count), interrupted)).toEqual([`stopped after ${said}`]);
    },
  );

  it('names the metric of the test beside a table by another one', () => {
    expect(end(decided(), rounds(1.2, 12), undefined, 'p99')).toEqual([
      'stopped after 12 of at most 24 rounds: every comparison of CPU µs/req is decided',
    ]);
    expect(end(decided(), rounds(1.2, 12), undefined, 'cpu')[0]).not.toContain('CPU');
  });

  it('returns nothing for a fixed number of rounds, and nothing if no round is complete', () => {
    expect(end(samplePlan('--connections 10 --rounds 12'), rounds(1.2, 12))).toEqual([]);
    expect(end(decided(), [])).toEqual([]);
  });
});

describe('the ending of a run', () => {
  it('is said in every view', () => {
    const plan = decided();
    const trials = rounds(1.2, 12);
    const model = toModel({ plan, host: readGoldenRun().host, versions: {}, leftOut: [], trials });
    const said = 'The run stopped after 12 of at most 24 rounds: every comparison is decided.';
    const page = toPage(model);
    for (const text of [renderTerminal(toView(model)), renderMarkdown(toView(model)), renderJson(model, [])])
      expect(text).toContain(said);
    expect([page.caveats, page.notes]).toEqual([
      expect.arrayContaining([said]),
      expect.arrayContaining([said]),
    ]);
  });
});

describe('the report of a run', () => {
  const { host } = readGoldenRun();
  const view = (plan: ReturnType<typeof samplePlan>, trials: Trial[]) =>
    toView(toModel({ plan, host, versions: {}, leftOut: [], trials }));

  it('shows the number of measured rounds in its title', () => {
    expect(view(decided(), rounds(1.2, 11)).title).toBe('devices, 11 rounds');
    expect(view(samplePlan('--connections 10 --rounds 12'), rounds(1.2, 12)).title).toBe(
      'devices, 12 rounds',
    );
  });

  it('explains only the marks that occur', () => {
    const plan = samplePlan('--connections 10 --rounds 1', ['vanilla']);
    const notes = (trials: Trial[]) => readSigns(view(plan, trials)).join('\n');
    const one = notes([okTrial('vanilla', sampleMeasured({ cpu: 100 }))]);
    expect(one).not.toMatch(/[±≥?]/);
    const many = notes([1, 2, 3].map((round) => okTrial('vanilla', sampleMeasured({ cpu: 100 }), { round })));
    expect(many).toContain('± half the range');
    const bound = {
      code: 'generator-bound' as const,
      text: 'busy',
      invalidates: ['goodput' as const],
      bounds: { goodput: { low: 1 } },
    };
    expect(notes([suspectTrial('vanilla', sampleMeasured(), [bound])])).toContain('≥ lower bound');
    const noisy = { code: 'other-processes' as const, text: 'busy', invalidates: ['p50' as const] };
    const invalid = notes([suspectTrial('vanilla', sampleMeasured(), [noisy])]);
    expect(invalid).toContain('? invalid in every round');
    expect(invalid).not.toContain('≥');
  });
});
