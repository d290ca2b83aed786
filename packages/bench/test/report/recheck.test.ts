import { describe, expect, it } from 'vitest';
import { recheck } from '../../src/analyse/recheck/recheck.ts';
import { renderRecheck, renderRecheckJson } from '../../src/report/recheck.ts';
import { readFixture } from '../samples.ts';

const FOUND = recheck(readFixture('recheck/readme.md'), 'README.md');

describe('renderRecheck', () => {
  it('describes the figures of a published README', async () => {
    await expect(renderRecheck(FOUND)).toMatchFileSnapshot('../fixtures/golden/recheck.txt');
  });

  it('keeps indented lines within 100 columns', () => {
    const long = renderRecheck(FOUND)
      .split('\n')
      .filter((line) => line.startsWith('  ') && line.length > 100);
    expect(long).toEqual([]);
  });

  it('says that a report has no matching table', () => {
    const text = renderRecheck(recheck(readFixture('time/bsd-vanilla.txt'), 'time.txt'));
    expect(text).toContain('time.txt: 0 autocannon tables, 1 time(1) report\n');
    expect(text).toContain('no table above matches');
  });

  it('reports contradictions in an altered text', () => {
    const altered = readFixture('recheck/readme.md').replace('# of samples: 5', '# of samples: 10');
    expect(renderRecheck(recheck(altered, 'README.md'))).toContain('contradict each other');
  });

  it('never prints NaN, Infinity or undefined', () => {
    const lines = readFixture('recheck/readme.md').split('\n');
    const shortened = lines.flatMap((_, left) => {
      try {
        return [renderRecheck(recheck(lines.toSpliced(left, 1).join('\n'), 'README.md'))];
      } catch {
        return [];
      }
    });
    expect(shortened.length).toBe(lines.length);
    expect(shortened.filter((text) => /NaN|Infinity|undefined/.test(text))).toEqual([]);
  });
});

describe('renderRecheckJson', () => {
  it('contains the findings and a schema version', () => {
    const json: unknown = JSON.parse(renderRecheckJson(FOUND));
    expect(json).toEqual({ schema: 1, ...FOUND });
  });
});
