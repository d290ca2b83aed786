import { trackRun } from 'bench-analysis/due';
import type { RunEvent } from 'bench-model/planned';
import { describe, expect, it, vi } from 'vitest';
import type { OkTrial } from 'bench-model/record';
import { makeReason } from 'bench-model/reasons';
import type { Resources } from 'bench-model/figures';
import { describeDetail } from '../src/detail.ts';
import { renderJson } from '../src/json.ts';
import { renderMarkdown } from '../src/markdown.ts';
import { describeTrial, showProgress, type Screen } from '../src/progress.ts';
import { renderTerminal } from '../src/terminal.ts';
import { toModel } from '../src/model/model.ts';
import { listNotes } from '../src/notes.ts';
import { readSigns } from '../src/content.ts';
import { describePlan } from '../src/plan.ts';
import { toView } from '../src/view.ts';
import {
  okTrial,
  readGoldenRun,
  sampleLoad,
  sampleMeasured,
  suspectTrial,
} from '../../bench-lab/testing/samples.ts';

// Limits the metrics, so that a new one changes no golden file.
vi.mock(import('bench-model/metrics'), async (original) => {
  const { limitMetrics } = await import('../../bench-lab/testing/shown-metrics.ts');
  return limitMetrics(await original());
});

const run = readGoldenRun();

const omittedAt = (width: number) =>
  /Omitted to fit \d+ columns: ([^;]+);/.exec(
    renderTerminal(toView(toModel(run)), { width }).replaceAll(/\s+/g, ' '),
  )?.[1];

/** A log file: it takes no live line and no report. */
const NO_TERMINAL: Screen = {
  isLive: false,
  layout: () => ({}),
  showLive: () => expect.fail('a live line in a log'),
  showLine() {},
  showReport: () => expect.fail('a report in a log'),
};

const golden = (name: string) => `../../bench-lab/testing/fixtures/golden/${name}`;

describe('the committed run', () => {
  it('is shown on a terminal', async () => {
    await expect(renderTerminal(toView(toModel(run)))).toMatchFileSnapshot(golden('terminal.txt'));
  });

  it('is shown on a terminal of 80 columns', async () => {
    const text = renderTerminal(toView(toModel(run)), { width: 80, noteLines: 10 });
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    await expect(text).toMatchFileSnapshot(golden('terminal-80.txt'));
  });

  it('omits only as many columns as necessary, the least important first', () => {
    const whole = /^┌.*┐$/m.exec(renderTerminal(toView(toModel(run))))?.[0].length ?? 0;
    const [none, one, some, all] = [whole, whole - 1, 120, 20].map(
      (width) => omittedAt(width)?.split(', ') ?? [],
    );
    const { columns, expendable } = toView(toModel(run));
    const order = expendable.filter((column) => columns.includes(column));
    expect(none).toEqual([]);
    expect(one).toEqual(order.slice(0, 1));
    expect(some).toEqual(order.slice(0, some?.length));
    expect(some?.length).toBeGreaterThan(1);
    expect(all).toEqual(order);
    // Not the status: some trials are not ok.
    const known = ['start-up', 'p50', 'limit', 'memory', 'class', 'p99'];
    expect(order.filter((column) => known.includes(column))).toEqual(known);
  });

  it('prints one plain progress line per trial', async () => {
    const written: string[] = [];
    const screen = { ...NO_TERMINAL, showLine: (text: string) => written.push(`${text}\n`) };
    const show = showProgress(run.plan, screen, { tracker: trackRun(run.plan), before: [] });
    for (const [index, trial] of run.trials.entries()) {
      const event: RunEvent = { kind: 'started', planned: run.plan.trials[index]!, done: index, of: 12 };
      show(event);
      show({ kind: 'ended', trial, done: index + 1, of: 12 });
    }
    expect(written).toHaveLength(12);
    await expect(written.join('')).toMatchFileSnapshot(golden('progress.txt'));
  });

  it('is shown in detail', async () => {
    await expect(describeDetail(run.trials)).toMatchFileSnapshot(golden('detail.txt'));
  });

  it('is rendered as one JSON document', async () => {
    const text = renderJson(toModel(run, { distributions: true }), run.trials);
    const { trials, plan, host, ...document } = JSON.parse(text) as Record<string, unknown>;
    expect({ trials, plan, host }).toEqual({ trials: run.trials, plan: run.plan, host: run.host });
    // One of each kind shows the form. Tables and details have the values of the others.
    const short = JSON.parse(JSON.stringify(document), (key, value: object) => {
      if (Array.isArray(value)) return value.slice(0, 1) as unknown;
      return key === 'figures' ? Object.fromEntries(Object.entries(value).slice(0, 1)) : value;
    }) as unknown;
    await expect(`${JSON.stringify(short, null, 2)}\n`).toMatchFileSnapshot(golden('run.json'));
    expect(text).toMatch(/^\{\n {2}"run": [^]*\}\n$/);
  });

  it('has a plan that is described as text', async () => {
    await expect(`${describePlan(run.plan)}\n`).toMatchFileSnapshot(golden('plan.txt'));
  });

  it('shows the workers, threads and cores of the servers and the parameters of the workload', () => {
    const plan = { ...run.plan, workers: 1, threads: 2, cores: 4, workload: 'fib', params: { n: 24 } };
    expect(describePlan(plan)).toContain('workload fib n=24\n');
    expect(describePlan(plan)).toContain(', 1 worker of 2 threads on 4 cores, ');
    expect(toView(toModel({ ...run, plan }))).toMatchObject({
      title: expect.stringMatching(/^fib n=24, /),
      setting: expect.arrayContaining([
        expect.stringContaining('1 worker of 2 threads on 4 cores per server'),
      ]),
    });
  });
});

const USE: Resources = {
  source: 'cgroup v2',
  scope: 'process tree',
  seconds: 5,
  cpuUserUs: 2e6,
  cpuSystemUs: 0.5e6,
  coresUsed: 0.5,
};

const timing = (told: number, rest: number) => ({
  metric: 'gather',
  toldUs: { mean: told, p50: told, max: told },
  restUs: { mean: rest, p50: rest, max: rest },
});

const trialOf = (target: string, round: number, told: number, rest: number): OkTrial =>
  okTrial(
    target,
    sampleMeasured({
      given: {
        load: sampleLoad({ timing: timing(told, rest) }),
        companions: { upstream: { requests: 500_000, fetchUs: 810 } },
      },
    }),
    {
      round,
      companions: { upstream: { kind: 'nginx', version: '1.22.1' } },
      placement: { kind: 'separate', server: [2], generator: [0], beside: { upstream: [1] } },
    },
  );

describe('a run whose servers query a database', () => {
  const memoryOverTime = Array.from({ length: 30 }, (_, reading) => ({
    seconds: reading / 6,
    bytes: 5e7 + reading * 1e4,
  }));
  const measured = sampleMeasured({
    given: {
      companions: {
        database: { inserts: { acknowledged: 1500, stored: 1502, unanswered: 3 }, resources: USE },
      },
      server: { ...USE, memoryOverTime },
    },
  });
  const database = { kind: 'embedded', version: '18.4', maxConnections: 500 } as const;
  const trial = okTrial('fastify', measured, {
    companions: { database },
    placement: { kind: 'separate', server: [2], generator: [0], beside: { database: [1] } },
  });

  const detailOf = (count: number, bytesAt: (second: number) => number): string => {
    const readings = Array.from({ length: count }, (_, reading) => ({
      seconds: reading / 8,
      bytes: bytesAt(reading / 8),
    }));
    return describeDetail([
      { ...trial, measured: { ...measured, server: { ...USE, memoryOverTime: readings } } },
    ]);
  };

  it('shows the database, its inserts, and the change in memory', () => {
    const view = toView(toModel({ ...run, trials: [trial] }));
    expect(view.setting).toContain('database: PostgreSQL 18.4, embedded, max_connections 500 on core 1');
    const detail = describeDetail([trial]);
    expect(detail).toContain(
      'database: 0.50 cores, 1,500 inserts acknowledged, 3 without a response, 1,502 stored',
    );
    expect(detail).toContain('memory: 6 B per response (−39 B to 51 B), no lasting growth\n');
  });

  it('shows the growth of memory for each response, and omits it for short windows', () => {
    expect(detailOf(40, (second) => 5e7 + second * 5e7)).toMatch(/memory: \d.* per response \(.*\)\n/);
    expect(detailOf(11, (second) => 5e7 + second * 5e7)).not.toContain('memory:');
  });
});

describe('a run whose servers send Server-Timing', () => {
  const trials = [
    trialOf('fastify', 1, 700, 250),
    trialOf('fastify', 2, 900, 350),
    trialOf('vanilla', 1, 500, 90),
  ];
  const view = toView(toModel({ ...run, trials }));

  it('shows the reported time next to the latency, and the rest of the latency', () => {
    const first = view.columns.indexOf('p50');
    expect(view.columns.slice(first, first + 4)).toEqual(['p50', 'p99', 'gather', 'respond']);
    const cells = view.groups[0]?.rows.map((row) => [row[0], row[first + 2], row[first + 3]]);
    expect(cells).toEqual([
      ['fastify', '800 µs', '300 µs'],
      ['vanilla', '500 µs', '90 µs'],
    ]);
    expect(readSigns(view).join('\n')).toContain(
      'gather: the median time that servers reported (Server-Timing)',
    );
  });

  it('names its upstream', () => {
    expect(view.setting).toContain('upstream: nginx 1.22.1 on core 1');
    expect(describeDetail(trials)).toContain('upstream: 500,000 requests, 810 µs per fixture without load');
  });

  it('shows goodput as a lower bound if the upstream was saturated', () => {
    const bound = makeReason('companion-bound', { name: 'upstream', coresUsed: 0.95, cores: [1] });
    const { measured } = trials[0]!;
    const only = toView(toModel({ ...run, trials: [suspectTrial('fastify', measured, [bound])] }));
    expect(only.groups[0]?.rows[0]?.slice(2, 7)).toEqual([
      '≥ 10,000',
      '950 µs ?',
      '2.00 ms ?',
      '700 µs ?',
      '250 µs ?',
    ]);
  });
});

describe('the table rows of each kind of trial', () => {
  const view = toView(toModel(run));
  const rowOf = (target: string, rung: string) =>
    view.groups
      .find(({ heading }) => heading.startsWith(`${rung} `))
      ?.rows.find(([name]) => name === target) ?? [];
  const cellOf = (target: string, rung: string, column: string) =>
    rowOf(target, rung)[view.columns.indexOf(column)];

  it('shows a dash for a metric that was not measured, never 0 or -1', () => {
    const text = renderTerminal(view);
    expect(text).not.toMatch(/\b0\.0\b|-1\b|NaN|undefined|Infinity/);
    expect(cellOf('uvicorn/interpreted', '10', 'CPU µs/req')).toBe('—');
    expect(cellOf('uvicorn/interpreted', '10', 'status')).toBe('1 failed');
  });

  it('lists every kind of reason once, with every row that it affects', () => {
    const notes = listNotes(toModel(run), 'full');
    const text = notes.join('\n');
    const kinds = new Set(run.trials.flatMap(({ reasons }) => reasons.map(({ code }) => code)));
    expect(kinds.size).toBeGreaterThan(3);
    for (const kind of kinds) {
      const lines = notes.filter((note) => note.startsWith(`${kind}: `));
      expect(lines).toHaveLength(1);
      const seen = run.trials.filter(({ reasons }) => reasons.some(({ code }) => code === kind));
      for (const { target, connections } of seen) {
        expect(lines[0]).toContain(`${target.id} at ${connections} (`);
      }
    }
    expect(text).toContain('litestar was skipped: CPython 3.13 is not here');
  });

  it('marks a metric as invalid only if it is invalid in every round', () => {
    const disturbed = run.trials.filter(({ status }) => status === 'suspect');
    const only = toView(toModel({ ...run, trials: disturbed }));
    const [cells = []] = only.groups.flatMap(({ rows }) => rows);
    expect(cells[only.columns.indexOf('p99')]).toMatch(/ \?$/);
    expect(cells[only.columns.indexOf('start-up')]).not.toMatch(/\?/);
    expect(cellOf('vanilla', '100', 'p99')).not.toMatch(/\?/);
    // Requests failed, which is about the server.
    expect(cellOf('uvicorn/interpreted', '100', 'goodput/s')).not.toMatch(/\?/);
    expect(cellOf('fastify', '10', 'goodput/s')).not.toMatch(/[?≥]/);
    // One of the two rounds is a lower bound, so the median is one too.
    expect(cellOf('vanilla', '100', 'goodput/s')).toMatch(/^≥ /);
  });

  it('shows a percentile beyond the timeout as a lower bound', () => {
    expect(cellOf('uvicorn/interpreted', '100', 'p99')).toBe('≥ 10.0 s');
    const [stalled] = run.trials.filter(({ reasons }) => reasons.some(({ code }) => code === 'errors'));
    expect(describeTrial(stalled!, 1, 12)).toContain('p99 ≥ 10.0 s');
    expect(describeDetail([stalled!])).toContain('p99 ≥ 10.0 s');
  });

  it('shows goodput as a lower bound if the generator was saturated', () => {
    const bound = run.trials.filter(({ reasons }) => reasons.some(({ code }) => code === 'generator-bound'));
    expect(bound.length).toBeGreaterThan(0);
    const only = toView(toModel({ ...run, trials: bound }));
    const goodput = only.groups.flatMap(({ rows }) =>
      rows.map((cells) => cells[only.columns.indexOf('goodput/s')]),
    );
    expect(goodput.length).toBeGreaterThan(0);
    for (const cell of goodput) expect(cell).toMatch(/^≥ [\d,]+$/);
  });

  it('labels a quick run', () => {
    expect(toView(toModel({ ...run, plan: { ...run.plan, quick: true } })).title).toContain(
      'quick run (--quick)',
    );
  });
});

/** A trial whose server collected garbage in this many processes; undefined if it was not asked to. */
function aged(id: string, collected?: number): OkTrial {
  const age = { secondsSinceStart: 2.31 };
  return okTrial(
    id,
    sampleMeasured({ given: { age: { ...age, ...(collected !== undefined && { collected }) } } }),
  );
}

describe('a run that recorded the age of its servers', () => {
  const ages = [
    { secondsSinceStart: 2.31, answers: 41_000 },
    { secondsSinceStart: 2.6, answers: 9_500 },
  ];
  const warmup = { milliseconds: 50, ok: [1, 0, 5, 5, 10, 10, 20, 20, 9], answers: 85 };
  const trials = ages.map((age, index) =>
    okTrial('fastify', sampleMeasured({ given: { age, load: sampleLoad({ warmup }) } }), {
      round: index + 1,
    }),
  );

  it('shows the range of ages in every report, and the age of each server in the detail', () => {
    const line = 'process age at the window: 2.3 to 2.6 s, 9,500 to 41,000 responses';
    const view = toView(toModel({ ...run, trials }));
    expect(view.setting).toContain(line);
    expect(renderTerminal(view)).toContain(line);
    expect(renderMarkdown(view)).toContain(line);
    expect(toView(toModel({ ...run, trials: trials.slice(0, 1) })).setting).toContain(
      'process age at the window: 2.3 s, 41,000 responses',
    );
  });

  it('says which Node servers collected garbage before the load, and which could not', () => {
    const { setting } = toView(
      toModel({ ...run, trials: [aged('fastify', 1), aged('vanilla', 0), aged('gin')] }),
    );
    expect(setting).toContain('Node servers ran one full garbage collection before the load');
    expect(setting).toContain(
      'vanilla: no garbage collection before the load, because the server could not be asked for it',
    );
    expect(setting.join()).not.toContain('gin: could not');
  });

  it('omits answers that were not counted, and ages that were not recorded', () => {
    const [{ answers: _, ...age }] = ages as [(typeof ages)[0]];
    const told = okTrial('fastify', sampleMeasured({ given: { age } }));
    expect(toView(toModel({ ...run, trials: [told] })).setting).toContain('process age at the window: 2.3 s');
    expect(toView(toModel(run)).setting.join()).not.toContain('age');
  });
});
