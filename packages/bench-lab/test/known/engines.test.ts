import { describe, expect, it } from 'vitest';
import type { TrialEffects } from 'bench-http/measure/effects';
import { engine as client, needs } from '../../testing/needs.ts';
import { ASKED, ASKED_BEFORE, accountOf, loadOf, openRig, reasonsOf, sumOf, toldLoadOf } from './rig.ts';

const rig = openRig();

/** Counted from the first request of the load: each fault occurs four times in the window, and never after it. */
const FAULTS = {
  'status-500-every': 95,
  'wrong-length-every': 97,
  'wrong-body-every': 98,
  'reset-every': 99,
  'close-early-every': 100,
};
const SOUND = ['--sound-first', String(ASKED_BEFORE)];
const AMOUNT = 400;

describe.each([
  ['requests', 1],
  ['threads', 8],
  ['aiohttp', 8],
] as const)('the Python client %s', (engine, connections) => {
  needs(client(engine));
  const load = ['--amount', String(AMOUNT), '--connections', String(connections), '--engine', engine];

  it('counts every request by outcome, as the server does', async () => {
    const faults = Object.entries(FAULTS).flatMap(([fault, every]) => [`--${fault}`, String(every)]);
    const seen = await rig.measure({ planted: [...SOUND, ...faults], bench: load });
    const { counts, lifetime, engine: told, connect } = loadOf(seen);
    const { requests } = accountOf(seen);
    expect(told).toBe(engine);
    expect(connect).toMatchObject({ planned: connections, established: connections });
    expect(counts).toMatchObject({ sent: AMOUNT, inFlight: 0 });
    expect(sumOf(counts)).toBe(counts.sent);
    expect(sumOf(lifetime)).toBe(lifetime.sent);
    expect(counts).toMatchObject({ non2xx: 4, mismatch: 8, reset: 4, closedEarly: 4, timeout: 0 });
    expect(requests.read).toBe(lifetime.sent + ASKED);
    expect(requests.answered.ok).toBe(lifetime.ok + ASKED);
    expect(requests.answered.status500).toBe(lifetime.non2xx);
    expect(requests.answered.wrongBody + requests.answered.wrongLength).toBe(lifetime.mismatch);
    expect(requests.resets).toBe(lifetime.reset);
    expect(requests.closedEarly).toBe(lifetime.closedEarly);
  });
});

describe.each(['threads', 'aiohttp'])('the Python client %s', (engine) => {
  needs(client(engine));
  const load = ['--connections', '8', '--engine', engine];

  it('counts the requests in flight at the end of a window', async () => {
    const seen = await rig.measure({ planted: ['--delay-ms', '20'], bench: [...load, '--duration', '0.5'] });
    const { counts, lifetime, latencyUs, bodiesHashed, generators, slices } = loadOf(seen);
    expect(reasonsOf(seen)).toEqual([]);
    expect(sumOf(counts)).toBe(counts.sent);
    expect(counts.inFlight).toBeGreaterThan(0);
    expect(lifetime.inFlight).toBe(0);
    expect(accountOf(seen).requests.read).toBe(lifetime.sent + ASKED);
    expect(latencyUs?.mean).toBeGreaterThan(20_000);
    expect(bodiesHashed).toBeGreaterThanOrEqual(counts.ok);
    expect(slices.ok.reduce((sum, ok) => sum + ok, 0)).toBe(counts.ok);
    expect(generators).toHaveLength(1);
    expect(generators[0]?.cpuUs).toBeGreaterThan(0);
  });

  it('counts timeouts', async () => {
    const seen = await rig.measure({
      planted: [...SOUND, '--stall-at', '50', '--stall-ms', '900', '--stall-quietly'],
      bench: [...load, '--amount', String(AMOUNT), '--timeout', '0.3'],
    });
    const { counts, lifetime } = loadOf(seen);
    expect(counts).toMatchObject({ sent: AMOUNT, inFlight: 0 });
    expect(counts.timeout).toBeGreaterThanOrEqual(8);
    const { answered, abandoned } = accountOf(seen).requests;
    expect(abandoned).toBeGreaterThanOrEqual(8);
    // On a busy machine a response may leave just as the client gives up: it timed out, and was not abandoned.
    expect(answered.ok + abandoned).toBe(lifetime.ok + lifetime.timeout + ASKED);
  });
});

/** Makes the verification after the load repeat the result of the first, without a request. */
function verifyOnce(effects: TrialEffects): TrialEffects {
  let first: ReturnType<TrialEffects['verify']> | undefined;
  return { ...effects, verify: (...args) => (first ??= effects.verify(...args)) };
}

describe('wrk', () => {
  needs(client('wrk'));
  const load = ['--duration', '1', '--warmup', '1', '--connections', '8', '--engine', 'wrk'];

  it('reports what the server counted, except requests in flight when the window opened or closed', async () => {
    const seen = await rig.measure({
      planted: ['--sound-first', String(ASKED_BEFORE), '--status-500-every', '100', '--delay-ms', '2'],
      bench: load,
      // The second verification could meet a fault: the number of requests before it is unknown.
      wrap: verifyOnce,
    });
    const told = toldLoadOf(seen);
    const { requests } = accountOf(seen);
    const { ok, non2xx = 0 } = told.counts;
    // The others belong to the warm-up, which wrk does not report.
    expect(ok).toBeGreaterThan(0);
    expect(ok + non2xx).toBeLessThan(requests.read - ASKED_BEFORE);
    expect(non2xx / (ok + non2xx)).toBeCloseTo(0.01, 2);
    expect(reasonsOf(seen)).toEqual(['errors']);
    // Counts that wrk does not report are absent, not 0.
    for (const field of [
      'lifetime',
      'statusCodes',
      'bodiesHashed',
      'slices',
      'silentConnections',
      'meanCycleUs',
    ])
      expect(told).not.toHaveProperty(field);
    for (const kind of ['sent', 'inFlight', 'mismatch']) expect(told.counts).not.toHaveProperty(kind);
    expect(told.latencyUs?.mean).toBeGreaterThan(2000);
    expect(told.generators[0]?.cpuUs).toBeGreaterThan(0);
  });

  it('has no window if the server has died', async () => {
    const seen = await rig.measure({ planted: ['--die-after-requests', '20'], bench: load });
    expect(seen.trial.status).toBe('failed');
    expect(reasonsOf(seen)[0]).toBe('trial');
  });
});
