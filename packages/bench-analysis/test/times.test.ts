import { describe, expect, it } from 'vitest';
import { usageOf } from '../src/times.ts';
import type { TimeReport } from 'bench-model/record';
import { parseTime } from 'bench-machine/time-report';
import { TIME_FIELD_NAMES, TIME_FIELDS } from 'bench-model/time-fields';
import { failedTrial, okTrial, readFixture, sampleMeasured } from '../../bench-lab/testing/samples.ts';

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

const kept = (format: TimeReport['format']) =>
  TIME_FIELD_NAMES.filter((name) => TIME_FIELDS[name][format] !== undefined);

describe('the fields of time(1)', () => {
  it('that one format alone keeps are in no report of the other', () => {
    const gnu = parseTime(readFixture('time/gnu-exit-0.txt'));
    const bsd = parseTime(readFixture('time/bsd-fastapi.txt'));
    expect(TIME_FIELD_NAMES.filter((name) => name in gnu)).toEqual(kept('gnu'));
    expect(TIME_FIELD_NAMES.filter((name) => name in bsd)).toEqual(kept('bsd'));
  });
});
