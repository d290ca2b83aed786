import { describe, expect, it } from 'vitest';
import { judgeHosts, keepHosts } from '../src/hosts.ts';
import { createRandom } from 'bench-statistics/random';

const random = createRandom(7);

/** The CPU per request of five servers of a host, within 1 % of this. */
function host(name: string, cpuUs: number, spread = 0.01): { name: string; cpuUs: number[] } {
  const draw = (): number => cpuUs * (1 + spread * (2 * random.float() - 1));
  return { name, cpuUs: Array.from({ length: 5 }, draw) };
}

const verdictsOf = (hosts: { name: string; cpuUs: number[] }[], threshold = 0.05): string[] =>
  judgeHosts(hosts, threshold).map(({ name, verdict }) => `${name} ${verdict}`);

describe('the A/A trials of hosts', () => {
  it('keep hosts that are alike', () => {
    const hosts = [host('a', 36), host('b', 36.5), host('c', 35.8)];
    expect(verdictsOf(hosts)).toEqual(['a reference', 'b alike', 'c alike']);
    expect(keepHosts(judgeHosts(hosts, 0.05))).toEqual(['a', 'b', 'c']);
  });

  it('name a slow host and a fast one, with the interval beyond the threshold', () => {
    const judged = judgeHosts(
      [host('a', 36), host('b', 48), host('c', 36.2), host('d', 30), host('e', 36)],
      0.05,
    );
    const found = Object.fromEntries(judged.map((one) => [one.name, one]));
    expect([found['b']?.verdict, found['d']?.verdict]).toEqual(['slower', 'faster']);
    expect(found['b']?.ratio?.estimate).toBeCloseTo(48 / 36, 1);
    expect(found['b']?.ratio?.low).toBeGreaterThan(1.05);
    expect(keepHosts(judged)).toEqual(['a', 'c', 'e']);
  });

  it('keep a host that is only uncertain: comparisons are paired within its rounds', () => {
    const hosts = [host('a', 36), host('b', 36), { name: 'c', cpuUs: [34, 36, 37, 44, 52] }];
    expect(verdictsOf(hosts)[2]).toBe('c alike');
  });

  it('keep none if there is no majority: nobody knows who is slow', () => {
    const judged = judgeHosts([host('a', 36), host('b', 48)], 0.05);
    expect(judged.map(({ verdict }) => verdict)).toEqual(['reference', 'slower']);
    expect(keepHosts(judged)).toEqual([]);
    expect(keepHosts(judgeHosts([host('a', 36)], 0.05))).toEqual(['a']);
  });

  it('leave out a host without a figure, and say why', () => {
    const lost = { name: 'c', cpuUs: [], why: 'its host was lost' };
    const judged = judgeHosts([host('a', 36), host('b', 36), lost], 0.05);
    expect(judged[2]).toEqual({ name: 'c', verdict: 'unknown', why: 'its host was lost' });
    expect(keepHosts(judged)).toEqual(['a', 'b']);
    expect(keepHosts(judgeHosts([lost], 0.05))).toEqual([]);
  });

  it('rarely leave out a host that is as fast as the others, however many there are', () => {
    const tables = Array.from({ length: 200 }, () =>
      judgeHosts(
        Array.from({ length: 12 }, (_, index) => host(`${index}`, 36, 0.06)),
        0.05,
      ),
    );
    const wrong = tables.flat().filter(({ verdict }) => verdict === 'slower' || verdict === 'faster');
    expect(wrong.length).toBeLessThan(tables.flat().length / 1000);
  });
});
