import { describe, expect, it } from 'vitest';
import { ASKED, accountOf, loadOf, openRig, reasonsOf, sumOf } from './rig.ts';

const rig = openRig();
const ANSWERED = 3;

describe('a background request', () => {
  it('is counted as the server counts it, apart from the load', async () => {
    const seen = await rig.measure({
      planted: ['--held-after', String(ANSWERED), '--delay-ms', '5'],
      bench: ['--connections', '10', '--duration', '1', '--background', 'GET /held'],
      pick: 'planted/known (with GET /held)',
    });
    expect(reasonsOf(seen)).toEqual([]);
    expect(seen.trial).toMatchObject({
      companions: { background: { method: 'GET', path: '/held' } },
      measured: {
        companions: {
          background: { sent: ANSWERED + 1, statusCodes: { 200: ANSWERED }, lost: 0, cancelled: 1 },
        },
      },
    });
    const { counts, lifetime } = loadOf(seen);
    const { requests } = accountOf(seen);
    expect(sumOf(counts)).toBe(counts.sent);
    expect(requests.read).toBe(lifetime.sent + ASKED + ANSWERED + 1);
    expect(requests.answered.ok).toBe(lifetime.ok + ASKED + ANSWERED);
    expect(requests.abandoned).toBe(1);
    expect(requests.pending).toBe(0);
  });

  it('fails the trial if the server has no such path', async () => {
    const seen = await rig.measure({
      planted: ['--delay-ms', '5'],
      bench: ['--connections', '10', '--duration', '0.5', '--background', 'GET /nowhere'],
      pick: 'planted/known (with GET /nowhere)',
    });
    expect(seen.trial.status).toBe('failed');
    expect(reasonsOf(seen)).toEqual(['background']);
  });
});
