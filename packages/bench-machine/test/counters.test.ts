import { describe, expect, it } from 'vitest';
import {
  countLost,
  parseCounter,
  parseCpuTotals,
  readCpuTotals,
  readTrouble,
  troubleBetween,
} from '../src/counters.ts';

const NETSTAT = `TcpExt: SyncookiesSent ListenOverflows ListenDrops
TcpExt: 1 22 333
IpExt: InNoRoutes ListenOverflows
IpExt: 4 5
`;

describe('parseCpuTotals', () => {
  it('reads the line of all cores, in µs', () => {
    expect(
      parseCpuTotals('cpu  6792 1 3810 160756 1160 2 98 45 0 0\ncpu0 2615 0 1585 82051 32 0 21 19 0 0\n'),
    ).toEqual({
      userUs: 67_920_000,
      niceUs: 10_000,
      systemUs: 38_100_000,
      irqUs: 20_000,
      softirqUs: 980_000,
      stealUs: 450_000,
    });
  });

  it('returns undefined without that line', () => {
    expect(parseCpuTotals('intr 1 2 3\n')).toBeUndefined();
  });
});

describe('parseCounter', () => {
  it('finds a counter by protocol and name, in any order', () => {
    expect(parseCounter(NETSTAT, 'TcpExt', 'ListenOverflows')).toBe(22);
    expect(parseCounter(NETSTAT, 'TcpExt', 'ListenDrops')).toBe(333);
    expect(parseCounter(NETSTAT, 'IpExt', 'ListenOverflows')).toBe(5);
  });

  it('returns undefined for a counter that is missing', () => {
    expect(parseCounter(NETSTAT, 'TcpExt', 'Nothing')).toBeUndefined();
    expect(parseCounter(NETSTAT, 'Tcp', 'RetransSegs')).toBeUndefined();
    expect(parseCounter('', 'Tcp', 'RetransSegs')).toBeUndefined();
  });
});

describe('troubleBetween', () => {
  it('subtracts the counters of both readings', () => {
    const before = { listenOverflows: 3, lostSegments: 10 };
    expect(troubleBetween(before, { listenOverflows: 5, lostSegments: 10, throttled: 1 })).toEqual({
      listenOverflows: 2,
      lostSegments: 0,
    });
  });

  it('returns no negative count after a late report of a duplicate', () => {
    expect(troubleBetween({ lostSegments: 10 }, { lostSegments: 9 })).toEqual({ lostSegments: 0 });
  });
});

/** The lost segments, by the counters of a kernel. */
function countBy(again: number, netstat: Record<string, number>): number | undefined {
  return countLost(
    `Tcp: OutSegs RetransSegs\nTcp: 200000 ${again}\n`,
    `TcpExt: ${Object.keys(netstat).join(' ')}\nTcpExt: ${Object.values(netstat).join(' ')}\n`,
  );
}

describe('countLost', () => {
  // Counted on loopback, with a receiver that dropped a known share of its segments (BPF).
  it.each([
    ['10-MB answers, none lost', 587, { TCPLossProbes: 2, TCPDSACKRecv: 431, TCPDSACKRecvSegs: 556 }, 31],
    ['10-MB answers, 0.5 % lost', 441, { TCPLossProbes: 20, TCPDSACKRecv: 65, TCPDSACKRecvSegs: 77 }, 364],
    ['small responses, 0.05 % lost', 22, { TCPLossProbes: 22, TCPDSACKRecv: 11, TCPDSACKRecvSegs: 11 }, 11],
    ['an older kernel', 22, { TCPLossProbes: 22, TCPDSACKRecv: 11 }, 11],
    ['a kernel without these counters', 22, { ListenDrops: 1 }, 22],
  ])('leaves out segments that arrived twice: %s', (_what, again, netstat, lost) => {
    expect(countBy(again, netstat)).toBe(lost);
  });

  it('is undefined where nothing is counted', () => {
    expect(countLost('', '')).toBeUndefined();
  });
});

describe.skipIf(process.platform !== 'linux')('this machine', () => {
  it('reports its totals and counters', () => {
    expect(readCpuTotals()?.userUs).toBeGreaterThan(0);
    expect(readTrouble()).toMatchObject({
      listenOverflows: expect.any(Number),
      lostSegments: expect.any(Number),
      sentSegments: expect.any(Number),
    });
  });
});
