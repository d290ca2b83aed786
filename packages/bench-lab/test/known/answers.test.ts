import { describe, expect, it } from 'vitest';
import { METRIC_IDS } from 'bench-model/metrics';
import { ASKED, ASKED_BEFORE, accountOf, loadOf, openRig, reasonOf, reasonsOf } from './rig.ts';

const rig = openRig();

const SOUND = ['--sound-first', String(ASKED_BEFORE)];
const AMOUNT = 600;
/** The last of the responses that are sent twice comes long before the end of the load. */
const EVERY = 130;
const LOAD = ['--connections', '10', '--amount', String(AMOUNT)];

describe('a server that answers a request twice', () => {
  it.each([
    ['at once', '0'],
    ['a little later', '3'],
  ])('fails the trial if the second answer comes %s', async (_, ms) => {
    const seen = await rig.measure({
      planted: [...SOUND, '--duplicate-every', String(EVERY), '--duplicate-after-ms', ms],
      bench: LOAD,
    });
    expect(loadOf(seen).counts).toMatchObject({ sent: AMOUNT, ok: AMOUNT });
    expect(loadOf(seen).unsolicited).toBe(accountOf(seen).duplicates);
    expect(accountOf(seen).duplicates).toBe(Math.floor(AMOUNT / EVERY));
    expect(seen.trial.status).toBe('failed');
    expect(reasonsOf(seen)).toEqual(['wrong-answers']);
    expect(reasonOf(seen, 'wrong-answers')).toMatchObject({
      text: expect.stringMatching(/^\d+ responses/) as string,
      invalidates: METRIC_IDS,
    });
  });
});

describe('a server that sends 103 before each response', () => {
  it('completes each request once, and the counts agree', async () => {
    const seen = await rig.measure({ planted: ['--early-hints'], bench: LOAD });
    const { counts, lifetime, statusCodes, unsolicited } = loadOf(seen);
    expect(counts).toMatchObject({ sent: AMOUNT, ok: AMOUNT, non2xx: 0 });
    expect(statusCodes).toEqual({ 200: AMOUNT });
    expect(unsolicited).toBe(0);
    expect(accountOf(seen).requests.answered.ok).toBe(lifetime.ok + ASKED);
    expect(reasonsOf(seen)).toEqual([]);
  });
});
