import { describe, expect, it } from 'vitest';
import { findBudget, isUsedUp, type ServerEvidence } from '../../src/judge/server.ts';
import { findLimit } from '../../src/judge/judge.ts';
import type { Attestation } from 'bench-model/target';
import type { ProcessUse } from 'bench-model/figures';
import { sampleEvidence, sampleResources } from '../../../bench-lab/testing/samples.ts';

interface Given {
  coresUsed: number;
  budgetCores?: number;
  workers?: number;
  attested?: Attestation[];
  busiest?: ProcessUse[];
}

/** A server with one worker and 2 cores by default. */
function evidenceOf(given: Given): ServerEvidence {
  const { coresUsed, busiest, budgetCores = 2, workers = 1, attested = [] } = given;
  const server = { ...sampleResources(coresUsed), ...(busiest === undefined ? {} : { busiest }) };
  return { server, budgetCores, workers, attested };
}

const processOf = (pid: number, ...threads: number[]): ProcessUse => ({
  pid,
  cores: threads.reduce((sum, cores) => sum + cores, 0),
  threads,
});

const limitOf = (given: Given): string => findLimit(sampleEvidence(evidenceOf(given)));

/** Two workers on four cores, with one busy thread each. */
const loops = (...cores: number[]): Given => ({
  coresUsed: cores.reduce((sum, one) => sum + one, 0),
  budgetCores: 4,
  workers: 2,
  busiest: cores.map((one, at) => processOf(at, one)),
});

describe('a server with more cores than it can use', () => {
  it('is saturated when its event loop is, despite helper threads', () => {
    const given = { coresUsed: 1.2, busiest: [processOf(7, 0.97, 0.13, 0.1)] };
    expect(findBudget(evidenceOf(given))).toEqual({ by: 'threads', usedCores: 0.97, usableCores: 1 });
    expect(limitOf(given)).toBe('server');
  });

  it('is not saturated while its event loop has spare time', () => {
    expect(limitOf({ coresUsed: 1, busiest: [processOf(7, 0.85, 0.15)] })).toBe('waiting');
  });

  it('is judged by its cores if a second thread is busy too', () => {
    const given = { coresUsed: 1.5, busiest: [processOf(7, 0.92, 0.58)] };
    expect(findBudget(evidenceOf(given))).toEqual({ by: 'cores', usedCores: 1.5, usableCores: 2 });
    expect(limitOf(given)).toBe('waiting');
  });

  it('is saturated only when the event loops of all its workers are', () => {
    expect(limitOf(loops(0.97, 0.95))).toBe('server');
    expect(limitOf(loops(0.97, 0.5))).toBe('waiting');
    expect(limitOf(loops(0.97))).toBe('waiting');
  });

  it('is saturated when the threads that share a GIL together use up one core', () => {
    const given = {
      coresUsed: 0.98,
      busiest: [processOf(7, 0.4, 0.3, 0.28)],
      attested: [{ pid: 7, gil: true }],
    };
    expect(findBudget(evidenceOf(given))).toEqual({ by: 'gil', usedCores: 0.98, usableCores: 1 });
    expect(limitOf(given)).toBe('server');
    expect(limitOf({ ...given, attested: [{ pid: 7, gil: false }] })).toBe('waiting');
    expect(limitOf({ ...given, attested: [] })).toBe('waiting');
  });

  it('has one GIL per process', () => {
    const attested = [
      { pid: 7, gil: true },
      { pid: 8, gil: true },
    ];
    const busiest = [processOf(7, 0.5, 0.47), processOf(8, 0.5, 0.45), processOf(6, 0.02)];
    const given = { coresUsed: 1.94, budgetCores: 4, workers: 2, attested, busiest };
    expect(findBudget(evidenceOf(given))).toMatchObject({ by: 'gil', usableCores: 2 });
    expect(limitOf(given)).toBe('server');
    expect(limitOf({ ...given, busiest: busiest.slice(0, 1) })).toBe('waiting');
  });
});

describe('a server that can use all its cores', () => {
  it('is judged by its cores', () => {
    const given = { coresUsed: 0.95, budgetCores: 1, busiest: [processOf(7, 0.95)] };
    expect(findBudget(evidenceOf(given))).toEqual({ by: 'cores', usedCores: 0.95, usableCores: 1 });
    expect(isUsedUp(findBudget(evidenceOf({ coresUsed: 1.8 })))).toBe(true);
    expect(isUsedUp(findBudget(evidenceOf({ coresUsed: 1.79 })))).toBe(false);
  });
});
