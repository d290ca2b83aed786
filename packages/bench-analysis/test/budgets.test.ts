import { describe, expect, it } from 'vitest';
import { isOutOfReach, judgeBudget, type Budget, type JudgedRow } from '../src/budgets.ts';
import type { Plan } from 'bench-model/plan';
import type { Reason, ReasonCode } from 'bench-model/reasons';
import type { Trial } from 'bench-model/record';
import { createRandom } from 'bench-statistics/random';
import {
  errorOf,
  failedTrial,
  okTrial,
  sampleMeasured,
  samplePlan,
  suspectTrial,
} from '../../bench-lab/testing/samples.ts';

/** A run in which vanilla uses 100 µs of CPU per request, and fastify `cpuOf(round)` µs. */
function runOf(
  cpuOf: (round: number) => number,
  rounds = 12,
  plan = samplePlan(`--rounds ${rounds} --connections 10`),
): { plan: Plan; trials: Trial[] } {
  const trials = Array.from({ length: rounds }, (_, index) => index + 1).flatMap((round) => [
    okTrial('vanilla', sampleMeasured({ cpu: 100 }), { round }),
    okTrial('fastify', sampleMeasured({ cpu: cpuOf(round) }), { round }),
  ]);
  return { plan, trials };
}

const worse = (share: number): Budget => ({
  metric: 'cpu',
  limit: { kind: 'worse', share, against: 'vanilla' },
});
const atMost = (value: number): Budget => ({ metric: 'cpu', limit: { kind: 'figure', value } });

function verdictsOf(rows: readonly JudgedRow[]): string[] {
  return rows.map(({ target, verdict }) => `${target} ${verdict}`);
}

const around =
  (centre: number) =>
  (round: number): number =>
    centre * (1 + ((round % 5) - 2) / 200);

describe('a budget against a baseline', () => {
  it.each([
    ['is broken if the whole interval is beyond the limit', 108, 'broken'],
    ['is kept if the whole interval is within the limit', 101, 'kept'],
    ['is undecided if the interval contains the limit', 103, 'undecided'],
    ['is kept if the target is better than the baseline', 80, 'kept'],
  ])('%s', (_, cpu, verdict) => {
    const { rows } = judgeBudget(runOf(around(cpu)), worse(0.03), ['vanilla']);
    expect(verdictsOf(rows)).toEqual([`fastify ${verdict}`]);
  });

  it('is broken after three rounds by a clear difference, and undecided after one', () => {
    const [three, one] = [3, 1].map((rounds) =>
      judgeBudget(runOf(around(150), rounds), worse(0.03), ['vanilla']),
    );
    expect(verdictsOf(three!.rows)).toEqual(['fastify broken']);
    expect(verdictsOf(one!.rows)).toEqual(['fastify undecided']);
  });

  it('is rejected if the run does not have that baseline', () => {
    const budget: Budget = { metric: 'cpu', limit: { kind: 'worse', share: 0.03, against: 'main' } };
    const error = errorOf(() => judgeBudget(runOf(around(100)), budget, ['main']));
    expect(error.message).toBe('the run has no target "main"');
  });
});

/** A run of 12 rounds whose last ones have no p99. */
function runWith(missing: number): { plan: Plan; trials: Trial[] } {
  const trials = Array.from({ length: 12 }, (_, index) => {
    const measured = sampleMeasured({ cpu: 100 });
    const { p99, ...latencyUs } = { ...measured.load.latencyUs!, p99: around(2000)(index) };
    const load = { ...measured.load, latencyUs: index < 12 - missing ? { ...latencyUs, p99 } : latencyUs };
    return okTrial('vanilla', { ...measured, load }, { round: index + 1 });
  });
  return { plan: samplePlan('--rounds 12 --connections 10'), trials };
}

/** A run whose p99 lies between these figures in every round: the generator sent requests late. */
function runBetween(
  least: number,
  most: number,
  code: ReasonCode,
  bounds?: { low?: number; high?: number },
): { plan: Plan; trials: Trial[] } {
  const { plan, trials } = runWith(0);
  const late = trials.map((trial) => {
    if (trial.status === 'failed') return trial;
    const { load } = trial.measured;
    const [low, high] = [least, most].map((us) => ({ ...load.latencyUs!, p99: around(us)(trial.round) }));
    const schedule = { intended: 5000, late: 0, dropped: 0, sinceSentUs: low! };
    const measured = { ...trial.measured, load: { ...load, latencyUs: high, schedule } };
    const reason = {
      code,
      text: 'late',
      invalidates: ['p99' as const],
      ...(bounds && { bounds: { p99: bounds } }),
    };
    return suspectTrial('vanilla', measured, [reason], { round: trial.round });
  });
  return { plan, trials: late };
}

describe('a budget for a percentile that is known within bounds', () => {
  it.each([
    ['kept', 2000, 9000, 'late-generator'],
    ['broken', 30_000, 90_000, 'late-generator'],
    ['undecided', 2000, 90_000, 'late-generator'],
    ['undecided', 2000, 9000, 'other-processes'],
  ] as const)('is %s between %i and %i µs by %s', (verdict, least, most, code) => {
    const budget: Budget = { metric: 'p99', of: 'vanilla', limit: { kind: 'figure', value: 20_000 } };
    expect(judgeBudget(runBetween(least, most, code), budget, []).rows).toMatchObject([{ verdict }]);
  });
});

describe('a budget for a figure that is bounded at one end', () => {
  const budget: Budget = { metric: 'p99', of: 'vanilla', limit: { kind: 'figure', value: 20_000 } };

  it.each([
    ['kept', 'at most 9 ms', 9000, { high: 1 }],
    ['broken', 'at least 45 ms', 90_000, { low: 0.5 }],
    ['undecided', 'at least 4.5 ms', 9000, { low: 0.5 }],
    ['undecided', 'at most 90 ms', 90_000, { high: 1 }],
  ] as const)('is %s if it is %s', (verdict, _, us, bounds) => {
    const [row] = judgeBudget(runBetween(us, us, 'other-processes', bounds), budget, []).rows;
    expect(row).toMatchObject({ verdict, open: [{ reason: { code: 'other-processes' }, rounds: 12 }] });
  });

  it('is kept in a comparison with a baseline, too', () => {
    const { plan, trials } = runOf(around(90));
    const reason = {
      code: 'unanswered',
      text: '',
      invalidates: ['cpu' as const],
      bounds: { cpu: { high: 1 } },
    };
    const bounded = trials.map((trial) =>
      trial.target.id === 'fastify' && trial.status !== 'failed'
        ? suspectTrial('fastify', trial.measured, [reason as Reason], { round: trial.round })
        : trial,
    );
    const [row] = judgeBudget({ plan, trials: bounded }, worse(0.03), ['vanilla']).rows;
    expect(row).toMatchObject({ verdict: 'kept', interval: { low: 0 } });
  });
});

describe('a budget whose metric is missing in rounds', () => {
  const p99: Budget = { metric: 'p99', of: 'vanilla', limit: { kind: 'figure', value: 20_000 } };

  it.each([12, 6])('is not measured if %d of 12 lack it', (missing) => {
    const { rows } = judgeBudget(runWith(missing), p99, []);
    expect(rows).toMatchObject([{ verdict: 'not measured', missing: { rounds: missing, of: 12 } }]);
  });

  it('is not measured if only the baseline lacks it', () => {
    const { plan, trials } = runWith(12);
    const other = runWith(0).trials.map((trial) => ({
      ...trial,
      target: { ...trial.target, id: 'fastify' },
    }));
    const relative: Budget = { metric: 'p99', limit: { kind: 'worse', share: 0.03, against: 'vanilla' } };
    const { rows } = judgeBudget({ plan, trials: [...trials, ...other] }, relative, ['vanilla']);
    expect(rows).toMatchObject([{ target: 'fastify', verdict: 'not measured', missing: { rounds: 12 } }]);
  });

  it('is kept if none lacks it', () => {
    const { rows } = judgeBudget(runWith(0), p99, []);
    expect(rows).toMatchObject([{ verdict: 'kept', missing: { rounds: 0, of: 12 } }]);
  });
});

describe('a budget with an absolute limit', () => {
  it.each([
    ['broken', 100],
    ['kept', 120],
    ['undecided', 110],
  ])('is %s at about 110 µs if the limit is %d', (verdict, limit) => {
    const { rows } = judgeBudget(runOf(around(110)), atMost(limit), ['vanilla']);
    expect(verdictsOf(rows)).toEqual([`fastify ${verdict}`]);
  });

  it.each([6, 12, 24])(
    'is rarely broken in %i rounds by a skewed figure whose median is the limit',
    (rounds) => {
      const random = createRandom(rounds);
      const { plan } = runOf(around(100), rounds);
      const tries = 2000;
      const broken = Array.from({ length: tries }, () => {
        // Beside 90, the square of an exponential variable: the median is 100, and the mean 132.
        const run = runOf(() => 90 + 10 * (Math.log(1 - random.float()) / Math.log(2)) ** 2, rounds, plan);
        return judgeBudget(run, { ...atMost(100), of: 'fastify' }, []).rows[0]?.verdict === 'broken';
      });
      expect(broken.filter(Boolean).length / tries).toBeLessThanOrEqual(0.025 + 3 * Math.sqrt(0.025 / tries));
    },
  );

  it('applies to every target if none is a baseline', () => {
    const { rows } = judgeBudget(runOf(around(110)), atMost(105), []);
    expect(verdictsOf(rows)).toEqual(['vanilla kept', 'fastify broken']);
  });

  it('applies only to the target and the rung that it names', () => {
    const run = runOf(around(110));
    expect(verdictsOf(judgeBudget(run, { ...atMost(90), of: 'vanilla' }, ['vanilla']).rows)).toEqual([
      'vanilla broken',
    ]);
    expect(judgeBudget(run, { ...atMost(90), connections: 100 }, []).rows).toEqual([]);
  });

  it('is a minimum if higher is better', () => {
    const budget: Budget = { metric: 'goodput', limit: { kind: 'figure', value: 20_000 } };
    const { rows } = judgeBudget(runOf(around(110)), budget, ['vanilla']);
    expect(verdictsOf(rows)).toEqual(['fastify broken']);
  });

  it('is undecided if too many rounds have no valid value', () => {
    const { plan, trials } = runOf(around(150));
    const spoilt = trials.map((trial) =>
      trial.target.id === 'fastify' && trial.round <= 3
        ? failedTrial('fastify', 'it died', { round: trial.round })
        : trial,
    );
    const { rows } = judgeBudget({ plan, trials: spoilt }, atMost(100), ['vanilla']);
    expect(verdictsOf(rows)).toEqual(['fastify undecided']);
  });
});

describe('a percentile in a closed loop', () => {
  const p99: Budget = { metric: 'p99', of: 'vanilla', limit: { kind: 'figure', value: 20_000 } };

  /** A run of 12 rounds of which the first ones have this many responses, and no p99. */
  const isOut = (rounds: number, answers: number): boolean => {
    const { plan, trials } = runWith(rounds);
    const few = trials
      .filter(({ round }) => round > 12 - rounds)
      .map((trial) => {
        if (trial.status === 'failed') return trial;
        const { counts } = trial.measured.load;
        return okTrial(
          'vanilla',
          { ...trial.measured, load: { ...trial.measured.load, counts: { ...counts, ok: answers } } },
          { round: trial.round - (12 - rounds) },
        );
      });
    return isOutOfReach(plan, judgeBudget({ plan, trials: few }, p99, []));
  };

  it.each([
    [true, 1, 400],
    [false, 1, 900],
    [false, 2, 900],
    [true, 3, 900],
    [false, 3, 1100],
  ])('is out of reach (%s) after %i rounds with %i answers', (expected, rounds, answers) => {
    expect(isOut(rounds, answers)).toBe(expected);
  });
});
