import { describe, expect, it } from 'vitest';
import { closeReport } from '../src/closing.ts';
import { makeReason } from 'bench-model/reasons';
import { renderMarkdown } from '../src/markdown.ts';
import { toModel } from '../src/model/model.ts';
import { renderTerminal } from '../src/terminal.ts';
import { toView } from '../src/view.ts';
import type { Plan } from 'bench-model/plan';
import type { Trial } from 'bench-model/record';
import {
  failedTrial,
  okTrial,
  readGoldenRun,
  sampleMeasured,
  samplePlan,
  suspectTrial,
} from '../../bench-lab/testing/samples.ts';

const { host } = readGoldenRun();

const NAMES = ['vanilla', 'fastify'];

/** Returns a trial for each planned one, with this CPU per request. */
function measure(plan: Plan, cpuOf: (target: string, round: number) => number): Trial[] {
  return plan.trials.map(({ id, target, connections, round }) =>
    okTrial(target, sampleMeasured({ cpu: cpuOf(target, round) }), { id, connections, round }),
  );
}

const cheaper = (target: string, round: number): number => (target === 'vanilla' ? 100 : 150) + round;

const modelOf = (plan: Plan, trials: Trial[]) => toModel({ plan, host, versions: {}, leftOut: [], trials });

function close(plan: Plan, trials: Trial[]): string {
  const { sentence, command } = closeReport(modelOf(plan, trials)) ?? {};
  return `${sentence}: ${command}`;
}

/** Two servers 61 % apart, whose rounds vary far more than that. */
const restless = (target: string, round: number): number =>
  (target === 'vanilla' ? [322, 250, 700] : [519, 900, 300])[round - 1] ?? 0;

describe('the last sentence of a report', () => {
  it('names the best target, and shows the charts', () => {
    const plan = samplePlan('--connections 10,100 --rounds 3', NAMES);
    expect(close(plan, measure(plan, cheaper))).toBe(
      'Lowest CPU per request: vanilla at every number of connections (102 µs). For charts: pnpm report 20261120-120000-devices --open',
    );
  });

  it('says how much load each target carries at its promises, and by how much they differ', () => {
    const plan = samplePlan('--connections 10 --rounds 12 --slo p99<50ms', NAMES);
    const carry = (of: (target: string, round: number) => number, bound?: 'at least'): Trial[] =>
      plan.trials.map(({ id, target, connections, round }) =>
        okTrial(
          target,
          {
            ...sampleMeasured({ cpu: 100 }),
            capacity: {
              perSecond: of(target, round),
              ...(bound && { bound }),
              by: { of: 'p99', belowUs: 50_000 },
              pacePerSecond: 500,
              steps: [],
            },
          },
          { id, connections, round },
        ),
      );
    const better = carry((target, round) => (target === 'vanilla' ? 4000 : 3600) + 10 * round);
    expect(close(plan, better)).toMatch(
      /^vanilla carries 4,0\d\d\/s \(3,9\d\d\/s to 4,1\d\d\/s\) at p99 < 50 ms in this run, fastify 3,6\d\d\/s .*; fastify against vanilla: slower: −9.8 % /,
    );
    const facts = { promise: 'p99 < 50 ms', kept: 1, loads: 24 };
    const rarely = better.map((trial) =>
      trial.target.id === 'vanilla' && trial.round > 3
        ? { ...trial, reasons: [makeReason('slo-rarely-met', facts)] }
        : trial,
    ) as Trial[];
    expect(close(plan, rarely)).toMatch(
      /^vanilla carries probably less than 4,0\d\d\/s at p99 < 50 ms in this run, fastify 3,6\d\d\/s \(/,
    );
    const bounded = carry(() => 4000, 'at least');
    expect(close(plan, bounded)).toContain(
      'vanilla carries at least 4,000/s at p99 < 50 ms in this run, fastify at least 4,000/s',
    );
  });

  it('says of a capacity that is invalid only that it is', () => {
    const plan = samplePlan('--connections 10 --rounds 1 --slo p99<50ms', NAMES);
    const busy = makeReason('cores-changed', { placed: [1], found: [0] });
    const trials = (spoilt: readonly string[]): Trial[] =>
      plan.trials.map(({ id, target, connections, round }) => {
        const by = { of: 'p99', belowUs: 50_000 } as const;
        const capacity = { perSecond: 4000, by, pacePerSecond: 500, steps: [] };
        const measured = { ...sampleMeasured({ cpu: 100 }), capacity };
        const head = { id, connections, round };
        return spoilt.includes(target)
          ? suspectTrial(target, measured, [busy], head)
          : okTrial(target, measured, head);
      });
    expect(close(plan, trials(['fastify']))).toContain(
      'vanilla carries 4,000/s at p99 < 50 ms in this run; not valid: fastify',
    );
    expect(close(plan, trials(NAMES))).toContain('No capacity at p99 < 50 ms is valid');
  });

  it('calls no targets alike that only noise keeps apart, and says how to get a verdict', () => {
    const plan = samplePlan('--connections 10 --rounds 3', NAMES);
    expect(close(plan, measure(plan, restless))).toBe(
      'Lowest CPU per request: vanilla at 10 connections (322 µs); so few rounds cannot rank them. For a verdict on the best two: pnpm compare vanilla fastify',
    );
  });

  it('names a target in doubt as lowest if it is so whatever its doubt, and none if another may be', () => {
    const plan = samplePlan('--connections 10 --rounds 1', NAMES);
    /** The first target has become 10 % slower than the others in its window, which its figure is in doubt by. */
    const slower = { change: 1.1, when: 'in the window' } as const;
    const trials = (cpu: number): Trial[] =>
      plan.trials.map(({ id, target, connections, round }) => {
        const head = { id, connections, round };
        return target === 'vanilla'
          ? suspectTrial(target, sampleMeasured({ cpu }), [makeReason('ratio-trend', slower)], head)
          : okTrial(target, sampleMeasured({ cpu: 150 }), head);
      });
    expect(close(plan, trials(100))).toContain('Lowest CPU per request: vanilla');
    expect(close(plan, trials(145))).toContain('Too few rounds are valid to compare the CPU per request');
  });

  it('names as lowest, ranks and judges from one comparison', () => {
    const plan = samplePlan('--connections 10 --rounds 3', NAMES);
    for (const cpuOf of [cheaper, restless]) {
      const model = modelOf(plan, measure(plan, cpuOf));
      const [{ comparison } = {}] = model.comparisons.find(({ by }) => by === 'cpu')?.rows ?? [];
      const ranks = new Set(model.rows.map(({ figures }) => figures.cpu?.rank));
      const isDecided = comparison?.verdict !== 'undecided';
      expect(ranks).toEqual(new Set(isDecided ? [1, 2] : [1]));
      expect(closeReport(model)?.sentence.includes('cannot rank them')).toBe(!isDecided);
    }
  });

  it('names all targets that the rounds do not distinguish, and each rung that differs', () => {
    const plan = samplePlan('--connections 1,10,100 --rounds 3', NAMES);
    const trials = measure(plan, cheaper).map((trial) =>
      trial.connections === 100
        ? okTrial(trial.target.id, sampleMeasured({ cpu: 90 + trial.round }), {
            connections: 100,
            round: trial.round,
          })
        : trial,
    );
    expect(close(plan, trials)).toMatch(
      /^Lowest CPU per request: vanilla at 1 and 10 connections \(102 µs\), (vanilla or fastify|fastify or vanilla) at 100 \(92\.0 µs\)\. /,
    );
  });

  it('says once that one round ranks nothing', () => {
    const plan = samplePlan('--connections 1 --rounds 1', NAMES);
    expect(close(plan, measure(plan, cheaper))).toMatch(
      /^Lowest CPU per request: vanilla at 1 connection \(101 µs\); one round cannot rank them\. /,
    );
  });

  it('gives the verdict on two targets, and shows the charts', () => {
    const plan = samplePlan('--connections 10 --rounds 12', NAMES);
    expect(close(plan, measure(plan, cheaper))).toMatch(
      /^The CPU per request of fastify is \d+ % higher than that of vanilla at 10 connections, and the median response of fastify takes as long\. For charts: pnpm report \S+ --open$/,
    );
  });

  it('leads to the cause of a difference between versions of one program, unless it is shown', () => {
    const plan = samplePlan('--connections 10 --rounds 12', NAMES);
    const versions = { ...plan, targets: plan.targets.map((target) => ({ ...target, stack: 'shop' })) };
    expect(close(versions, measure(plan, cheaper))).toMatch(/\. For the cause: pnpm bench:why \S+$/);
    expect(
      close(
        versions,
        measure(plan, () => 100),
      ),
    ).toMatch(/\. For charts: /);
    const model = modelOf(versions, measure(plan, cheaper));
    expect(closeReport(model, { isExplained: true })?.sentence).toMatch(/\. For charts$/);
  });

  it('leads to the command that was typed for a run that was begun elsewhere', () => {
    const plan = samplePlan('--connections 10 --rounds 12', NAMES);
    const model = modelOf(plan, measure(plan, cheaper));
    const typed = { ...model, repeat: "pnpm bench --run 'node a.js; touch b'" };
    expect(closeReport(typed, { isForeign: true })).toEqual({
      sentence: expect.stringMatching(/\. To measure the same$/),
      command: typed.repeat,
    });
    expect(closeReport(model, { isForeign: true })?.sentence).toMatch(/\. For charts$/);
  });

  it('counts the verdicts on several', () => {
    const plan = samplePlan('--connections 10 --rounds 12', [...NAMES, 'litestar']);
    expect(close(plan, measure(plan, cheaper))).toMatch(
      /^2 comparisons of CPU per request against vanilla: 2 worse \(fastify \+47 %, litestar \+47 %\)\. For charts: /,
    );
  });

  it('describes a single target at its highest goodput', () => {
    const plan = samplePlan('--connections 10 --rounds 1', ['vanilla']);
    expect(close(plan, measure(plan, cheaper))).toMatch(
      /^vanilla at 10 connections: [\d,]+\/s, 101 µs CPU per request\. For charts: pnpm report \S+ --open$/,
    );
  });

  it('leads from an interrupted run to its end, and from failed trials to their logs', () => {
    const plan = samplePlan('--connections 10 --rounds 3', NAMES);
    const trials = measure(plan, cheaper);
    expect(close(plan, trials.slice(0, 3))).toMatch(/\. To complete the run: pnpm bench --resume \S+$/);
    const failed = trials.map((trial, index) => (index === 0 ? failedTrial('vanilla', 'gone') : trial));
    expect(close(plan, failed)).toMatch(/\. For the log of the failed trial: pnpm report \S+ --detail$/);
    const none = trials.map(({ target, round }) => failedTrial(target.id, 'gone', { round }));
    expect(close(plan, none)).toMatch(/^Every trial failed\. For the logs of the 6 failed trials: /);
  });

  it('proposes no command that would measure something else', () => {
    const plan = samplePlan('--connections 10 --rounds 3 --rate 100', NAMES);
    expect(close(plan, measure(plan, cheaper))).toMatch(/\. For charts: pnpm report \S+ --open$/);
  });

  it('ends the report on a terminal with a command that can be copied, and leads the Markdown', () => {
    const plan = samplePlan('--connections 10,100 --rounds 3', NAMES);
    const view = toView(modelOf(plan, measure(plan, cheaper)));
    const { sentence = '', command = '' } = view.closing ?? {};
    const lines = renderTerminal(view, { width: 80 }).trimEnd().split('\n');
    expect(lines.at(-1)?.endsWith(command)).toBe(true);
    expect(lines.slice(lines.lastIndexOf('')).join(' ').replaceAll(/\s+/g, ' ').trim()).toBe(
      `${sentence}: ${command}`,
    );
    expect(renderMarkdown(view).split('\n')[0]).toBe(`${sentence}: \`${command}\``);
  });

  it('ranks no lower bounds, and no target without a rival', () => {
    const plan = samplePlan('--connections 10 --rounds 3', NAMES);
    const bound = makeReason('generator-bound', { busy: 0.95, coresUsed: 0.5 });
    const bounded = plan.trials.map(({ id, target, round }): Trial => {
      const measured = sampleMeasured();
      return target === 'vanilla'
        ? suspectTrial(target, measured, [bound], { id, round })
        : okTrial(target, measured, { id, round });
    });
    expect(close(plan, bounded)).toMatch(
      /^Too few rounds are valid to compare the goodput of the targets\. For the reasons: /,
    );
    const others = makeReason('throttled', { count: 1 });
    const alone = plan.trials.map(({ id, target, round }): Trial => {
      const measured = sampleMeasured({ cpu: 100 });
      return target === 'vanilla'
        ? suspectTrial(target, measured, [others], { id, round })
        : okTrial(target, measured, { id, round });
    });
    expect(close(plan, alone)).toMatch(
      /^Too few rounds are valid to compare the CPU per request of the targets\. For the reasons: /,
    );
  });

  it('names no best target at a rung where a rival has too few valid rounds', () => {
    const plan = samplePlan('--connections 10,100 --rounds 3', NAMES);
    const others = makeReason('throttled', { count: 1 });
    const trials = plan.trials.map(({ id, target, connections, round }): Trial => {
      const measured = sampleMeasured({ cpu: cheaper(target, round) });
      const isLost = target === 'vanilla' && connections === 100 && round > 1;
      return isLost
        ? suspectTrial(target, measured, [others], { id, connections, round })
        : okTrial(target, measured, { id, connections, round });
    });
    expect(close(plan, trials)).toMatch(/^Lowest CPU per request: vanilla at 10 connections \(102 µs\)\. /);
  });

  it('is absent without a trial', () => {
    expect(closeReport(modelOf(samplePlan('--connections 10'), []))).toBeUndefined();
  });
});
