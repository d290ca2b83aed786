import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HOME } from 'bench-machine/home';
import { listRuns, readRun } from '../../src/results/store.ts';

const PUBLISHED = join(HOME.results, 'published');

describe('the published runs', () => {
  // A change of a schema must not leave them behind.
  it('can all be read', () => {
    const runs = listRuns(PUBLISHED);
    expect(runs.length).toBeGreaterThan(20);
    expect(runs.filter((id) => readRun(join(PUBLISHED, id)).trials.length === 0)).toEqual([]);
  });
});
