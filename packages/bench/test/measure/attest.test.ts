import { describe, expect, it } from 'vitest';
import { claimsOfRuntime } from '../../src/catalogue/runtimes.ts';
import { attest, modulesThatTookGil } from '../../src/measure/attest.ts';
import type { Attestation, RuntimeSpec } from '../../src/model.ts';
import { sampleStack, sampleTarget } from '../samples.ts';

/** As CPython 3.14t words it. */
const WARNING =
  "<frozen importlib._bootstrap>:491: RuntimeWarning: The global interpreter lock (GIL) has been enabled to load module 'greenlet._greenlet', which has not declared that it can run safely without the GIL. To override this behavior and keep the GIL disabled (at your own risk), run with PYTHON_GIL=0 or -Xgil=0.";

const FREE = { gil: false, jit: false };

/** What becomes of two workers on a runtime that say this of themselves, and leave this log. */
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
  it('has every worker say that the GIL is off', async () => {
    expect(await attestOn('3.14t', [FREE, FREE])).toEqual([FREE, FREE]);
  });

  it.each([
    ['the module that took it', WARNING, ' (switched on by greenlet._greenlet)'],
    ['no module where the log names none', 'ready', ''],
  ])('with the GIL on in one worker is refused, by worker and %s', async (_, log, cause) => {
    await expect(attestOn('3.14t', [FREE, { ...FREE, gil: true }], log)).rejects.toThrow(
      `false attestation: worker 2 of 2: gil is true${cause}, but @3.14t states false`,
    );
  });

  it('may have the GIL on where that was asked for', async () => {
    const told = [{ ...FREE, gil: true }];
    expect(await attestOn('3.14t{PYTHON_GIL=1}', told, WARNING)).toEqual(told);
  });
});

describe('the modules that took the GIL', () => {
  it('are named once each, in their order', () => {
    const other = WARNING.replace('greenlet._greenlet', 'httptools.parser.parser');
    expect(modulesThatTookGil(`${WARNING}\nready\n${WARNING}\n${other}\n`)).toEqual([
      'greenlet._greenlet',
      'httptools.parser.parser',
    ]);
  });
});
