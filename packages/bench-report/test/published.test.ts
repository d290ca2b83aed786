import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readRun } from 'bench-analysis/results/store';
import { ROOT } from 'bench-targets/catalogue/stacks';
import { describe, expect, it } from 'vitest';
import { toModel } from '../src/model/model.ts';

describe('a published run', () => {
  const files = globSync('results/published/**/run.json', { cwd: ROOT }).toSorted();
  const ends: string[] = [];

  it.each(files)('ends with a sentence: %s', (file) => {
    const { run, outcome } = toModel(readRun(join(ROOT, dirname(file))));
    expect(outcome?.text).toMatch(/\.$/);
    ends.push(`${run}\n  ${outcome?.text}\n`);
  });

  it('ends with one that a person would sign', async () => {
    await expect(ends.join('')).toMatchFileSnapshot('../../bench-lab/testing/fixtures/golden/closings.txt');
  });
});
