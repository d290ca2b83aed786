import { describe, expect, it } from 'vitest';
import { expandTargets, readStacks } from 'bench-targets/catalogue/stacks';
import type { Stack } from 'bench-model/stack';
import { METRIC_IDS } from 'bench-model/metrics';
import { openRig, reasonOf, reasonsOf } from '../../../bench-lab/test/known/rig.ts';
import { needs, target } from '../../../bench-lab/testing/needs.ts';

const rig = openRig();
const uvicorn = readStacks().find(({ name }) => name === 'uvicorn');
if (uvicorn === undefined) throw new Error('unknown stack "uvicorn"');

/** Returns the stack with a manifest that claims that the interpreted variant is compiled. */
function pose(stack: Stack): Stack {
  const { interpreted } = stack.variants;
  if (interpreted === undefined) throw new Error('uvicorn has no variant "interpreted"');
  const attest = { ...interpreted.attest, mypyc: true };
  return { ...stack, variants: { ...stack.variants, interpreted: { ...interpreted, attest } } };
}

describe('uvicorn', () => {
  const [interpreted] = expandTargets(['uvicorn/interpreted'], [uvicorn], 'devices');
  needs(target(interpreted!, [uvicorn]));

  it('fails its trial if it is interpreted but claims to be compiled by mypyc', async () => {
    const seen = await rig.measure({
      planted: 'interpreted',
      stack: pose(uvicorn),
      bench: ['--connections', '10', '--amount', '100', '--workers', '2'],
    });
    expect(seen.trial.status).toBe('failed');
    expect(seen.trial).not.toHaveProperty('partial');
    expect(reasonsOf(seen)).toEqual(['trial']);
    expect(reasonOf(seen, 'trial')).toMatchObject({
      text: expect.stringContaining('worker 1 of 2: mypyc is false') as string,
      invalidates: METRIC_IDS,
    });
  });
});
