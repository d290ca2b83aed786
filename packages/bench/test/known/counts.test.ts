import { describe, expect, it } from 'vitest';
import { ASKED, ASKED_BEFORE, accountOf, loadOf, openRig, reasonOf, reasonsOf, sumOf } from './rig.ts';
import type { Seen } from './rig.ts';

const rig = openRig();

/** Faults count from the first request of the load on. */
const SOUND = ['--sound-first', String(ASKED_BEFORE)];
const AMOUNT = 2000;
/** More than is sent before the window opens, so that each of its multiples falls into it. */
const EVERY = '250';
const LOAD = ['--connections', '10', '--amount', String(AMOUNT)];

const EVERYTHING = ['goodput', 'p50', 'p99', 'cpu', 'memory', 'startup'];
const ALL_BUT_START = ['goodput', 'p50', 'p99', 'cpu', 'memory'];

/** Nothing that the client counted differs from what the server counted, to the last request. */
function expectAgreement(seen: Seen, asked = ASKED): void {
  const { counts, lifetime } = loadOf(seen);
  const { requests, unread } = accountOf(seen);
  expect(sumOf(counts)).toBe(counts.sent);
  expect(sumOf(lifetime)).toBe(lifetime.sent);
  expect(requests.read).toBe(lifetime.sent + asked);
  expect(requests.answered.ok).toBe(lifetime.ok + asked);
  expect(requests.answered.status500).toBe(lifetime.non2xx);
  expect(requests.answered.wrongBody + requests.answered.wrongLength).toBe(lifetime.mismatch);
  expect(requests.resets).toBe(lifetime.reset);
  expect(requests.closedEarly + requests.late).toBe(lifetime.closedEarly);
  expect(requests.abandoned).toBe(lifetime.timeout + lifetime.inFlight);
  expect(requests.pending).toBe(0);
  expect(unread).toEqual({ leftover: 0, malformed: 0 });
}

describe('a sound server', () => {
  it('answered what was sent, no more and no less, by its own account as by ours', async () => {
    let readAtEnd: number | undefined;
    const seen = await rig.measure({
      planted: [],
      bench: LOAD,
      wrap: (effects) => ({
        ...effects,
        async verify(server, draw, when) {
          if (when === 'after the load') {
            const { accountPort } = server.attestations()[0] ?? {};
            const account = await fetch(`http://127.0.0.1:${String(accountPort)}/account`);
            readAtEnd = ((await account.json()) as { requests: { read: number } }).requests.read;
          }
          return effects.verify(server, draw, when);
        },
      }),
    });
    expect(reasonsOf(seen)).toEqual([]);
    expect(seen.trial.status).not.toBe('failed');
    expect(loadOf(seen).counts).toMatchObject({ sent: AMOUNT, ok: AMOUNT, inFlight: 0 });
    expect(readAtEnd).toBe(ASKED_BEFORE + loadOf(seen).lifetime.sent);
    expectAgreement(seen);
  });

  it('is accounted for in a window of time too, with what was in flight at its end', async () => {
    const seen = await rig.measure({ planted: [], bench: ['--connections', '10', '--duration', '0.5'] });
    const { counts, lifetime } = loadOf(seen);
    expect(reasonsOf(seen)).toEqual([]);
    expect(counts.inFlight).toBeGreaterThan(0);
    expect(lifetime.inFlight).toBe(0);
    expectAgreement(seen);
  });
});

describe('each class of error is counted as the server counted it', () => {
  const spoiled = AMOUNT / Number(EVERY);

  it.each([
    ['status 500', '--status-500-every', 'non2xx'],
    ['a reset', '--reset-every', 'reset'],
    ['the end of the connection', '--close-early-every', 'closedEarly'],
  ] as const)('%s instead of some answers', async (_, fault, kind) => {
    const seen = await rig.measure({ planted: [...SOUND, fault, EVERY], bench: LOAD });
    expect(loadOf(seen).counts).toMatchObject({ sent: AMOUNT, ok: AMOUNT - spoiled, [kind]: spoiled });
    expectAgreement(seen);
    expect(seen.trial.status).toBe('suspect');
    expect(reasonsOf(seen)).toEqual(['errors']);
    expect(reasonOf(seen, 'errors')).toMatchObject({
      text: `0.40 % of the requests failed (${spoiled} ${kind})`,
      invalidates: ALL_BUT_START,
    });
  });

  it.each([
    ['another body of the same length', '--wrong-body-every'],
    ['a body of another length', '--wrong-length-every'],
  ])('%s in some answers, and the trial has failed', async (_, fault) => {
    const seen = await rig.measure({ planted: [...SOUND, fault, EVERY], bench: LOAD });
    expect(loadOf(seen).counts).toMatchObject({ sent: AMOUNT, ok: AMOUNT - spoiled, mismatch: spoiled });
    expectAgreement(seen);
    expect(seen.trial.status).toBe('failed');
    expect(reasonsOf(seen)).toEqual(['wrong-body']);
    expect(reasonOf(seen, 'wrong-body')).toMatchObject({
      text: `${spoiled} answers had a wrong body`,
      invalidates: EVERYTHING,
    });
  });

  it('fewer errors than one in a thousand are counted and leave the figures standing', async () => {
    const seen = await rig.measure({
      planted: [...SOUND, '--status-500-every', '2000'],
      bench: ['--connections', '10', '--amount', '3000'],
    });
    expect(loadOf(seen).counts).toMatchObject({ sent: 3000, ok: 2999, non2xx: 1 });
    expectAgreement(seen);
    expect(reasonsOf(seen)).toEqual([]);
  });

  it('all at once, sent by four processes', async () => {
    const first = ['--reset-every', '1000', '--close-early-every', '800', '--status-500-every', '600'];
    const seen = await rig.measure({
      planted: [...SOUND, ...first, '--wrong-body-every', '400', '--wrong-length-every', '200'],
      bench: ['--connections', '10', '--amount', '3000', '--generators', '4'],
    });
    const { counts, statusCodes, bodiesHashed, lifetime, generators } = loadOf(seen);
    expect(generators).toHaveLength(4);
    expect(counts).toMatchObject({ sent: 3000, reset: 3, closedEarly: 3, non2xx: 3, mismatch: 6 });
    expect(statusCodes).toEqual({ 200: counts.ok + counts.mismatch, 500: counts.non2xx });
    expect(bodiesHashed).toBe(lifetime.ok + lifetime.mismatch + lifetime.non2xx);
    expectAgreement(seen);
    expect(reasonsOf(seen)).toEqual(['wrong-body', 'errors']);
  });
});

describe('what is answered too late, or never', () => {
  it('is counted as timed out, and percentiles among it are lower bounds', async () => {
    const seen = await rig.measure({
      planted: [...SOUND, '--stall-at', '200', '--stall-ms', '1000', '--stall-quietly'],
      bench: ['--connections', '10', '--amount', '500', '--timeout', '0.4'],
    });
    const { counts, latencyUs } = loadOf(seen);
    expectAgreement(seen);
    expect(counts).toMatchObject({ sent: 500, ok: 500 - counts.timeout });
    // Each connection waits in vain at least once before the stall is over.
    expect(counts.timeout).toBeGreaterThanOrEqual(10);
    expect(latencyUs?.atLeast).toContain('p97_5');
    expect(latencyUs?.p97_5).toBe(400_000);
    expect(reasonsOf(seen)).toContain('errors');
    expect(reasonOf(seen, 'errors').text).toContain(`${counts.timeout} timeout`);
  });

  it('leaves no figure where it is everything', async () => {
    const seen = await rig.measure({
      planted: [...SOUND, '--delay-ms', '500'],
      bench: ['--connections', '10', '--duration', '0.5', '--timeout', '0.2'],
      plan: { barrierSeconds: 0.4 },
    });
    const { counts, latencyUs, connect } = loadOf(seen);
    expectAgreement(seen);
    expect(connect).toMatchObject({ asked: 10, stood: 0 });
    expect(counts.ok).toBe(0);
    expect(counts.timeout).toBeGreaterThan(0);
    expect(latencyUs).toBeUndefined();
    expect(seen.trial.status).toBe('failed');
    expect(reasonsOf(seen)).toEqual(expect.arrayContaining(['no-answers', 'not-all-stood', 'errors']));
    expect(reasonOf(seen, 'no-answers').invalidates).toEqual(EVERYTHING);
  });
});
