import { describe, expect, it } from 'vitest';
import type { MachineFacts } from '../src/facts.ts';
import { preflight, refuseCores } from '../src/preflight.ts';
import type { Finding } from '../src/preflight.ts';

const NEEDS = { connections: 10_000, generators: 1, serverCores: 1 };

/** A Linux machine without problems. */
const GOOD: MachineFacts = {
  platform: 'linux',
  cores: 8,
  time: true,
  openFiles: { soft: 1024, hard: 20_000 },
  ephemeralPorts: { first: 32_768, last: 60_999 },
  timeWaitSeconds: 60,
  timeWaitReused: true,
  somaxconn: 16_384,
  load: 0.1,
  otherProcessesCores: 0.02,
  governor: 'performance',
  onBattery: false,
  throttled: 0,
};

const MAC: MachineFacts = {
  platform: 'darwin',
  cores: 8,
  time: true,
  unpinned: 'macOS cannot pin processes to cores',
  openFiles: { soft: 10_240, hard: 10_240 },
  ephemeralPorts: { first: 49_152, last: 65_535 },
  timeWaitSeconds: 30,
  somaxconn: 128,
  load: 1,
};

/** Returns the finding that begins with these words. */
function about(words: string, facts: Partial<MachineFacts>, needs = {}): Finding | undefined {
  const found = preflight({ ...GOOD, ...facts }, { ...NEEDS, ...needs }).filter(({ what }) =>
    what.includes(words),
  );
  expect(found.length).toBeLessThanOrEqual(1);
  return found[0];
}

describe('preflight', () => {
  it('finds no problem on a good machine', () => {
    const findings = preflight(GOOD, NEEDS);
    expect(findings.filter(({ level }) => level !== 'ok')).toEqual([]);
    expect(findings.length).toBeGreaterThanOrEqual(9);
    for (const finding of findings) expect(finding).not.toHaveProperty('advice');
  });

  it('judges only known facts', () => {
    const findings = preflight({ platform: 'linux', cores: 8, time: true }, NEEDS);
    expect(findings.map(({ what }) => what)).toEqual([
      '8 cores',
      'server and generator can be pinned to separate cores',
      '/usr/bin/time works',
    ]);
  });

  it('lists the worst finding first', () => {
    const levels = preflight({ ...GOOD, openFiles: { soft: 256, hard: 256 }, time: false }, NEEDS).map(
      ({ level }) => level,
    );
    expect(levels.slice(0, 3)).toEqual(['stop', 'warn', 'ok']);
  });

  it('needs 200 open files more than connections, by the hard limit', () => {
    expect(about('open files', { openFiles: { soft: 1024, hard: 10_200 } })?.level).toBe('ok');
    expect(about('open files', { openFiles: { soft: 1024, hard: 10_199 } })).toEqual({
      level: 'stop',
      what: 'open files: 10,199 allowed, but server and generator each need 10,200 for 10,000 connections',
      advice: 'raise the hard limit: sudo prlimit --nofile=10200:10200 --pid $$',
    });
    expect(about('open files', { openFiles: { soft: Infinity, hard: Infinity } })?.what).toContain(
      'any number',
    );
  });

  it('needs one port per connection and client address', () => {
    expect(about('ephemeral ports', {}, { connections: 28_232 })?.level).toBe('ok');
    expect(about('ephemeral ports', {}, { connections: 28_233 })?.level).toBe('stop');
    expect(about('ephemeral ports', {}, { connections: 28_233, addresses: 2 })?.level).toBe('ok');
  });

  it('warns of ports in TIME_WAIT if they cannot be reused', () => {
    expect(about('TIME_WAIT', {})).toEqual({
      level: 'ok',
      what: 'TIME_WAIT: ports can be reused after one second',
    });
    expect(about('TIME_WAIT', { timeWaitReused: false })).toEqual({
      level: 'warn',
      what: 'TIME_WAIT: ports stay taken for 60 s (tcp_tw_reuse is 0), so a server that closes each connection gets at most 470 requests per second',
      advice: 'sudo sysctl -w net.ipv4.tcp_tw_reuse=2',
    });
  });

  it('names the longest accept queue, which sets the pace of the connects', () => {
    expect(about('accept queue', { somaxconn: 128 })).toEqual({
      level: 'ok',
      what: 'accept queue: up to 128, if the server requests it',
    });
  });

  it('warns of other processes above 10 % of a core, and uses the load average only without that figure', () => {
    expect(about('other processes', { otherProcessesCores: 0.1, load: 9 })?.level).toBe('ok');
    expect(about('other processes', { otherProcessesCores: 0.11 })?.level).toBe('warn');
    const { otherProcessesCores: _, ...blind } = GOOD;
    const byLoad = (load: number): string[] =>
      preflight({ ...blind, load }, NEEDS)
        .filter(({ what }) => what.startsWith('load average'))
        .map(({ level }) => level);
    expect(byLoad(2)).toEqual(['ok']);
    expect(byLoad(2.1)).toEqual(['warn']);
  });

  it.each([
    ['governor', { governor: 'powersave' }],
    ['battery', { onBattery: true }],
    ['throttled 3 times', { throttled: 3 }],
    ['taskset is missing', { unpinned: 'taskset is missing (package util-linux)' }],
    ['/usr/bin/time is missing', { time: false }],
  ])('warns: %s', (words, facts) => {
    expect(about(words, facts)).toMatchObject({ level: 'warn', advice: expect.any(String) });
  });

  it('distinguishes a shared core from generators that share cores', () => {
    expect(about('compete for CPU time', { cores: 1 })?.what).toMatch(/^1 core for/);
    expect(about('generators share', { cores: 4 }, { generators: 4 })?.advice).toBe('use 3 generators');
    expect(about('4 cores', { cores: 4 }, { generators: 3 })?.level).toBe('ok');
  });
});

describe('refuseCores', () => {
  it('refuses more cores than the machine has', () => {
    expect(() => refuseCores(99, 2)).toThrow(
      expect.objectContaining({
        code: 'usage',
        message: 'this machine has 2 cores; --cores 99 is not possible',
        hint: '--cores 1 leaves one core for the load',
      }),
    );
    expect(() => refuseCores(2, 1)).toThrow('this machine has 1 core; --cores 2 is not possible');
    expect(() => refuseCores(2, 2)).not.toThrow();
    expect(() => refuseCores(undefined, 1)).not.toThrow();
  });
});

describe('preflight on macOS', () => {
  const findings = preflight(MAC, { ...NEEDS, connections: 10_000 });
  const warned = findings.filter(({ level }) => level === 'warn').map(({ what }) => what);

  it('warns that two trials in a row exhaust the ports', () => {
    expect(warned).toContainEqual(
      'TIME_WAIT: ports stay taken for 30 s; two trials of 10,000 connections within that exhaust 16,384',
    );
    const few = preflight(MAC, { ...NEEDS, connections: 8192 });
    expect(few.filter(({ what }) => what.startsWith('TIME_WAIT'))).toEqual([]);
  });

  it('suggests macOS commands', () => {
    const advice = preflight(
      { ...MAC, openFiles: { soft: 256, hard: 256 } },
      { ...NEEDS, connections: 20_000 },
    )
      .map((finding) => finding.advice)
      .join('\n');
    expect(advice).toContain('launchctl limit maxfiles 20200 20200');
    expect(advice).toContain('net.inet.ip.portrange.first');
    expect(advice).not.toMatch(/apt|prlimit|net\.core|cpupower/);
  });

  it('does not suggest taskset', () => {
    const finding = findings.find(({ what }) => what.startsWith('not pinned'));
    expect(finding).toEqual({
      level: 'warn',
      what: 'not pinned to cores: macOS cannot pin processes to cores',
    });
  });
});
