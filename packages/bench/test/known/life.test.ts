import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../../planted/account.ts';
import { ASKED, ASKED_BEFORE, accountOf, loadOf, openRig, reasonOf, reasonsOf } from './rig.ts';

const rig = openRig();

const SOUND = ['--sound-first', String(ASKED_BEFORE)];
const LOAD = ['--connections', '10', '--amount', '500'];
const EVERYTHING = ['goodput', 'p50', 'p99', 'cpu', 'memory', 'startup'];

describe('a server that binds', () => {
  it('late is waited for, and its start-up time says how late', async () => {
    const { trial } = await rig.measure({ planted: [...SOUND, '--bind-after-ms', '700'], bench: LOAD });
    expect(trial.status).not.toBe('failed');
    expect(trial).toMatchObject({ measured: { load: { counts: { ok: 500 } } } });
    expect('measured' in trial && trial.measured.startupSeconds).toBeGreaterThanOrEqual(0.7);
  });

  it('never has failed at the deadline', async () => {
    const seen = await rig.measure({ planted: ['--never-bind'], bench: LOAD, plan: { startSeconds: 0.5 } });
    expect(seen.trial.status).toBe('failed');
    expect(seen.trial).not.toHaveProperty('partial');
    expect(reasonsOf(seen)).toEqual(['trial']);
    expect(reasonOf(seen, 'trial')).toMatchObject({
      text: expect.stringMatching(
        /^GET http:\/\/\S+: no right answer within 0\.5 s: .*ECONNREFUSED/,
      ) as string,
      invalidates: EVERYTHING,
    });
  });
});

describe('a server that ends under load', () => {
  it.each([
    ['by itself', [], 'exit status 1', { exitStatus: 1 }],
    ['by SIGKILL', ['--die-signal', 'SIGKILL'], 'ended by signal 9', { terminatedBySignal: 9 }],
  ])('%s has failed, with the cause and its last words', async (_, how, cause, time) => {
    const seen = await rig.measure({
      planted: [...SOUND, '--die-after-requests', '300', ...how],
      bench: ['--connections', '10', '--duration', '5'],
    });
    const { trial } = seen;
    expect(trial.status).toBe('failed');
    expect(trial).not.toHaveProperty('partial');
    expect(reasonsOf(seen)).toEqual(['trial']);
    expect(reasonOf(seen, 'trial')).toMatchObject({
      text: `the server died under load (${cause})`,
      invalidates: EVERYTHING,
    });
    expect(accountOf(seen)).toMatchObject({ occasion: 'death', requests: { read: 300 + ASKED_BEFORE + 1 } });
    expect(trial.logTail?.at(-1)).toContain('"occasion":"death"');
    expect(trial.time ?? time).toMatchObject(process.platform === 'linux' ? time : {});
  });
});

describe('a server that ignores SIGTERM', () => {
  it('is killed and suspect, and keeps its figures', async () => {
    const seen = await rig.measure({ planted: ['--ignore-sigterm'], bench: LOAD });
    const account: Snapshot = accountOf(seen);
    expect(seen.trial.status).toBe('suspect');
    expect(loadOf(seen).counts.ok).toBe(500);
    expect(reasonsOf(seen)).toEqual(['ignored-sigterm']);
    expect(reasonOf(seen, 'ignored-sigterm')).toEqual({
      code: 'ignored-sigterm',
      text: 'the server ignored SIGTERM for 5 s and was killed',
      invalidates: [],
    });
    expect(account.occasion).toBe('SIGTERM');
    expect(account.requests.read).toBe(loadOf(seen).lifetime.sent + ASKED);
    expect(() => process.kill(account.pid, 0)).toThrow('ESRCH');
  });
});

describe('a server that turns wrong', () => {
  const TURNS = [...SOUND, '--answer-wrong-after', '1000'];
  const bench = ['--connections', '10', '--amount', '2000'];

  it('in the middle of the load is caught by the bodies that are hashed, one in 64 as in a real run', async () => {
    const seen = await rig.measure({ planted: TURNS, bench, plan: { hashEvery: 64 } });
    const { counts, lifetime, bodiesHashed } = loadOf(seen);
    expect(bodiesHashed).toBe(Math.ceil(lifetime.sent / 64));
    expect(counts.mismatch).toBeGreaterThan(0);
    expect(counts.ok + counts.mismatch).toBe(counts.sent);
    expect(seen.trial.status).toBe('failed');
    expect(reasonsOf(seen)).toEqual(['trial', 'wrong-body']);
    expect(reasonOf(seen, 'wrong-body').text).toBe(`${counts.mismatch} answers had a wrong body`);
  });

  it('and escapes the hashes is caught by the verification after the load', async () => {
    const seen = await rig.measure({ planted: TURNS, bench, plan: { hashEvery: 1_000_000 } });
    expect(loadOf(seen).counts).toMatchObject({ ok: 2000, mismatch: 0 });
    expect(seen.trial.status).toBe('failed');
    expect(reasonsOf(seen)).toEqual(['trial']);
    expect(reasonOf(seen, 'trial')).toMatchObject({
      text: expect.stringMatching(/^GET \/api\/devices after the load: wrong body/) as string,
      invalidates: EVERYTHING,
    });
  });

  it('before the load is caught before it', async () => {
    const seen = await rig.measure({
      planted: ['--sound-first', '2', '--answer-wrong-after', '0', '--wrong-body-every', '1'],
      bench,
    });
    expect(seen.trial).not.toHaveProperty('partial');
    expect(accountOf(seen).requests).toMatchObject({ read: 3, answered: { ok: 2, wrongBody: 1 } });
    expect(reasonOf(seen, 'trial').text).toMatch(/^GET \/api\/devices before the load: wrong body/);
  });
});

describe('an attestation', () => {
  it.each([
    ['false', 'false-attestation', 'false attestation: mypyc is false, but the manifest states true'],
    ['missing', 'no-attestation', 'false attestation: mypyc is undefined, but the manifest states true'],
  ])('that is %s fails the trial before any load', async (_, variant, text) => {
    const seen = await rig.measure({ planted: variant, bench: LOAD });
    expect(seen.trial.status).toBe('failed');
    expect(seen.trial).not.toHaveProperty('partial');
    expect(reasonsOf(seen)).toEqual(['trial']);
    expect(reasonOf(seen, 'trial')).toMatchObject({ text, invalidates: EVERYTHING });
    expect(accountOf(seen).requests.read).toBe(1);
  });

  it('that is true is kept with the trial', async () => {
    const seen = await rig.measure({ planted: 'true-attestation', bench: LOAD });
    expect(reasonsOf(seen)).toEqual([]);
    expect(seen.trial.attested).toEqual([expect.objectContaining({ mypyc: true, framework: 'planted' })]);
  });
});
