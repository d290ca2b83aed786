import { describe, expect, it } from 'vitest';
import { recheck, type CheckedTest } from '../../../src/analyse/recheck/recheck.ts';
import { readFixture } from '../../samples.ts';

const README = readFixture('recheck/readme.md');
const [FASTAPI, LITESTAR, FASTIFY, VANILLA, UVICORN] = [0, 1, 2, 3, 4] as const;

/** The tests of the document after `edit`. */
function tests(edit: (text: string) => string = (text) => text): CheckedTest[] {
  return recheck(edit(README), 'README.md').tests;
}

/** One test of the document after its text was altered. */
function nth(index: number, edit?: (text: string) => string): CheckedTest {
  const found = tests(edit)[index];
  if (found === undefined) throw new Error(`no test ${index}`);
  return found;
}

/** The bounds, rounded. */
function bounds({ goodput }: CheckedTest): (number | undefined)[] {
  if ('missing' in goodput) return [];
  return [goodput.low, goodput.high].map((bound) => (bound === undefined ? undefined : Math.round(bound)));
}

/** The output of one autocannon test, with these parts replaced. */
function print(told: { head?: string; latency?: string; average?: string; rest?: string[] }): string {
  return [
    ...(told.head ?? 'Running 10s test @ http://localhost:3000\n100 connections').split('\n'),
    '│ Stat │ 2.5% │ 50% │ 97.5% │ 99% │ Avg │ Stdev │ Max │',
    `│ Latency │ 9 ms │ 10 ms │ 12 ms │ 13 ms │ ${told.latency ?? '9.5 ms'} │ 1 ms │ 20 ms │`,
    '│ Stat │ 1% │ 2.5% │ 50% │ 97.5% │ Avg │ Stdev │ Min │',
    `│ Req/Sec │ 900 │ 900 │ 1,000 │ 1,010 │ ${told.average ?? '1,000'} │ 9 │ 900 │`,
    '│ Bytes/Sec │ 90 kB │ 90 kB │ 100 kB │ 101 kB │ 100 kB │ 9 kB │ 90 kB │',
    ...(told.rest ?? ['# of samples: 10', '10k requests in 10.02s, 1 MB read']),
  ].join('\n');
}

/** The only test in a text. */
function only(text: string): CheckedTest {
  const [found, ...more] = recheck(text, 'pasted.txt').tests;
  if (found === undefined || more.length > 0) throw new Error('not one test');
  return found;
}

/** A report of GNU time(1) on a command that ran longer than the test of `print`. */
function report(command: string): string {
  return readFixture('time/gnu-exit-0.txt')
    .replace(/being timed: ".*"/, `being timed: "${command}"`)
    .replace('0:01.31', '0:14.00');
}

describe('the bounds of goodput in a published README', () => {
  it.each([
    [FASTAPI, 13_669, 21_433, 'too-high'],
    [LITESTAR, 7718, 7757, 'consistent'],
    [FASTIFY, 35_990, 44_555, 'too-high'],
    [VANILLA, 31_387, 39_077, 'within'],
  ] as const)('of table %i are %i to %i', (index, low, high, verdict) => {
    const found = nth(index);
    expect(bounds(found)).toEqual([low, high]);
    expect(found.verdict).toBe(verdict);
    expect(found.totals?.verdict).toBe('agrees');
    expect(found.ticks?.contradiction).toBe(false);
  });

  it('are absent where neither ticks nor seconds are printed', () => {
    const found = nth(UVICORN);
    expect(found.goodput).toEqual({ missing: ['samples', 'totals'] });
    expect(found).not.toHaveProperty('verdict');
    expect(found.little?.carried?.high).toBeCloseTo(25_911, 0);
  });

  it('follow the printed figures', () => {
    const found = nth(FASTAPI, (text) =>
      text
        .replace('# of samples: 5', '# of samples: 8')
        .replace('236k requests in 15.68s, 143 MB', '365k requests in 20.00s, 229 MB'),
    );
    expect(bounds(found)).toEqual([17_146, 34_293]);
    expect(found.totals?.verdict).toBe('agrees');
    expect(found.ticks?.contradiction).toBe(false);
  });

  it('do not divide by more than the test took', () => {
    expect(bounds(nth(LITESTAR, (text) => text.replace('in 10.05s', 'in 9.50s')))).toEqual([8165, 8165]);
  });
});

describe('a copy that was altered in one place', () => {
  it('contradicts itself in its totals and its ticks if the samples were changed', () => {
    const found = nth(FASTAPI, (text) => text.replace('# of samples: 5', '# of samples: 10'));
    expect(found.totals?.verdict).toBe('contradiction');
    expect(found.ticks?.contradiction).toBe(true);
  });

  it('has lost requests if the total was raised', () => {
    const found = nth(FASTIFY, (text) => text.replace('464k requests', '500k requests'));
    expect(found.totals?.verdict).toBe('lost');
  });

  it('has too few requests in flight if its errors were removed from the total', () => {
    const found = nth(FASTIFY, (text) =>
      text.replace('464k requests', '446k requests').replace('8k errors (0 timeouts)', ''),
    );
    expect(found.totals?.verdict).toBe('few');
    expect(found).not.toHaveProperty('errors');
  });

  it('has idle connections by Little’s law if the connections were raised', () => {
    const found = nth(FASTAPI, (text) => text.replace('10000 connections', '30000 connections'));
    expect(found.little?.verdict).toBe('idle');
    expect(found.little?.capacity).toBe(30_000);
  });
});

describe('Little’s law', () => {
  it('counts the connections that a printed average needs', () => {
    const { little } = nth(FASTAPI);
    expect(little?.needed.low).toBeCloseTo(24_320, 0);
    expect(little?.factor.low).toBeCloseTo(2.43, 2);
    expect(little).toMatchObject({ verdict: 'too-many', latencyTooLong: false });
  });

  it('finds a mean latency too long for the goodput itself', () => {
    expect(nth(FASTIFY).little).toMatchObject({ verdict: 'too-many', latencyTooLong: true });
  });

  it('allows for rounding to whole milliseconds', () => {
    expect(nth(LITESTAR).little).toMatchObject({
      verdict: 'agrees',
      latencyMs: { low: 1.03, high: expect.closeTo(2.03, 9) as number },
    });
  });

  it('counts pipelined requests as in flight', () => {
    const head = 'Running 10s test @ http://localhost:3000\n10 connections with 10 pipelining factor';
    expect(only(print({ head, latency: '99 ms', average: '1,000' })).little).toMatchObject({
      capacity: 100,
      verdict: 'agrees',
    });
  });

  it('is not checked without the number of connections', () => {
    expect(only(print({ head: 'the figures' }))).not.toHaveProperty('little');
  });
});

describe('goodput', () => {
  it('excludes answers other than 2xx, and mismatched bodies', () => {
    const rest = [
      '# of samples: 10',
      '8000 2xx responses, 2000 non 2xx responses',
      '10k requests in 10.02s, 1 MB read',
      '500 requests with mismatched body',
    ];
    const { goodput } = only(print({ rest }));
    expect(goodput).toMatchObject({ from: 'responses', answers: 10_000, right: { low: 7500, high: 7500 } });
  });

  it('falls back to the requests sent, minus those that may be unanswered', () => {
    const rest = ['20k requests in 12.5s, 1 MB read', '2k errors (10 timeouts)'];
    const found = only(print({ rest }));
    expect(found.goodput).toMatchObject({
      from: 'sent',
      right: { low: 19_500 - 100 - 2499, high: 20_499 - 1500 },
    });
    expect(bounds(found)).toEqual([1352, 1900]);
  });

  it('adds up the samples of workers, whose ticks are merged', () => {
    const head = 'Running 10s test @ http://localhost:3000\n10 connections\n4 workers';
    const found = only(print({ head, rest: ['# of samples: 40', '10k requests in 10.02s, 1 MB read'] }));
    expect(bounds(found)).toEqual([998, 1000]);
    expect(found.little?.capacity).toBe(8);
  });

  it('allows for an incomplete last tick if the number of requests was fixed', () => {
    const head = 'Running 5000 requests test @ http://localhost:3000\n100 connections';
    const rest = ['# of samples: 5', '5k requests in 5.01s, 500 kB read'];
    expect(bounds(only(print({ head, rest })))).toEqual([998, 1248]);
  });

  it('does not mistake ticks of another length for seconds', () => {
    const rest = [
      'Req/Bytes counts sampled every 0.5 seconds.',
      '# of samples: 20',
      '20k requests in 10.02s, 2 MB read',
    ];
    const found = only(print({ rest }));
    expect(bounds(found)).toEqual([1996, 2000]);
    expect(found).toMatchObject({
      verdict: 'too-low',
      ticks: { stretched: false },
      little: { needed: { low: 19 } },
    });
  });

  it('has only an upper bound without the elapsed time, only a lower one without the requested time', () => {
    expect(bounds(only(print({ rest: ['# of samples: 10'] })))).toEqual([undefined, 1000]);
    const lower = only(print({ head: 'the figures', average: '2,000' }));
    expect(bounds(lower)).toEqual([1996, undefined]);
    expect(lower).not.toHaveProperty('verdict');
  });

  it('is not divided by an elapsed time of 0', () => {
    const rest = ['# of samples: 0', '0 requests in 0s, 0 B read', '100 errors (0 timeouts)'];
    const found = only(print({ latency: '0 ms', average: '0', rest }));
    expect(bounds(found)).toEqual([undefined, 0]);
    expect(found.errors?.share).toEqual({ low: 1, high: 1 });
  });
});

describe('latency', () => {
  it('shows retransmitted connects only if the tail is separate', () => {
    expect(nth(FASTAPI).latency?.retransmits.map(({ mark }) => mark)).toEqual([1, 3, 7]);
    expect(nth(LITESTAR).latency?.retransmits).toEqual([]);
    expect(nth(FASTAPI, (text) => text.replace('376 ms', '976 ms')).latency?.retransmits).toEqual([]);
  });

  it('reports a maximum above the default timeout', () => {
    expect(nth(VANILLA).latency?.pastTimeoutMs).toBe(11_079);
    expect(nth(FASTAPI).latency).not.toHaveProperty('pastTimeoutMs');
  });
});

describe('the process that a report covers', () => {
  it.each([
    [FASTAPI, 'tree', false],
    [FASTIFY, 'launcher', true],
    [VANILLA, 'tree', false],
    [UVICORN, 'tree', false],
  ] as const)('in table %i is %s', (index, covers, impossible) => {
    expect(nth(index).time?.check).toMatchObject({ covers, impossible });
  });

  it('is the launcher if there is too little CPU and no message', () => {
    const check = nth(FASTIFY).time?.check;
    expect(check?.cpuUsPerAnswer).toBeCloseTo(3.03, 2);
    expect(check).toMatchObject({
      launcher: 'pnpm run',
      silent: true,
      messagesPerAnswer: 0,
      directChildOnly: false,
    });
  });

  it('is only a direct child, for the cycles, if they are too few for the CPU time', () => {
    expect(nth(VANILLA).time?.check).toMatchObject({ launcher: 'pnpm run', directChildOnly: true });
  });

  it.each([
    ['node server.js', 'process', undefined],
    ['/usr/bin/env python -m uvicorn app:app', 'process', undefined],
    ['PORT=80 npm start', 'tree', 'npm start'],
    ['uv run uvicorn app:app', 'tree', 'uv run'],
    ['/bin/sh -c ./server', 'tree', 'sh'],
    ['npx autocannon http://localhost', 'generator', 'npx'],
  ])('of GNU time(1) around %s is %s', (command, covers, launcher) => {
    const { time } = only(`${print({})}\n\n${report(command)}`);
    expect(time?.check.covers).toBe(covers);
    expect(time?.check.launcher).toBe(launcher);
    expect(time?.check.cpuUsPerAnswer).toBeCloseTo(92, 6);
  });

  it('is unknown for a launcher without answers to compare with', () => {
    const { tests: none, times } = recheck(report('pnpm start'), 'pasted.txt');
    expect(none).toEqual([]);
    expect(times[0]?.check.covers).toBe('unknown');
  });
});

describe('the pairing', () => {
  it('gives each report the nearest table above it', () => {
    expect(tests().map(({ time }) => time?.printed.command)).toEqual([
      'bench-fastapi',
      undefined,
      'pnpm run bench:fastify',
      'pnpm run bench:vanilla',
      'bench-uvicorn',
    ]);
  });

  it('omits a report whose command ended before the test', () => {
    const found = recheck(README.replace('24.33  real', '4.33  real'), 'README.md');
    expect(found.tests[FASTAPI]).not.toHaveProperty('time');
    expect(found.times).toHaveLength(1);
  });

  it('gives no table to a second report', () => {
    const block = README.slice(
      README.indexOf('$ /usr/bin/time -l bench-uvicorn'),
      README.indexOf('## Contribution'),
    );
    expect(recheck(`${README}\n${block}`, 'README.md').times).toHaveLength(1);
  });
});

describe('a text without anything to recheck', () => {
  it.each([
    '',
    'Running 10s test @ http://localhost\n10 connections\n',
    '| Stat | Avg |\n|---|---|\n24 real devices\n',
  ])('is a usage error that names the file and what was looked for: %j', (text) => {
    expect(() => recheck(text, 'notes.md')).toThrow(
      expect.objectContaining({
        code: 'usage',
        exitCode: 2,
        message: expect.stringContaining('notes.md: no autocannon table and no time(1) report') as string,
        hint: expect.stringContaining('Req/Sec') as string,
      }),
    );
  });

  it('names the line of a row that cannot be read', () => {
    const broken = README.replace('│ 42,865.6 │', '│ fast     │');
    expect(() => recheck(broken, 'README.md')).toThrow(
      expect.objectContaining({
        code: 'usage',
        message: expect.stringMatching(/^README\.md:\d+: the row Req\/Sec/) as string,
      }),
    );
  });
});
