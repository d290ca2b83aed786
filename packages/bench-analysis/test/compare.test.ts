import { describe, expect, it } from 'vitest';
import { compareWithin, differencesWithin, findVerdicts } from '../src/compare.ts';
import { compareRuns } from '../src/runs.ts';
import COMPARE, { compareStored } from 'bench-http/commands/compare';
import { unlikeRuns } from '../src/unlike.ts';
import { makePlan } from 'bench-http/plan/plan';
import { createRandom } from 'bench-statistics/random';
import { describeChanges } from 'bench-report/changes';
import { viewComparison } from 'bench-report/compare';
import { viewRuns } from 'bench-report/runs';
import { renderTerminal } from 'bench-report/terminal';
import { summarise } from '../src/summary.ts';
import { makeReason } from 'bench-model/reasons';
import type { Trial } from 'bench-model/record';
import type { StoredRun } from '../src/results/store.ts';
import {
  errorOf,
  failedTrial,
  okTrial,
  parseBench,
  readGoldenRun,
  sampleMeasured,
  samplePlan,
  sampleStack,
  suspectTrial,
} from '../../bench-lab/testing/samples.ts';

const CPU = { by: 'cpu', threshold: 0.02 } as const;

/** A run of `vanilla` and `fastify` at 10 connections, in which fastify uses `ratio` times the CPU of vanilla, with 1 % noise. */
function sampleRun(ratio: number, rounds = 12, seed = 7): StoredRun {
  const random = createRandom(seed);
  const plan = samplePlan(`--connections 10 --rounds ${rounds}`);
  const trials = Array.from({ length: rounds }, (_, index) => {
    const round = index + 1;
    const weather = 1 + 0.2 * random.float();
    const cost = (factor: number) =>
      sampleMeasured({ cpu: 100 * weather * factor * (1 + 0.01 * random.normal()) });
    return [okTrial('vanilla', cost(1), { round }), okTrial('fastify', cost(ratio), { round })];
  }).flat();
  const { host } = readGoldenRun();
  return { schema: 1, plan, versions: { node: '26.10.0' }, leftOut: [], folder: '', host, trials };
}

/** The CPU per request of a target in µs. Node 26 uses 20 % less than Node 22. */
const cost = (id: string) =>
  ({ vanilla: 100, fastify: 200 })[id.split('@')[0] as 'vanilla'] * (id.endsWith('26') ? 0.8 : 1);

/** A run in which each target answers 1,000 requests/s, and 100/s with this request in the background. */
function disturbedRun(request: string, line = '', rounds = 12): StoredRun {
  const plan = samplePlan(`--connections 10 --rounds ${rounds} --background "${request}" ${line}`);
  const trials = plan.trials.map(({ target: id, round }) => {
    const target = plan.targets.find((one) => one.id === id)!;
    const goodput = (target.repeats === undefined ? 1000 : 100) * (1 + round / 1000);
    return { ...okTrial(id, sampleMeasured({ goodput }), { round }), target };
  });
  return { ...sampleRun(1), plan, trials };
}

function over(kind: string, version: string): StoredRun {
  const run = sampleRun(1);
  const trials = run.trials.map((trial) => ({ ...trial, companions: { upstream: { kind, version } } }));
  return { ...run, trials, versions: { ...run.versions, upstream: `${kind} ${version}` } };
}

const on = (kind: 'embedded' | 'external', version: string, maxConnections: number): StoredRun => {
  const run = sampleRun(1);
  const database = { kind, version, maxConnections };
  return { ...run, trials: run.trials.map((trial) => ({ ...trial, companions: { database } })) };
};

describe('compareWithin', () => {
  it('finds a target with more CPU per request slower, despite noise shared by a round', () => {
    const [row] = compareWithin(sampleRun(1.06), CPU).rows;
    expect(row?.comparison.verdict).toBe('slower');
    expect(row?.comparison.ratio?.estimate).toBeCloseTo(1.06, 1);
    expect(row?.candidate).toBe('fastify');
  });

  it('reverses the verdict if the other target is the baseline', () => {
    const [row] = compareWithin(sampleRun(1.06), { ...CPU, baseline: 'fastify' }).rows;
    expect(row?.comparison.verdict).toBe('faster');
    expect(row?.candidate).toBe('vanilla');
  });

  it('finds equal targets the same', () => {
    expect(compareWithin(sampleRun(1), CPU).rows[0]?.comparison.verdict).toBe('same');
  });

  it('has an interval and a rank after three rounds, and neither after one', () => {
    const [row] = compareWithin(sampleRun(1.5, 3), CPU).rows;
    expect(row?.comparison).toMatchObject({ verdict: 'slower', interval: expect.anything() });
    expect(row?.rank).toBe(2);
    const [first] = compareWithin(sampleRun(1.5, 1), CPU).rows;
    expect(first?.comparison).toMatchObject({ verdict: 'undecided', why: 'too-few-rounds' });
    expect(first?.rank).toBeUndefined();
  });

  it('holds whatever a failed trial would have shown, and is undecided if too many failed', () => {
    const run = sampleRun(1.2);
    const fail = (round: number) => {
      const at = run.trials.findIndex((trial) => trial.target.id === 'vanilla' && trial.round === round);
      run.trials[at] = failedTrial('vanilla', 'it died', { round });
      return compareWithin(run, CPU).rows[0]?.comparison;
    };
    expect(fail(1)).toMatchObject({ verdict: 'slower', unbounded: 1 });
    expect(fail(2)).toMatchObject({ verdict: 'undecided', why: 'unbounded', unbounded: 2 });
  });

  it('takes no figure that a reason invalidates without bounds, for that metric only', () => {
    const run = sampleRun(1.2);
    run.trials = run.trials.map((trial) =>
      trial.status === 'failed' || trial.round > 2
        ? trial
        : suspectTrial(
            trial.target.id,
            trial.measured,
            [{ code: 'other-processes', text: 'busy', invalidates: ['goodput'] }],
            {
              round: trial.round,
            },
          ),
    );
    expect(compareWithin(run, CPU).rows[0]?.comparison).toMatchObject({ unbounded: 0 });
    const { rows } = compareWithin(run, { ...CPU, by: 'goodput' });
    expect(rows[0]?.comparison).toMatchObject({ unbounded: 2 });
  });

  it('compares each stack with itself on the baseline runtime, and omits stacks that did not run on it', () => {
    const names = ['vanilla', 'fastify'];
    const stacks = names.map((name) => sampleStack(name));
    const options = parseBench([...names, '--node', '22,26', '--rounds', '12', '--connections', '10']);
    const plan = makePlan(options, stacks, 'a-run', 1);
    const trials = plan.trials.map(({ target, round }) => ({
      ...okTrial('vanilla', sampleMeasured({ cpu: cost(target) * (1 + round / 1000) }), { round }),
      target: plan.targets.find(({ id }) => id === target)!,
    }));
    const table = compareWithin({ plan, trials }, { ...CPU, baseline: '@22' });
    expect(compareWithin({ plan, trials }, CPU)).toEqual(table);
    expect(table.rows.map(({ candidate, baseline }) => [candidate, baseline])).toEqual([
      ['vanilla@26', 'vanilla@22'],
      ['fastify@26', 'fastify@22'],
    ]);
    for (const { comparison } of table.rows) {
      expect(comparison).toMatchObject({ verdict: 'faster' });
      expect(comparison.ratio?.estimate).toBeCloseTo(0.8);
    }
    // As in the table of all four: both of vanilla are better than fastify.
    expect(table.rows.map(({ rank }) => rank)).toEqual([1, 3]);
    expect(renderTerminal(viewComparison(table, 'run', []))).toContain('against itself on 22');
    const only = trials.filter(({ target }) => target.id !== 'fastify@22');
    expect(compareWithin({ plan, trials: only }, { ...CPU, baseline: '@22' }).rows).toHaveLength(1);
    expect(errorOf(() => compareWithin({ plan, trials }, { ...CPU, baseline: '@23' })).hint).toContain('@22');
  });

  it('compares each package version with the same version on the baseline runtime', () => {
    const words = ['fastify', '--node', '22,26', '--with', 'fastify@5.1.0', '--with', 'fastify@5.2.0'];
    const options = parseBench([...words, '--rounds', '12', '--connections', '10']);
    const plan = makePlan(options, [sampleStack('fastify')], 'a-run', 1);
    const trials = plan.trials.map(({ target, round }) => ({
      ...okTrial('fastify', sampleMeasured({ cpu: 100 + round / 1000 }), { round }),
      target: plan.targets.find(({ id }) => id === target)!,
    }));
    const { rows, baseline } = compareWithin({ plan, trials }, CPU);
    expect(baseline).toBe('@22');
    expect(rows.map(({ candidate, baseline: of }) => [candidate, of])).toEqual([
      ['fastify@26[fastify@5.1.0]', 'fastify@22[fastify@5.1.0]'],
      ['fastify@26[fastify@5.2.0]', 'fastify@22[fastify@5.2.0]'],
    ]);
  });

  it('rejects a baseline that is not in the run, and suggests the nearest name', () => {
    const error = errorOf(() => compareWithin(sampleRun(1), { ...CPU, baseline: 'vanila' }));
    expect([error.exitCode, error.hint]).toEqual([2, expect.stringContaining('vanilla')]);
  });
});

it('compares the rounds of a fixed run that was interrupted', () => {
  const { plan } = sampleRun(1.5, 12);
  const { trials } = sampleRun(1.5, 8);
  expect(compareWithin({ plan, trials }, CPU).rows[0]?.comparison).toMatchObject({
    verdict: 'slower',
    rounds: 8,
  });
});

const verdictsOn = (ratio: number, threshold: number) =>
  findVerdicts(compareWithin(sampleRun(ratio), { by: 'cpu', threshold }), ['slower', 'faster', 'same']);

describe('--fail-on', () => {
  it('finds slower and faster only if the whole interval lies beyond the threshold', () => {
    const [row] = compareWithin(sampleRun(1.06), { by: 'cpu', threshold: 0.055 }).rows;
    expect(row?.comparison).toMatchObject({ verdict: 'slower', byMoreThanThreshold: false });
    expect(verdictsOn(1.06, 0.055)).toEqual([]);
    expect(verdictsOn(1.06, 0.02)).toEqual(['slower']);
    expect(verdictsOn(1 / 1.06, 0.055)).toEqual([]);
    expect(verdictsOn(1 / 1.06, 0.02)).toEqual(['faster']);
    expect(verdictsOn(1, 0.02)).toEqual(['same']);
  });
});

describe('targets with a request in the background', () => {
  const GOODPUT = { by: 'goodput', threshold: 0.02 } as const;
  const run = disturbedRun('GET /fib/42');

  it('are each compared with the same target without it', () => {
    const table = compareWithin(run, GOODPUT);
    expect(table.baseline).toBe('undisturbed');
    expect(table.rows.map(({ candidate, baseline }) => [candidate, baseline])).toEqual([
      ['vanilla (with GET /fib/42)', 'vanilla'],
      ['fastify (with GET /fib/42)', 'fastify'],
    ]);
    for (const { comparison } of table.rows) {
      expect(comparison.verdict).toBe('slower');
      expect(comparison.ratio?.estimate).toBeCloseTo(0.1);
    }
    expect(renderTerminal(viewComparison(table, 'run', []))).toContain('against itself undisturbed');
  });

  it('are compared under the same request if a runtime is the baseline', () => {
    const { rows } = compareWithin(disturbedRun('GET /fib/42', '--node 22,26'), {
      ...GOODPUT,
      baseline: '@22',
    });
    expect(rows.map(({ candidate, baseline }) => [candidate, baseline])).toEqual(
      ['vanilla@26', 'fastify@26', 'vanilla@26 (with GET /fib/42)', 'fastify@26 (with GET /fib/42)'].map(
        (id) => [id, id.replace('26', '22')],
      ),
    );
  });

  it('are required for the baseline "undisturbed"', () => {
    expect(errorOf(() => compareWithin(sampleRun(1), { ...GOODPUT, baseline: 'undisturbed' })).message).toBe(
      'the run has no target "undisturbed"',
    );
  });

  it('make a run unlike others without --across background', () => {
    const without = { ...disturbedRun('GET /fib/42'), plan: samplePlan('--connections 10 --rounds 12') };
    expect(unlikeRuns(without, run, undefined)).toEqual(['background: none and GET /fib/42']);
    expect(unlikeRuns(without, run, 'background')).toEqual([]);
    expect(unlikeRuns(run, disturbedRun('GET /fib/30'), undefined)).toHaveLength(1);
    const { rows } = compareRuns(without, run, GOODPUT, 'background');
    expect(rows.map(({ candidate, baseline }) => [candidate, baseline])).toEqual([
      ['vanilla (with GET /fib/42)', 'vanilla'],
      ['fastify (with GET /fib/42)', 'fastify'],
    ]);
    expect(rows[0]?.ratio).toBeCloseTo(0.1);
    const between = compareRuns(run, disturbedRun('GET /fib/30'), GOODPUT, 'background').rows;
    expect(between.map(({ candidate, baseline }) => [candidate, baseline])[0]).toEqual([
      'vanilla (with GET /fib/30)',
      'vanilla (with GET /fib/42)',
    ]);
    expect(describeChanges(without, run)).toContain('changed: background none → GET /fib/42');
  });
});

/** The sample run, whose targets carry this much load. */
function carryingRun(perSecond: number): StoredRun {
  const run = sampleRun(1);
  const by = { of: 'p99', belowUs: 50_000 } as const;
  const capacity = { perSecond, by, pacePerSecond: 500, steps: [] };
  run.trials = run.trials.map((trial) =>
    okTrial(trial.target.id, sampleMeasured({ given: { capacity } }), { round: trial.round }),
  );
  return run;
}

describe('two runs', () => {
  it('have the ratio of the figures in their reports, and no interval or verdict', () => {
    const [old, now] = [sampleRun(1), sampleRun(1.4, 12, 8)];
    const [vanilla, fastify] = compareRuns(old, now, CPU).rows;
    expect([vanilla?.candidate, fastify?.candidate]).toEqual(['vanilla', 'fastify']);
    const [before, after] = [old, now].map(
      ({ trials }) => summarise(trials).find(({ target }) => target === 'fastify')?.figures.cpu,
    );
    expect(fastify).toEqual({
      connections: 10,
      candidate: 'fastify',
      baseline: 'fastify',
      old: before,
      new: after,
      ratio: after!.median / before!.median,
    });
  });

  it('have no ratio of capacities, which hold for their run', () => {
    const between = compareRuns(carryingRun(400), carryingRun(500), { by: 'capacity', threshold: 0.05 });
    expect(between.rows[0]).toMatchObject({ old: { rounds: 12 }, new: { rounds: 12 } });
    expect(between.rows[0]).not.toHaveProperty('ratio');
    expect(renderTerminal(viewRuns(between, 'a → b', []))).toContain('a capacity holds for its run');
  });

  it('have no ratio if a figure is invalid', () => {
    const now = sampleRun(1);
    now.trials = now.trials.map((trial) =>
      trial.status === 'failed'
        ? trial
        : suspectTrial(
            trial.target.id,
            trial.measured,
            [{ code: 'other-processes', text: 'busy', invalidates: ['cpu'] }],
            { round: trial.round },
          ),
    );
    const [row] = compareRuns(sampleRun(1), now, CPU).rows;
    expect(row).not.toHaveProperty('ratio');
    expect(renderTerminal(viewRuns(compareRuns(sampleRun(1), now, CPU), 'a → b', []))).toMatch(/\?\s+—/);
  });

  it.each([
    ['timeout', (run: StoredRun) => void (run.plan.timeoutSeconds = 3)],
    ['workload', (run: StoredRun) => void (run.plan.workload = 'fib')],
    ['connections: 10 and 10, 100', (run: StoredRun) => void (run.plan.rungs = [10, 100])],
    ['workers', (run: StoredRun) => void (run.plan.workers = 2)],
    ['threads', (run: StoredRun) => void (run.plan.threads = 2)],
    ['cores: 1 and 2', (run: StoredRun) => void (run.plan.cores = 2)],
    ['parameters: none and n=24', (run: StoredRun) => void (run.plan.params = { n: 24 })],
    ['engine', (run: StoredRun) => void (run.plan.engine = 'wrk')],
    ['cores', (run: StoredRun) => void (run.host = { ...run.host, cores: 96 })],
    ['kernel', (run: StoredRun) => void (run.host = { ...run.host, release: '1.0' })],
    ['placement', (run: StoredRun) => void (run.trials[0]!.placement = { kind: 'shared' })],
  ])('are unlike if they differ in %s', (factor, change) => {
    const now = structuredClone(sampleRun(1));
    change(now);
    const found = unlikeRuns(sampleRun(1), now, undefined);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(factor);
  });

  it('may differ in the one factor that --across names', () => {
    const now = structuredClone(sampleRun(1));
    now.plan.workers = 2;
    expect(unlikeRuns(sampleRun(1), now, 'workers')).toEqual([]);
    expect(unlikeRuns(sampleRun(1), now, 'engine')).toHaveLength(1);
  });

  it('may be one process with threads and several processes with --across workers', () => {
    const [threads, processes] = [structuredClone(sampleRun(1)), structuredClone(sampleRun(1))];
    Object.assign(threads.plan, { workers: 1, threads: 2, cores: 2 });
    processes.plan.workers = 2;
    expect(unlikeRuns(threads, processes, 'workers')).toEqual([]);
    expect(unlikeRuns(threads, processes, 'threads')).toEqual(['workers: 1 and 2']);
    // A different number of cores still makes them unlike.
    processes.plan.cores = 4;
    expect(unlikeRuns(threads, processes, 'workers')).toEqual(['cores: 2 and 4']);
    expect(describeChanges(threads, processes)).toEqual([
      'changed: workers 1 → 2',
      'changed: threads 2 → default of the stack',
      'changed: cores 2 → 4',
    ]);
  });

  it('may use other cores, and so another placement, with --across cores', () => {
    const now = structuredClone(sampleRun(1));
    now.plan.cores = 2;
    now.trials[0]!.placement = { kind: 'shared' };
    expect(unlikeRuns(sampleRun(1), now, 'cores')).toEqual([]);
    expect(unlikeRuns(sampleRun(1), now, 'workers')).toHaveLength(2);
  });

  it('may not use different kinds of upstream without --across upstream', () => {
    const nginx = over('nginx', '1.22.1');
    expect(unlikeRuns(nginx, over('embedded', '26.10.0'), undefined)).toEqual([
      'upstream: nginx and embedded',
    ]);
    expect(unlikeRuns(nginx, over('embedded', '26.10.0'), 'upstream')).toEqual([]);
    expect(unlikeRuns(nginx, over('nginx', '1.24.0'), undefined)).toEqual([]);
    expect(describeChanges(nginx, over('nginx', '1.24.0'))).toEqual([
      'changed: upstream nginx 1.22.1 → nginx 1.24.0',
    ]);
  });

  it('may not use different databases without --across database', () => {
    const embedded = on('embedded', '18.4', 500);
    expect(unlikeRuns(embedded, on('embedded', '18.4', 500), undefined)).toEqual([]);
    expect(unlikeRuns(embedded, on('external', '18.4', 100), undefined)).toEqual([
      'database: embedded 18.4, 500 connections and external 18.4, 100 connections',
    ]);
    expect(unlikeRuns(embedded, on('embedded', '19.0', 500), undefined)).toHaveLength(1);
    expect(unlikeRuns(embedded, on('external', '15.1', 100), 'database')).toEqual([]);
  });

  it('may not use different companions of an unknown kind', () => {
    const cached = (size: number): StoredRun => {
      const run = sampleRun(1);
      const trials = run.trials.map(
        (trial) => ({ ...trial, companions: { cache: { size } } }) as unknown as Trial,
      );
      return { ...run, trials };
    };
    expect(unlikeRuns(cached(1), cached(1), undefined)).toEqual([]);
    expect(unlikeRuns(cached(1), cached(2), undefined)).toEqual(['cache: {"size":1} and {"size":2}']);
    expect(unlikeRuns(sampleRun(1), cached(2), undefined)).toEqual(['cache: none and {"size":2}']);
  });

  it('are reported with what changed in the environment', () => {
    const now = { ...sampleRun(1), versions: { node: '27.0.0' } };
    expect(describeChanges(sampleRun(1), now)).toEqual(['changed: node 26.10.0 → 27.0.0']);
    expect(describeChanges(now, now)).toEqual([expect.stringMatching(/^no changes in /)]);
  });
});

describe('the view of a comparison', () => {
  it('fits a terminal', () => {
    const mark = 'a mark that is longer than a narrow terminal is wide, and so is broken between two words';
    const text = renderTerminal(viewComparison(compareWithin(sampleRun(1.06), CPU), 'run', [mark]), {
      width: 80,
    });
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(text.replaceAll(/\s+/g, ' ')).toContain(mark);
  });

  it('shows the ratio, the verdict, the difference and its interval', () => {
    const text = renderTerminal(viewComparison(compareWithin(sampleRun(1.06), CPU), 'run', ['a mark']));
    expect(text).toMatch(
      /fastify\s+× 1\.0\d\d\s+slower: \+6\.\d % \(\+\d\.\d % to \+\d\.\d %\), median latency 0 % \(0 % to 0 %\)\s+2\s+In each row: connections 10, rounds 12/,
    );
    expect(text).toContain('a mark');
    expect(text).not.toContain('hold simultaneously');
  });

  it('states the simultaneous confidence of several intervals', () => {
    const { plan, trials, ...rest } = sampleRun(1.06);
    const thrice = trials
      .filter(({ target }) => target.id === 'fastify')
      .flatMap((trial) => ['a', 'b'].map((id) => ({ ...trial, target: { ...trial.target, id } })));
    const targets = [...plan.targets, ...['a', 'b'].map((id) => ({ ...plan.targets[1]!, id }))];
    const run = { ...rest, plan: { ...plan, targets }, trials: [...trials, ...thrice] };
    expect(renderTerminal(viewComparison(compareWithin(run, CPU), 'run', []))).toContain(
      'Paired by round; all 3 intervals hold simultaneously with 95 % confidence',
    );
  });

  it('shows what was observed if there is no interval, once for a single round', () => {
    expect(renderTerminal(viewComparison(compareWithin(sampleRun(1.2, 1), CPU), 'run', []))).toMatch(
      /undecided: too few rounds; observed \+\d+ %; a large difference needs 3 rounds, others at least 6 {2}/,
    );
  });
});

describe('the command line of compare', () => {
  it('defaults to CPU and a threshold of 2 %', () => {
    expect(compareStored(['20261123-130242-devices']).compared.table).toMatchObject(CPU);
  });

  it('reads a threshold with or without a percent sign', () => {
    for (const [typed, threshold] of [
      ['3%', 0.03],
      ['0.05', 0.05],
    ] as const)
      expect(COMPARE.parse(['latest', '--threshold', typed])).toMatchObject({ threshold });
  });

  it.each([
    ['--threshold', '0'],
    ['--threshold', '200%'],
    ['--by', 'speed'],
    ['--fail-on', 'slow'],
    ['--across', 'hosts'],
  ])('refuses %s %s', (flag, word) => {
    expect(errorOf(() => COMPARE.parse(['latest', flag, word])).exitCode).toBe(2);
  });
});

/** The sample run, in which the first trials of fastify became slower in their windows by this factor. */
function doubtfulRun(ratio: number, trials: number, factor: number): StoredRun {
  const run = sampleRun(ratio);
  const trend = makeReason('ratio-trend', { change: factor, when: 'in the window' });
  run.trials = run.trials.map((trial) =>
    trial.target.id === 'fastify' && trial.round <= trials && trial.status !== 'failed'
      ? suspectTrial('fastify', trial.measured, [trend], { round: trial.round })
      : trial,
  );
  return run;
}

describe('a comparison with trials in doubt', () => {
  it('decides on a clear difference, whatever they are within their bounds', () => {
    const { comparison } = compareWithin(doubtfulRun(1.86, 2, 1.2), CPU).rows[0]!;
    expect(comparison).toMatchObject({ verdict: 'slower', rounds: 12, unbounded: 0 });
  });

  it('does not decide on a difference that they could make', () => {
    const { comparison } = compareWithin(doubtfulRun(1.03, 6, 1.5), CPU).rows[0]!;
    expect(comparison).toMatchObject({ verdict: 'undecided', unbounded: 0 });
  });
});

it('bounds a pair of which either server changed once, and servers that changed each by itself twice', () => {
  const pair = { candidate: 'fastify', baseline: 'vanilla', connections: 10 };
  for (const [ours, theirs, width] of [
    [1.1, 1 / 1.1, 1.1 ** 2],
    [1.1, 1.2, (1.1 * 1.2) ** 2],
  ] as const) {
    const trials = [pair.candidate, pair.baseline].map((target) => {
      const change = target === pair.candidate ? ours : theirs;
      const trend = makeReason('ratio-trend', { change, when: 'in the window' });
      return suspectTrial(target, sampleMeasured({ cpu: 20 }), [trend], {
        duel: 'c10',
        connections: 10,
        round: 1,
      });
    });
    for (const metric of ['cpu', 'p50'] as const) {
      const [difference] = differencesWithin(trials, pair, metric);
      const { low, high } = difference!;
      expect(Math.exp(high - low)).toBeCloseTo(width, 9);
    }
  }
});

/** A server that keeps this many bytes of each response, over this many turns of 1,000 responses. */
const grown = (turns: number, bytes: number) => {
  const measured = sampleMeasured();
  const answers = Array.from({ length: turns }, () => 1000);
  const memoryBytes = answers.map((_, turn) => 50e6 + (turn + 1) * 1000 * bytes);
  const server = { ...measured.server!, peakBytes: memoryBytes.at(-1)! };
  const goodputPerSecond = answers.map(() => 1);
  return { ...measured, server, turns: { answers, memoryBytes, goodputPerSecond } };
};

it('compares the memory of two servers that leak after equal numbers of responses', () => {
  const { plan, ...run } = sampleRun(1);
  const trials = run.trials.map(({ target, round }) =>
    okTrial(target.id, grown(target.id === 'fastify' ? 40 : 20, 1000), { round }),
  );
  const { comparison } = compareWithin({ plan, trials }, { by: 'memory', threshold: 0.02 }).rows[0]!;
  expect(comparison).toMatchObject({ verdict: 'same', ratio: { estimate: 1 } });
});
