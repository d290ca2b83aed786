import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseTime } from '../src/time-report.ts';

const fixture = (name: string): string =>
  readFileSync(new URL(`../../bench-lab/testing/fixtures/time/${name}.txt`, import.meta.url), 'utf8');

describe('parseTime, GNU', () => {
  it('reads every value that Linux provides, and no other', () => {
    expect(parseTime(fixture('gnu-exit-0'))).toEqual({
      format: 'gnu',
      elapsedSeconds: 1.31,
      userSeconds: 0.89,
      systemSeconds: 0.03,
      maxResidentBytes: 95312 * 1024,
      majorFaults: 6,
      minorFaults: 15014,
      voluntarySwitches: 32,
      involuntarySwitches: 249,
      fileInputs: 424,
      fileOutputs: 0,
      exitStatus: 0,
    });
  });

  it('reads an exit status other than 0', () => {
    expect(parseTime(fixture('gnu-exit-3'))).toMatchObject({ exitStatus: 3, maxResidentBytes: 1544 * 1024 });
  });

  it('reads the signal that ended the command, and then no exit status', () => {
    const report = parseTime(fixture('gnu-signal-15'));
    expect(report.terminatedBySignal).toBe(15);
    expect(report).not.toHaveProperty('exitStatus');
  });

  it('reads hours', () => {
    const text = fixture('gnu-exit-0').replace('0:01.31', '2:03:04');
    expect(parseTime(text).elapsedSeconds).toBe(2 * 3600 + 3 * 60 + 4);
  });

  it('leaves the field of a missing line absent', () => {
    const text = fixture('gnu-exit-0').replace(/.*Voluntary.*\n/, '');
    const report = parseTime(text);
    expect(report).not.toHaveProperty('voluntarySwitches');
    expect(report.involuntarySwitches).toBe(249);
  });
});

describe('parseTime, BSD', () => {
  it('reads every value that macOS provides, with sizes in bytes', () => {
    expect(parseTime(fixture('bsd-fastapi'))).toEqual({
      format: 'bsd',
      elapsedSeconds: 24.33,
      userSeconds: 81.27,
      systemSeconds: 15.54,
      maxResidentBytes: 59867136,
      minorFaults: 460461,
      majorFaults: 5470,
      fileInputs: 0,
      fileOutputs: 0,
      messagesSent: 670126,
      messagesReceived: 270275,
      signalsReceived: 133,
      voluntarySwitches: 3161,
      involuntarySwitches: 1697462,
      instructions: 2795276474,
      cycles: 1344843172,
      peakFootprintBytes: 41125120,
    });
  });

  it.each([
    ['bsd-fastify', 18.09, 129200128, 96192000],
    ['bsd-vanilla', 18.88, 228696064, 92702144],
    ['bsd-uvicorn', 17.8, 32030720, 20497664],
  ])('reads %s', (name, elapsedSeconds, maxResidentBytes, peakFootprintBytes) => {
    expect(parseTime(fixture(name))).toMatchObject({ elapsedSeconds, maxResidentBytes, peakFootprintBytes });
  });

  it('reads times that share one line, and a decimal comma', () => {
    const text =
      '        1,25 real         0,50 user         0,75 sys\n      1163264  maximum resident set size\n';
    expect(parseTime(text)).toEqual({
      format: 'bsd',
      elapsedSeconds: 1.25,
      userSeconds: 0.5,
      systemSeconds: 0.75,
      maxResidentBytes: 1163264,
    });
  });
});

describe('parseTime, another format', () => {
  it.each(['', 'Listening on 127.0.0.1:8080\n', 'loaded 24 real devices\nfound 3 user records\n'])(
    'refuses %j',
    (text) => {
      expect(() => parseTime(text)).toThrow(expect.objectContaining({ code: 'usage' }));
    },
  );
});
