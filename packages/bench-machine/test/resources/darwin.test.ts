import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { familyIn, otherProcessesUs, parsePs, sumCpu } from '../../src/resources/darwin.ts';

// Not captured on a Mac: written in the form that ps(1) of macOS documents, `%3ld:%02ld.%02ld` for times and KiB for rss.
const LISTING = readFileSync(
  new URL('../../../bench-lab/testing/fixtures/ps/macos.txt', import.meta.url),
  'utf8',
);
const HARNESS = 4100;
const SERVER = 4180;

describe('parsePs', () => {
  it('reads times as minutes and hundredths, sizes as KiB', () => {
    const processes = parsePs(LISTING);
    expect(processes).toHaveLength(9);
    expect(processes[2]).toEqual({
      pid: 501,
      ppid: 1,
      userUs: 185_910_000,
      systemUs: 44_020_000,
      residentBytes: 48112 * 1024,
    });
    expect(processes[0]?.userUs).toBe((812 * 60 + 44.1) * 1e6);
  });

  it('reads a decimal comma, and skips other lines', () => {
    expect(parsePs('  PID  PPID\n 7 1 0:01,50 0:00,25 100\n')).toMatchObject([
      { userUs: 1_500_000, systemUs: 250_000 },
    ]);
  });
});

describe('familyIn', () => {
  it('includes grandchildren, but never everything that the kernel started', () => {
    const processes = parsePs(LISTING);
    expect(familyIn(processes, [SERVER]).map(({ pid }) => pid)).toEqual([4180, 4181, 4182]);
    expect(familyIn(processes, [0]).map(({ pid }) => pid)).toEqual([0]);
    expect(familyIn(processes, [99_999])).toEqual([]);
  });

  it('returns processes that sumCpu adds up', () => {
    expect(sumCpu(familyIn(parsePs(LISTING), [SERVER]))).toEqual({
      totalUs: 13_030_000,
      userUs: 10_130_000,
      systemUs: 2_900_000,
    });
  });
});

describe('otherProcessesUs', () => {
  it('counts old and new processes, but neither the kernel nor the given ones', () => {
    const after = LISTING.replace('3:05.91    0:44.02', '3:06.41    0:44.12') // 0.6 s of another process
      .replace('0:09.63', '0:59.63') // the server
      .replace('1893:02.77', '1899:02.77') // the kernel
      .concat(' 4400   501   0:00.20    0:00.05   1000\n'); // a new other process
    expect(otherProcessesUs(parsePs(LISTING), parsePs(after), [HARNESS])).toBeCloseTo(850_000, 0);
  });
});
