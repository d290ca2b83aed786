import { describe, expect, it } from 'vitest';
import {
  describeEnding,
  describeNoise,
  describePower,
  describeProspects,
  describeReach,
  describeUndecided,
} from '../src/stopping.ts';
import { toModel } from '../src/model/model.ts';
import { readSigns } from '../src/notes.ts';
import { toView } from '../src/view.ts';
import { makeReason } from 'bench-model/reasons';
import type { Trial } from 'bench-model/record';
import {
  okTrial,
  readGoldenRun,
  sampleMeasured,
  samplePlan,
  suspectTrial,
} from '../../bench-lab/testing/samples.ts';

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `stack-${index}`);

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

const decided = (line = '') => samplePlan(`--connections 10 --until-decided --looks 12/18/24 ${line}`);

const noise = (deviation: number) => ({
  connections: 10,
  candidate: 'fastify',
  baseline: 'vanilla',
  deviation,
  residuals: [-1.5, -0.7, -0.2, 0.2, 0.7, 1.5].map((one) => one * deviation),
});

describe('describeProspects', () => {
  it('names the first look that can decide a large table', () => {
    const plan = samplePlan('--connections 10 --until-decided', names(32));
    expect(describeProspects(plan)).toEqual([
      '31 comparisons share one error budget: the look after 12 rounds cannot decide them. The first that can comes after 18',
    ]);
    expect(describeProspects(samplePlan('--connections 10 --until-decided', names(31)))).toEqual([]);
  });

  it('warns of no plan of fixed rounds: its comparisons have intervals after any number of them', () => {
    expect(describeProspects(samplePlan('--connections 10,100 --rounds 3', names(8)))).toEqual([]);
  });
});

describe('describePower', () => {
  it('foresees the time to a verdict from stored runs', () => {
    expect(describePower(decided(), [noise(0.01), noise(0.012)])).toEqual([
      'about 3 min (12 rounds) to show 3 %',
    ]);
    expect(describePower(decided('--budget 90s'), [noise(0.01)])).toEqual([
      expect.stringMatching(/ to show 3 %\. The budget of 90 s ends before that$/),
    ]);
    expect(describePower(decided(), [noise(0.2)])).toEqual([
      expect.stringMatching(/\. The last look comes earlier, after 24 rounds$/),
    ]);
    expect(describePower(decided(), [])).toEqual([]);
    expect(describePower(samplePlan('--rounds 3'), [])).toEqual([]);
  });
});

describe('describeReach', () => {
  const sought = { by: 'cpu', threshold: 0.02, finding: 'verdict' } as const;
  const stored = { runs: 2, noise: [noise(0.01), noise(0.03)] };

  it('says which difference a plan finds, and at which noise', () => {
    const plan = samplePlan('--connections 10 --rounds 12');
    expect(describeReach(plan, stored.noise, sought)).toEqual([
      expect.stringMatching(/^finds a difference of \d\.\d % with 95 % probability, \d\.\d % with 80 %$/),
    ]);
    expect(describeReach(plan, stored.noise, { ...sought, finding: 'beyond' }, 'broken by')).toEqual([
      expect.stringMatching(/^broken by \d\.\d % with 95 % probability, \d\.\d % with 80 %$/),
    ]);
    expect(describeNoise(plan, stored, 'cpu')).toEqual([
      'at the noise of 2 stored runs of this machine: the ratio of CPU µs/req varies by 2.0 % between rounds',
    ]);
    const three = samplePlan('--connections 10 --rounds 12', names(3));
    expect(describeReach(three, stored.noise, sought)[0]).toMatch(/, in each of 2 comparisons$/);
    expect(describeNoise(three, stored, 'cpu')[0]).toContain('of this machine, partly of other targets:');
  });

  it('says that the difference is not known if no run has shown the noise', () => {
    const plan = samplePlan('--connections 10 --rounds 12');
    expect(describeReach(plan, [], sought)).toEqual([]);
    expect(describeNoise(plan, { runs: 0, noise: [] }, 'cpu')).toEqual([
      'no stored run of this machine has rounds like these, so the smallest difference in CPU µs/req that this run finds is not known yet',
    ]);
  });

  it('says nothing of a plan with too few rounds', () => {
    expect(describeReach(samplePlan('--connections 10 --rounds 1'), stored.noise, sought)).toEqual([]);
    expect(describeNoise(samplePlan('--connections 10 --rounds 1'), stored, 'cpu')).toEqual([]);
  });
});

describe('describeEnding', () => {
  it('says why the run stopped', () => {
    expect(describeEnding(decided(), rounds(1.2, 12))).toEqual([
      'stopped after 12 of at most 24 rounds: every comparison is decided',
    ]);
    expect(describeEnding(decided(), rounds(1.02, 24))).toEqual([
      'stopped after 24 rounds, the last look of the schedule',
    ]);
    expect(describeEnding(decided('--budget 90s'), rounds(1.2, 11), { interrupted: false })).toEqual([
      'stopped after 11 of at most 24 rounds: the budget of 90 s was spent. Every comparison is decided',
    ]);
    expect(describeEnding(decided('--budget 90s'), rounds(1.2, 5), { interrupted: false })).toEqual([
      'stopped after 5 of at most 24 rounds: the budget of 90 s was spent. A comparison needs 6',
    ]);
    expect(describeEnding(decided('--budget 90s'), rounds(1.02, 14))).toEqual([
      'stopped after 14 of at most 24 rounds: the budget of 90 s was spent, or the run was interrupted. The comparison is undecided',
    ]);
    expect(describeEnding(decided(), rounds(1.02, 14))).toEqual([
      'stopped after 14 of at most 24 rounds: the run was interrupted. The comparison is undecided',
    ]);
  });

  it('names the metric of the test beside a table by another one', () => {
    expect(describeEnding(decided(), rounds(1.2, 12), { by: 'p99' })).toEqual([
      'stopped after 12 of at most 24 rounds: every comparison of CPU µs/req is decided',
    ]);
    expect(describeEnding(decided(), rounds(1.02, 14), { by: 'p99' })).toEqual([
      'stopped after 14 of at most 24 rounds: the run was interrupted. The comparison of CPU µs/req is undecided',
    ]);
    expect(describeEnding(decided(), rounds(1.2, 12), { by: 'cpu' })[0]).not.toContain('CPU');
  });

  it('says which noise kept a comparison from a verdict, and how long it would take', () => {
    const noisy = rounds(1, 12).map((trial) =>
      trial.target.id === 'fastify' && trial.status !== 'failed'
        ? okTrial('fastify', sampleMeasured({ cpu: 104 + 10 * (-1) ** trial.round }), { round: trial.round })
        : trial,
    );
    expect(describeUndecided(decided(), noisy)).toEqual([
      expect.stringMatching(
        /^fastify at 10 is undecided: its ratio varies by \d+\.\d % between rounds\. To show 3 %, it needs about \d+ rounds: \d+ (min|h \d+ min) more$/,
      ),
    ]);
    const disturbed = rounds(1, 6).map(({ target, round }) => {
      const cpu = target.id === 'fastify' && round > 4 ? (round === 5 ? 115 : 92) : 100 + 0.1 * round;
      return okTrial(target.id, sampleMeasured({ cpu }), { round });
    });
    expect(describeUndecided(decided(), disturbed)).toEqual([
      expect.stringContaining(' in most of them, but not in all. Try again where nothing else runs'),
    ]);
    expect(describeUndecided(decided(), rounds(1.2, 12))).toEqual([]);
    expect(describeUndecided(samplePlan('--connections 10 --rounds 12'), noisy)).toEqual([]);
  });

  it('returns nothing for a fixed number of rounds, and nothing if no round is complete', () => {
    expect(describeEnding(samplePlan('--connections 10 --rounds 12'), rounds(1.2, 12))).toEqual([]);
    expect(describeEnding(decided(), [])).toEqual([]);
  });
});

describe('the report of a run', () => {
  const { host } = readGoldenRun();
  const view = (plan: ReturnType<typeof samplePlan>, trials: Trial[]) =>
    toView(toModel({ plan, host, versions: {}, leftOut: [], trials }));

  it('shows the number of measured rounds in its title', () => {
    expect(view(decided(), rounds(1.2, 11)).title).toBe('devices, 11 of 24 rounds');
    expect(view(samplePlan('--connections 10 --rounds 12'), rounds(1.2, 12)).title).toBe(
      'devices, 12 rounds',
    );
  });

  it('explains only the marks that occur', () => {
    const plan = samplePlan('--connections 10 --rounds 1', ['vanilla']);
    const notes = (trials: Trial[]) => readSigns(view(plan, trials)).join('\n');
    const one = notes([okTrial('vanilla', sampleMeasured({ cpu: 100 }))]);
    expect(one).not.toMatch(/[±≥?]/);
    expect(
      notes([1, 2].map((round) => okTrial('vanilla', sampleMeasured({ cpu: 100 }), { round }))),
    ).toContain('± half the range');
    const bound = makeReason('generator-bound', { busy: 0.95, coresUsed: 0.5 });
    expect(notes([suspectTrial('vanilla', sampleMeasured(), [bound])])).toContain('≥ lower bound');
    const noisy = { code: 'other-processes' as const, text: 'busy', invalidates: ['p50' as const] };
    const invalid = notes([suspectTrial('vanilla', sampleMeasured(), [noisy])]);
    expect(invalid).toContain('? invalid in every round');
    expect(invalid).not.toContain('≥');
  });
});
