import { describe, expect, it } from 'vitest';
import { claimsOfRuntime } from 'bench-targets/catalogue/runtimes';
import { attest, modulesThatTookGil } from '../../src/measure/attest.ts';
import type { Attestation, RuntimeSpec } from 'bench-model/target';
import { sampleStack, sampleTarget } from '../../../bench-lab/testing/samples.ts';

/** The warning of CPython 3.14t. */
const WARNING =
  "<frozen importlib._bootstrap>:491: RuntimeWarning: The global interpreter lock (GIL) has been enabled to load module 'greenlet._greenlet', which has not declared that it can run safely without the GIL. To override this behavior and keep the GIL disabled (at your own risk), run with PYTHON_GIL=0 or -Xgil=0.";

const FREE = { gil: false, jit: false };

/** Attests two workers on this runtime with these attestations and this log. */
function attestOn(spec: string, told: Attestation[], log = ''): Promise<Attestation[]> {
  const runtime: RuntimeSpec = { kind: 'python', spec };
  const variant = sampleStack('fastapi').variants['node']!;
  const prepared = {
    variant,
    claims: claimsOfRuntime(runtime),
    target: { ...sampleTarget('fastapi'), runtime },
  };
  return attest({ attestations: () => told, log: () => log }, prepared, told.length);
}

describe('a free-threaded runtime', () => {
  it('requires every worker to attest that the GIL is off', async () => {
    expect(await attestOn('3.14t', [FREE, FREE])).toEqual([FREE, FREE]);
  });

  it.each([
    ['names the module that enabled it', WARNING, ' (switched on by greenlet._greenlet)'],
    ['names no module if the log has none', 'ready', ''],
  ])('is refused with the GIL on in one worker, and the error %s', async (_, log, cause) => {
    await expect(attestOn('3.14t', [FREE, { ...FREE, gil: true }], log)).rejects.toThrow(
      `false attestation: worker 2 of 2: gil is true${cause}, but @3.14t states false`,
    );
  });

  it('may have the GIL on if that was asked for', async () => {
    const told = [{ ...FREE, gil: true }];
    expect(await attestOn('3.14t{PYTHON_GIL=1}', told, WARNING)).toEqual(told);
  });
});

describe('the modules that enabled the GIL', () => {
  it('are named once each, in order', () => {
    const other = WARNING.replace('greenlet._greenlet', 'httptools.parser.parser');
    expect(modulesThatTookGil(`${WARNING}\nready\n${WARNING}\n${other}\n`)).toEqual([
      'greenlet._greenlet',
      'httptools.parser.parser',
    ]);
  });
});
