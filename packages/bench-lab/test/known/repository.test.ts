import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { RepositoryAccount } from '../../planted/repository/server.ts';
import { readManifest } from 'bench-targets/catalogue/manifest';
import type { Stack } from 'bench-model/stack';
import { METRIC_IDS } from 'bench-model/metrics';
import { loadOf, openRig, reasonOf, reasonsOf, sumOf, type Seen } from './rig.ts';

const rig = openRig();
const sound = readManifest(fileURLToPath(new URL('../../planted/repository/stack.json', import.meta.url)));

/** The first correct response, each request once and the first once more; and three bad bodies for each. */
const ASKED_BEFORE = 1 + 4 + 9;
const ASKED_AFTER = 4 + 9;
const AMOUNT = 3000;
const LOAD = [
  '--workload',
  'repository',
  '--param',
  'ms=1',
  '--connections',
  '10',
  '--amount',
  String(AMOUNT),
];

/** The planted server with a variant `known` that has these options. */
function plant(options: string[]): Stack {
  const { sound: variant } = sound.variants;
  if (variant === undefined) throw new Error('the planted repository has no variant "sound"');
  const command = [...variant.command, '--sound-first', String(ASKED_BEFORE), ...options];
  return { ...sound, variants: { ...sound.variants, known: { ...variant, command } } };
}

function measure(options: string[], generators = 1): Promise<Seen> {
  return rig.measure({ planted: 'known', stack: plant(options), bench: LOAD, plan: { generators } });
}

/** Returns the account that the server wrote when it stopped. Expects that it agrees with the client's. */
function expectAgreement(seen: Seen): RepositoryAccount {
  const line = seen.log.split('\n').findLast((one) => one.startsWith('planted-account '));
  const account = JSON.parse(line?.slice('planted-account '.length) ?? '{}') as RepositoryAccount;
  const { counts, lifetime } = loadOf(seen);
  expect(sumOf(counts)).toBe(counts.sent);
  expect(account.read).toBe(lifetime.sent + ASKED_BEFORE + ASKED_AFTER);
  expect(account.right).toBe(lifetime.ok + ASKED_BEFORE + ASKED_AFTER - account.refused);
  expect(account.swapped + account.spoilt).toBe(lifetime.mismatch);
  expect(account.repeatedIds).toBe(0);
  return account;
}

describe('requests with unique ids', () => {
  it('are answered with the same id from every generator, and every response is checked', async () => {
    const seen = await measure([], 4);
    const { counts, crossed, bodiesHashed, lifetime } = loadOf(seen);
    expect(reasonsOf(seen)).toEqual([]);
    expect(counts).toMatchObject({ sent: AMOUNT, ok: AMOUNT });
    expect(crossed).toBe(0);
    expect(bodiesHashed).toBe(lifetime.ok);
    expectAgreement(seen);
  });

  it('with crossed answers are distinguished from wrong bodies, as the server counts them', async () => {
    const seen = await measure(['--swap-every', '250', '--spoil-every', '400'], 2);
    const { counts, crossed } = loadOf(seen);
    const { swapped, spoilt } = expectAgreement(seen);
    // Request 2,000 is due for both faults: its response is exchanged.
    expect({ swapped, spoilt }).toEqual({ swapped: 24, spoilt: 6 });
    expect(counts).toMatchObject({ sent: AMOUNT, ok: AMOUNT - 30, mismatch: 30 });
    expect(crossed).toBe(swapped);
    expect(seen.trial.status).toBe('failed');
    expect(reasonsOf(seen)).toEqual(['wrong-answers']);
    expect(reasonOf(seen, 'wrong-answers')).toMatchObject({
      text: expect.stringContaining('24 responses') as string,
      invalidates: METRIC_IDS,
    });
    expect(reasonOf(seen, 'wrong-answers').text).toContain('6 responses had a wrong body');
  });
});
