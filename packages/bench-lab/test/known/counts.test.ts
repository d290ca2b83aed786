import { describe, expect, it } from 'vitest';
import { describeCount } from 'bench-model/counts';
import { METRIC_IDS } from 'bench-model/metrics';
import {
  ASKED,
  ASKED_AFTER,
  ASKED_BEFORE,
  accountOf,
  loadOf,
  openBothWays,
  reasonOf,
  reasonsOf,
  sumOf,
} from './rig.ts';
import type { Seen } from './rig.ts';

const { rig, ways } = openBothWays();

/** Faults count from the first request of the load on. */
const SOUND = ['--sound-first', String(ASKED_BEFORE)];
const AMOUNT = 800;
/** More requests than are sent before the window opens, so that every fault falls into the window. */
const EVERY = '100';
const LOAD = ['--connections', '10', '--amount', String(AMOUNT)];

/** Expects that client and server counted the same, to the last request. */
function expectAgreement(seen: Seen, checks = ASKED): void {
  const { counts, lifetime } = loadOf(seen);
  const { requests, unread } = accountOf(seen);
  expect(sumOf(counts)).toBe(counts.sent);
  expect(sumOf(lifetime)).toBe(lifetime.sent);
  expect(requests.read).toBe(lifetime.sent + checks);
  expect(requests.answered.ok).toBe(lifetime.ok + checks);
  expect(requests.answered.status500).toBe(lifetime.non2xx);
  expect(requests.answered.wrongBody + requests.answered.wrongLength).toBe(lifetime.mismatch);
  expect(requests.resets).toBe(lifetime.reset);
  expect(requests.closedEarly + requests.late).toBe(lifetime.closedEarly);
  expect(requests.abandoned).toBe(lifetime.timeout + lifetime.inFlight);
  expect(requests.pending).toBe(0);
  expect(unread).toEqual({ leftover: 0, malformed: 0 });
}

/** Expects the age in answers to be the server's own count when the fixed amount of requests began. */
function expectAge(seen: Seen): void {
  const { counts } = loadOf(seen);
  const { answered } = accountOf(seen).requests;
  const all = answered.ok + answered.status500 + answered.wrongBody + answered.wrongLength;
  const inWindow = counts.ok + counts.non2xx + counts.mismatch;
  const { age } = seen.trial.status === 'failed' ? (seen.trial.partial ?? {}) : seen.trial.measured;
  expect(age?.answers).toBe(all - inWindow - ASKED_AFTER);
}

describe('a sound server', () => {
  it('counts as many requests as the generator sent', async () => {
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
    expectAge(seen);
  });

  it('counts as many in a window of fixed length, requests in flight included', async () => {
    const seen = await rig.measure({
      planted: ['--delay-ms', '5'],
      bench: ['--connections', '10', '--duration', '0.5'],
    });
    const { counts, lifetime } = loadOf(seen);
    expect(reasonsOf(seen)).toEqual([]);
    expect(counts.inFlight).toBeGreaterThan(0);
    expect(lifetime.inFlight).toBe(0);
    expectAgreement(seen);
  });
});

describe('a sound server that several generators load', () => {
  it('has the age in responses that it counts itself, after a warm-up too', async () => {
    const seen = await rig.measure({
      planted: ['--delay-ms', '5'],
      bench: [...LOAD, '--warmup', '0.3'],
      plan: { generators: 3 },
    });
    expectAgreement(seen);
    expectAge(seen);
    const { warmup, lifetime } = loadOf(seen);
    const warm = warmup?.ok.reduce((sum, count) => sum + count, 0) ?? 0;
    expect(warm).toBeGreaterThan(0);
    expect(warm).toBeLessThanOrEqual(lifetime.ok - loadOf(seen).counts.ok);
    // The last slice with a response, which on a busy machine is not the last of the warm-up.
    expect(warmup?.ok.length).toBeGreaterThan(1);
  });
});

// Which responses are errors depends on the way, which all classes at once show. What follows from their number does not.
describe('each class of error is counted as the server counted it', () => {
  const spoiled = AMOUNT / Number(EVERY);

  it('status 500 instead of some responses', async () => {
    const seen = await rig.measure({ planted: [...SOUND, '--status-500-every', EVERY], bench: LOAD });
    expect(loadOf(seen).counts).toMatchObject({ sent: AMOUNT, ok: AMOUNT - spoiled, non2xx: spoiled });
    expectAgreement(seen);
    expect(seen.trial.status).not.toBe('failed');
    expect(reasonsOf(seen)).toEqual(['errors']);
    expect(reasonOf(seen, 'errors')).toMatchObject({
      text: expect.stringContaining(`(${describeCount('non2xx', spoiled)})`) as string,
      invalidates: [],
    });
  });

  it('another body in some responses fails the trial', async () => {
    const seen = await rig.measure({ planted: [...SOUND, '--wrong-body-every', EVERY], bench: LOAD });
    expect(loadOf(seen).counts).toMatchObject({ sent: AMOUNT, ok: AMOUNT - spoiled, mismatch: spoiled });
    expectAgreement(seen);
    expect(seen.trial.status).toBe('failed');
    expect(reasonsOf(seen)).toEqual(['wrong-answers']);
    expect(reasonOf(seen, 'wrong-answers')).toMatchObject({
      text: expect.stringContaining(`${spoiled} responses`) as string,
      invalidates: METRIC_IDS,
    });
  });

  it('fewer errors than one in a thousand are counted and invalidate nothing', async () => {
    const seen = await rig.measure({
      planted: [...SOUND, '--status-500-every', '600'],
      bench: ['--connections', '10', '--amount', '1050'],
    });
    expect(loadOf(seen).counts).toMatchObject({ sent: 1050, ok: 1049, non2xx: 1 });
    expectAgreement(seen);
    expect(reasonsOf(seen)).toEqual([]);
  });

  it.each(ways)('all classes at once, with two generators, read $way', async ({ rig: reader }) => {
    const first = ['--reset-every', '1000', '--close-early-every', '800', '--status-500-every', '600'];
    const seen = await reader.measure({
      planted: [...SOUND, ...first, '--wrong-body-every', '400', '--wrong-length-every', '200'],
      bench: ['--connections', '10', '--amount', '3000'],
      plan: { generators: 2 },
    });
    const { counts, statusCodes, bodiesHashed, lifetime, generators } = loadOf(seen);
    expect(generators).toHaveLength(2);
    expect(counts).toMatchObject({ sent: 3000, reset: 3, closedEarly: 3, non2xx: 3, mismatch: 6 });
    expect(statusCodes).toEqual({ 200: counts.ok + counts.mismatch, 500: counts.non2xx });
    expect(bodiesHashed).toBe(lifetime.ok + lifetime.mismatch + lifetime.non2xx);
    expectAgreement(seen);
    expect(reasonsOf(seen)).toEqual(['wrong-answers', 'errors']);
    for (const kind of ['non2xx', 'reset', 'closedEarly'])
      expect(reasonOf(seen, 'errors').text).toContain(describeCount(kind, 3));
  });
});

describe('a late or missing answer', () => {
  it('counts as a timeout, and makes the percentiles that it reaches lower bounds', async () => {
    const seen = await rig.measure({
      planted: [...SOUND, '--stall-at', '200', '--stall-ms', '1800', '--stall-quietly'],
      bench: ['--connections', '20', '--amount', '500', '--timeout', '1'],
    });
    const { counts, latencyUs } = loadOf(seen);
    expectAgreement(seen);
    expect(counts).toMatchObject({ sent: 500, ok: 500 - counts.timeout });
    // Each connection has at least one timeout before the stall ends.
    expect(counts.timeout).toBeGreaterThanOrEqual(20);
    expect(latencyUs?.atLeast).toContain('p97_5');
    expect(latencyUs?.p97_5).toBe(1e6);
    expect(reasonsOf(seen)).toContain('errors');
    expect(reasonOf(seen, 'errors').text).toContain(describeCount('timeout', counts.timeout));
  });

  it('leaves no figures if every request times out', async () => {
    const seen = await rig.measure({
      planted: [...SOUND, '--delay-ms', '1500'],
      bench: ['--connections', '10', '--duration', '0.5', '--timeout', '0.2'],
      plan: { barrierSeconds: 0.4 },
    });
    const { counts, latencyUs, connect } = loadOf(seen);
    expectAgreement(seen);
    expect(connect).toMatchObject({ planned: 10, established: 0 });
    expect(counts.ok).toBe(0);
    expect(counts.timeout).toBeGreaterThan(0);
    expect(latencyUs).toBeUndefined();
    expect(seen.trial.status).toBe('failed');
    expect(reasonsOf(seen)).toEqual(expect.arrayContaining(['no-answers', 'errors']));
    expect(reasonOf(seen, 'connections').text).toContain('0 of 10 connections were established');
    expect(reasonOf(seen, 'no-answers').invalidates).toEqual(METRIC_IDS);
  });
});
