import { describe, expect, it } from 'vitest';
import { describeChanges } from '../src/changes.ts';
import type { StoredRun } from 'bench-analysis/results/store';
import { okTrial, sampleMeasured, samplePlan } from '../../bench-lab/testing/samples.ts';

const ID = 'GET http://127.0.0.1:3000/';

function runOf(process: StoredRun['trials'][number]['process'], version: string): StoredRun {
  const plan = samplePlan('http://127.0.0.1:3000/ --rounds 1 --connections 10', []);
  const trial = { ...okTrial(ID, sampleMeasured()), ...(process === undefined ? {} : { process }) };
  return { plan, versions: { [ID]: version }, trials: [trial] } as unknown as StoredRun;
}

const python = (version: string) => runOf({ pid: 1, version: `Python ${version}` }, `Python ${version}`);

describe('describeChanges of servers that were already running', () => {
  it('names a changed runtime and the unknown properties', () => {
    expect(describeChanges(python('3.12.3'), python('3.13.1'))).toEqual([
      `changed: ${ID} Python 3.12.3 → Python 3.13.1`,
      `unknown: framework, workers, source code of ${ID}`,
    ]);
  });

  it('never reports unknown properties as unchanged', () => {
    const unknown = runOf(undefined, 'unknown process');
    expect(describeChanges(unknown, unknown)).toEqual([
      'no known changes',
      `unknown: process, runtime and its version, framework, workers, source code of ${ID}`,
    ]);
  });
});
