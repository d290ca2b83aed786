import { describe, expect, it } from 'vitest';
import { findRun, readRun } from 'bench-analysis/results/store';
import { toModel } from '../../src/model/model.ts';
import { toCover } from '../../src/site/cover.ts';
import { readGoldenRun } from '../../../bench-lab/testing/samples.ts';

const coverOf = (name: string) => toCover(toModel(readRun(findRun(name))));

describe('the cover of a run', () => {
  it('has the verdicts of a comparison, a few of them', () => {
    const { outcome, compared, ranked } = coverOf('20261127-001306-devices')!;
    expect(outcome).toMatch(/^12 comparisons of CPU per request against itself on 3\.13: 10 worse \(/);
    expect(compared?.rows.map(({ name }) => name)).toEqual([
      'fastapi@3.14',
      'fastapi@3.14+jit',
      'fastapi@3.15',
      'fastapi@3.15+jit',
      'litestar@3.14',
      'litestar@3.14+jit',
    ]);
    expect(compared?.rows[0]?.words).toMatch(/^slower: \+8\.0 %/);
    expect(ranked).toEqual([]);
  });

  it('has the ranking at the least connections otherwise', () => {
    const { connections, metric, compared, ranked } = coverOf('20261123-091915-devices')!;
    expect({ connections, metric, compared }).toEqual({ connections: 10, metric: 'cpu' });
    expect(ranked.map(({ target }) => target).toSorted()).toEqual([
      'fastapi',
      'fastify',
      'litestar',
      'uvicorn',
      'vanilla',
    ]);
    expect(Object.keys(ranked[0]?.figures ?? {})).toEqual(['cpu']);
  });

  it('is absent without a trial', () => {
    expect(toCover(toModel({ ...readGoldenRun(), trials: [] }))).toBeUndefined();
  });
});
