import { trackRun } from 'bench-analysis/due';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Plan } from 'bench-model/plan';
import { secondsPerRound } from 'bench-model/planned';
import { describeAhead, describeTrial, showProgress, type Screen } from '../src/progress.ts';
import type { Trial } from 'bench-model/record';
import { okTrial, sampleMeasured, samplePlan, sampleTurns } from '../../bench-lab/testing/samples.ts';

/** A screen that keeps what it shows, each text with its kind. */
function record(isLive: boolean, width = 80): { screen: Screen; shown: [string, string][] } {
  const shown: [string, string][] = [];
  const keep = (kind: string) => (text: string) => shown.push([kind, stripVTControlCharacters(text)]);
  const screen = {
    isLive,
    layout: () => ({ width }),
    showLive: keep('live'),
    showLine: keep('line'),
    showReport: keep('report'),
  };
  return { screen, shown };
}

interface Playing {
  seconds?: number;
  before?: number;
  until?: number;
  /** CPU per request of some targets, by round. */
  costs?: Record<string, (round: number) => number>;
}

/** Shows the trials of a plan, each measured in this time. CPU per request is drawn from the name of the target. */
function play(
  plan: Plan,
  screen: Screen,
  { seconds = 10, before = 0, until = plan.trials.length, costs = {} }: Playing = {},
): void {
  const trials = plan.trials.map(({ id, target, connections, round, duel }): Trial => {
    const cpu = costs[target]?.(round) ?? (target === 'vanilla' ? 100 + round : 200 - round);
    return {
      ...okTrial(target, sampleMeasured({ cpu }), { round, connections, id }),
      ...(duel !== undefined && { duel }),
    };
  });
  const show = showProgress(plan, screen, { tracker: trackRun(plan), before: trials.slice(0, before) });
  const of = trials.length;
  for (const [done, planned] of plan.trials.entries()) {
    if (done < before || done >= until) continue;
    show({ kind: 'started', planned, done, of });
    vi.advanceTimersByTime(seconds * 1000);
    show({ kind: 'ended', trial: trials[done] as Trial, done: done + 1, of });
  }
}

const textsOf = (shown: [string, string][], kind: string): string[] =>
  shown.filter(([one]) => one === kind).map(([, text]) => text);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
});

afterEach(() => {
  vi.useRealTimers();
});

describe('the live line', () => {
  it('estimates the time left correctly if the system clock is set forward', () => {
    const { screen, shown } = record(true);
    const plan = samplePlan('--connections 10 --rounds 8 --duration 5 --warmup 2', ['vanilla']);
    play(plan, { ...screen, showLine: () => vi.setSystemTime(Date.now() + 3_600_000) }, { until: 5 });
    // Four trials are left, of 10 s each.
    expect(textsOf(shown, 'live').at(-1)).toMatch(/ · 40 s left$/);
  });

  it('shows the trial under way, the figures so far at its rung, and when the run ends', () => {
    const { screen, shown } = record(true, 120);
    const plan = samplePlan('--connections 10 --rounds 20');
    play(plan, screen, { until: 4 });
    const [first, ...others] = textsOf(shown, 'live');
    expect(first).toMatch(/^\[1\/40\] \S+ at 10, round 1 · \d+ min left, until \d\d:\d\d$/);
    expect(others.at(-1)).toMatch(
      /^\[4\/40\] \S+ at 10, round 2 · vanilla 10[\d.]+, fastify 19[\d.]+ µs\/req · \d+ min left, until \d\d:\d\d$/,
    );
  });

  it.each([40, 60, 80])('fits %i columns, so that the next text replaces it', (width) => {
    const { screen, shown } = record(true, width);
    const names = ['vanilla', 'fastify', 'litestar', 'uvicorn', 'fastapi'];
    play(samplePlan('--connections 10,100 --rounds 3', names), screen);
    const lines = textsOf(shown, 'live');
    expect(lines).toHaveLength(30);
    for (const line of lines) expect(line.length).toBeLessThan(width);
  });

  it('names both servers of a duel', () => {
    const { screen, shown } = record(true);
    const plan = sampleTurns('--connections 10 --rounds 6');
    play(plan, screen, { until: 2 });
    expect(textsOf(shown, 'live')[1]).toMatch(
      /^\[2\/12\] (vanilla and fastify|fastify and vanilla) at 10, round 1 /,
    );
  });
});

describe('the table so far', () => {
  const plan = samplePlan('--connections 10,100 --rounds 3', ['vanilla', 'fastify']);

  it('follows each round on a terminal but the last, whose report follows', () => {
    const { screen, shown } = record(true);
    play(plan, screen);
    const [first = '', second = '', ...others] = textsOf(shown, 'report');
    expect(first).toMatch(
      /^after 1 of 3 rounds:\n┌[^]*\n  In each row: class framework, limit waiting, status ok\n/,
    );
    expect(first).toContain('│ 100 connections');
    expect(first).toMatch(/│ vanilla .* 101 │/);
    expect(second).toMatch(/^after 2 of 3 rounds:\n/);
    expect(second).not.toContain('±');
    expect(others).toEqual([]);
    expect(shown.findIndex(([kind]) => kind === 'report')).toBe(2 * 4);
  });

  it('is omitted in a log', () => {
    const { screen, shown } = record(false);
    play(plan, screen);
    expect(shown.map(([kind]) => kind)).toEqual(plan.trials.map(() => 'line'));
  });

  it('is omitted while rounds are short', () => {
    const { screen, shown } = record(true);
    play(plan, screen, { seconds: 1 });
    expect(textsOf(shown, 'report')).toEqual([]);
  });

  it('includes the trials that an interrupted run has stored', () => {
    const { screen, shown } = record(true);
    play(plan, screen, { before: 6 });
    const table = expect.stringMatching(/^after 2 of 3 rounds:[^]*│ vanilla .* 102 │/);
    expect(textsOf(shown, 'report')).toEqual([table]);
  });
});

describe('a sequential test', () => {
  const plan = samplePlan('--connections 10 --threshold 2%', ['vanilla', 'fastify']);

  it.each([true, false])('lists the decisions of each look (on a terminal: %s)', (isLive) => {
    const { screen, shown } = record(isLive);
    play(plan, screen, { until: 2 * 13 });
    const lines = textsOf(shown, 'line').filter((line) => !line.startsWith('['));
    expect(lines[0]).toBe('after 3 rounds, 1 of 1 comparison decided:');
    expect(lines[1]).toMatch(/^ {2}fastify against vanilla at 10: slower: \+\d+ % \(/);
    expect(lines).toHaveLength(2);
  });

  it('shows no decided comparison twice', () => {
    const { screen, shown } = record(false);
    const names = ['vanilla', 'fastify', 'noisy'];
    const matrix = samplePlan('--connections 10 --budget 1h', names, { looks: '12/18/24' });
    play(matrix, screen, { until: 3 * 19, costs: { noisy: (round) => 100 + 40 * Math.sin(round * round) } });
    const lines = textsOf(shown, 'line').filter((line) => !line.startsWith('['));
    expect(lines[0]).toBe('after 3 rounds, 1 of 2 comparisons decided:');
    expect(lines[1]).toMatch(/^ {2}fastify against vanilla at 10: slower/);
    expect(lines[2]).toMatch(/^ {2}noisy against vanilla at 10: undecided/);
    expect(lines[3]).toBe('after 12 rounds, 1 of 2 comparisons decided:');
    expect(lines[4]).toMatch(/^ {2}noisy against vanilla at 10: undecided/);
    expect(lines[5]).toBe('after 18 rounds, 1 of 2 comparisons decided:');
    expect(lines).toHaveLength(7);
  });

  it('shows the verdicts of a look in their colours', () => {
    const styles: unknown[] = [];
    const { screen } = record(false);
    const showLine = (text: string, style?: string) => text.startsWith('  ') && styles.push(style);
    play(plan, { ...screen, showLine }, { until: 2 * 13 });
    expect(styles).toEqual(['bad']);
  });

  it('names the looks to come in its live line', () => {
    const { screen, shown } = record(true, 120);
    play(plan, screen, { until: 2 * 13 });
    const lines = textsOf(shown, 'live');
    expect(lines[0]).toContain(' · first look after 3 rounds · ');
    expect(lines.at(-1)).toContain(' · 1 of 1 decided after 12 rounds, next look after 18 · ');
  });

  it('draws each open comparison below its live line, with an interval that narrows, and cuts only its name', () => {
    const { screen, shown } = record(true);
    play(plan, screen, {
      until: 2 * 12,
      costs: { fastify: (round) => 110 + 12 * ((round % 3) - 1), vanilla: () => 100 },
    });
    const rows = textsOf(shown, 'live').flatMap((text) => text.split('\n').slice(1));
    expect(rows[0]).toMatch(/^ {2}fastify against.* {2}[ ─│●]{25} {2}\S.* 1 round$/);
    expect(rows.at(-1)).toMatch(/^ {2}fastify ag.*… {2}[ ─│●]{25} {2}\S.*\) {2}11 rounds$/);
    const widths = rows.map((row) => row.split('─').length);
    expect(widths.at(-1)).toBeLessThan(Math.max(...widths));
    for (const row of rows) expect(row.length).toBeLessThan(80);
  });

  it('names no look in its live line that the budget does not hold', () => {
    const { screen, shown } = record(true, 120);
    const line = `--connections 10 --budget ${Math.ceil(2 * secondsPerRound(plan))}s`;
    play(samplePlan(line, ['vanilla', 'fastify'], { looks: '12/18/24' }), screen, { until: 2 });
    expect(textsOf(shown, 'live')[0]).toContain(' · first look at the end of the budget · at most ');
  });
});

/** What a run of two targets has before it. */
const ahead = (line: string, seconds: number) => {
  const plan = samplePlan(`--connections 10 ${line}`, ['vanilla', 'fastify']);
  return describeAhead(plan, plan.trials, seconds);
};

it('says before a run when it may end, if the budget lasts that long', () => {
  const line = '--threshold 2%';
  expect(ahead(line, 1800)).toMatch(
    /^may end after 3 rounds for large differences, after 12 for others, in about \d+ (s|min); 30 min left, until \d\d:\d\d$/,
  );
  expect(ahead(`${line} --budget 30s`, 30)).toBe('at most 30 s left');
  expect(ahead('--rounds 12', 60)).toBe('60 s left');
});

it('prints one line for each trial', () => {
  const { screen, shown } = record(false);
  const plan = samplePlan('--connections 10 --rounds 1', ['vanilla']);
  play(plan, screen);
  const trial = { ...okTrial('vanilla', sampleMeasured({ cpu: 101 })), connections: 10 };
  expect(shown).toEqual([['line', describeTrial(trial, 1, 1)]]);
});
