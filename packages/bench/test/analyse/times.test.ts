import { describe, expect, it } from 'vitest';
import { readPastedTimes } from '../../src/analyse/recheck/pasted-times.ts';
import { usageOf } from '../../src/analyse/times.ts';
import type { TimeReport } from '../../src/results/record.ts';
import { TIME_FIELD_NAMES, TIME_FIELDS } from '../../src/time-report.ts';
import { errorOf, failedTrial, okTrial, readFixture, sampleMeasured } from '../samples.ts';

const report = (userSeconds: number, given: Partial<TimeReport> = {}): TimeReport => ({
  format: 'gnu',
  elapsedSeconds: 10,
  userSeconds,
  systemSeconds: 1,
  ...given,
});

const timed = (target: string, round: number, time: TimeReport, connections = 10) => ({
  ...okTrial(target, sampleMeasured(), { round, connections }),
  time,
});

describe('usageOf', () => {
  it('takes the median of each field over the rounds', () => {
    const trials = [2, 9, 4].map((seconds, index) =>
      timed('vanilla', index + 1, report(seconds, { minorFaults: 100 * seconds })),
    );
    expect(usageOf(trials)).toEqual([
      {
        target: 'vanilla',
        connections: 10,
        rounds: 3,
        format: 'gnu',
        fields: { elapsedSeconds: 10, userSeconds: 4, systemSeconds: 1, minorFaults: 400 },
        answers: 50_000,
        cpuUsPerAnswer: 100,
      },
    ]);
  });

  it('keeps rungs and targets apart, the rungs in ascending order', () => {
    const trials = [
      timed('vanilla', 1, report(1), 100),
      timed('fastify', 1, report(2), 100),
      timed('vanilla', 1, report(3)),
    ];
    expect(usageOf(trials).map(({ target, connections }) => [target, connections])).toEqual([
      ['vanilla', 10],
      ['vanilla', 100],
      ['fastify', 100],
    ]);
  });

  it('omits trials that failed or have no report, and fields that no report has', () => {
    const failed = { ...failedTrial('vanilla', 'it ended', { round: 2 }), time: report(99) };
    const [usage, ...others] = usageOf([timed('vanilla', 1, report(1)), failed]);
    expect(others).toEqual([]);
    expect(usage).toMatchObject({ rounds: 1, fields: { userSeconds: 1 } });
    expect(usage?.fields).not.toHaveProperty('maxResidentBytes');
    expect(usageOf([failed, okTrial('vanilla', sampleMeasured())])).toEqual([]);
  });
});

describe('readPastedTimes', () => {
  const pasted = readPastedTimes(readFixture('recheck/readme.md'), 'readme.md');

  it('reads every report of a text in order', () => {
    expect(pasted.map(({ number, checked: { printed } }) => [number, printed.line, printed.command])).toEqual(
      [
        [1, 50, 'bench-fastapi'],
        [2, 126, 'pnpm run bench:fastify'],
        [3, 177, 'pnpm run bench:vanilla'],
        [4, 222, 'bench-uvicorn'],
      ],
    );
    expect(pasted[1]?.fields).toMatchObject({ userSeconds: 1.16, maxResidentBytes: 129_200_128 });
  });

  it('gives the CPU of an answer only if the report includes the server', () => {
    const [fastapi, fastify] = pasted;
    expect(fastapi?.answers).toBeGreaterThan(100_000);
    expect(fastapi?.cpuUsPerAnswer).toBeGreaterThan(100);
    expect(fastify?.checked.check.covers).toBe('launcher');
    expect(fastify).not.toHaveProperty('cpuUsPerAnswer');
    expect(fastify).not.toHaveProperty('answers');
  });

  it('reads a report of GNU time without a table', () => {
    const [gnu] = readPastedTimes(readFixture('time/gnu-exit-0.txt'), 'gnu.txt');
    expect(gnu).toMatchObject({
      format: 'gnu',
      fields: { userSeconds: 0.89, maxResidentBytes: 95_312 * 1024 },
    });
    expect(gnu?.fields).not.toHaveProperty('messagesSent');
  });

  it('refuses a text without a report, also if it has a table', () => {
    expect(errorOf(() => readPastedTimes('hello', 'a.txt')).message).toContain('no time(1) report');
    const text = readFixture('recheck/readme.md');
    const table = text.slice(0, text.indexOf('Time verbose'));
    expect(errorOf(() => readPastedTimes(table, 'a.txt')).message).toBe('a.txt: no time(1) report');
  });
});

const kept = (format: TimeReport['format']) =>
  TIME_FIELD_NAMES.filter((name) => TIME_FIELDS[name].formats.includes(format));

describe('the fields of time(1)', () => {
  it('that one format alone keeps are in no report of the other', () => {
    const [gnu] = readPastedTimes(readFixture('time/gnu-exit-0.txt'), 'a');
    const [bsd] = readPastedTimes(readFixture('time/bsd-fastapi.txt'), 'b');
    expect(Object.keys(gnu?.fields ?? {}).toSorted()).toEqual(kept('gnu').toSorted());
    expect(Object.keys(bsd?.fields ?? {}).toSorted()).toEqual(kept('bsd').toSorted());
  });
});
