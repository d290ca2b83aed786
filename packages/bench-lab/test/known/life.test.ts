import { describe, expect, it } from 'vitest';
import { METRIC_IDS } from 'bench-model/metrics';
import { ASKED_BEFORE, accountOf, loadOf, openRig, reasonOf, reasonsOf } from './rig.ts';

const rig = openRig();

const SOUND = ['--sound-first', String(ASKED_BEFORE)];
const LOAD = ['--connections', '10', '--amount', '500'];

describe('the start of a server', () => {
  it('is waited for, and the start-up time includes the wait', async () => {
    const { trial } = await rig.measure({ planted: [...SOUND, '--bind-after-ms', '700'], bench: LOAD });
    expect(trial.status).not.toBe('failed');
    expect(trial).toMatchObject({ measured: { load: { counts: { ok: 500 } } } });
    expect('measured' in trial && trial.measured.startupSeconds).toBeGreaterThanOrEqual(0.7);
  });
});

describe('a server that ends under load', () => {
  it('fails, with the cause and its last lines', async () => {
    const seen = await rig.measure({
      planted: [...SOUND, '--die-after-requests', '300'],
      bench: ['--connections', '10', '--duration', '5'],
    });
    const { trial } = seen;
    expect(trial.status).toBe('failed');
    expect(trial).not.toHaveProperty('partial');
    expect(reasonsOf(seen)).toEqual(['trial']);
    expect(reasonOf(seen, 'trial')).toMatchObject({
      text: expect.stringContaining('exit status 1') as string,
      invalidates: METRIC_IDS,
    });
    expect(accountOf(seen)).toMatchObject({ occasion: 'death', requests: { read: 300 + ASKED_BEFORE + 1 } });
    expect(trial.logTail?.at(-1)).toContain('"occasion":"death"');
    const time = { exitStatus: 1 };
    expect(trial.time ?? time).toMatchObject(process.platform === 'linux' ? time : {});
  });
});

describe('a server whose responses become wrong', () => {
  const TURNS = [...SOUND, '--answer-wrong-after', '1000'];
  const bench = ['--connections', '10', '--amount', '2000'];

  it('during the load is caught, in every response', async () => {
    const seen = await rig.measure({ planted: TURNS, bench, plan: { hashEvery: 64 } });
    const { counts, lifetime, bodiesHashed } = loadOf(seen);
    expect(bodiesHashed).toBe(lifetime.ok + lifetime.mismatch);
    expect(counts.mismatch).toBeGreaterThan(0);
    expect(counts.ok + counts.mismatch).toBe(counts.sent);
    expect(seen.trial.status).toBe('failed');
    expect(reasonsOf(seen)).toEqual(['trial', 'wrong-answers']);
    expect(reasonOf(seen, 'wrong-answers').text).toContain(
      `${counts.mismatch.toLocaleString('en-US')} responses`,
    );
  });
});

describe('an attestation', () => {
  it.each([
    ['false', 'false-attestation', 'mypyc is false'],
    ['missing', 'no-attestation', 'mypyc is undefined'],
  ])('that is %s fails the trial before any load', async (_, variant, text) => {
    const seen = await rig.measure({ planted: variant, bench: LOAD });
    expect(seen.trial.status).toBe('failed');
    expect(seen.trial).not.toHaveProperty('partial');
    expect(reasonsOf(seen)).toEqual(['trial']);
    expect(reasonOf(seen, 'trial')).toMatchObject({
      text: expect.stringContaining(text) as string,
      invalidates: METRIC_IDS,
    });
    expect(accountOf(seen).requests.read).toBe(1);
  });

  it('that is true is recorded', async () => {
    const seen = await rig.measure({ planted: 'true-attestation', bench: LOAD });
    expect(reasonsOf(seen)).toEqual([]);
    expect(seen.trial.attested).toEqual([expect.objectContaining({ mypyc: true, framework: 'planted' })]);
  });
});
