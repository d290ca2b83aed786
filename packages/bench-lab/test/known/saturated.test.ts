import { describe, expect, it } from 'vitest';
import type { Server } from 'bench-machine/launch';
import type { TrialEffects } from 'bench-http/measure/effects';
import { ASKED_BEFORE, accountOf, loadOf, openRig, type Seen } from './rig.ts';

const rig = openRig();

/** Answers with a delay within 10 ms of this one. */
function delayed(ms: number): string[] {
  return ['--sound-first', String(ASKED_BEFORE), '--delay-ms', String(ms), '--delay-spread-ms', '10'];
}
const MOST = ['--connections', '4000'];

/**
 * Restarts the server's account of latencies when the window opens. Before it, each connection asks at least once: of a
 * percentile over the whole life of the server, most would come from connecting and warming up.
 */
function accountForWindow(effects: TrialEffects): TrialEffects {
  let server: Server | undefined;
  return {
    ...effects,
    verify(verified, draw, when) {
      server = verified;
      return effects.verify(verified, draw, when);
    },
    load() {
      const engine = effects.load();
      return {
        ...engine,
        open(spec, processes) {
          const session = engine.open(spec, processes);
          const fire = session.fire.bind(session);
          session.fire = async (window, mark) => {
            let restarted: Promise<unknown> | undefined;
            const load = await fire(window, (edge) => {
              mark(edge);
              if (edge === 'opened') restarted = restartLatencies(server);
            });
            await restarted;
            return load;
          };
          return session;
        },
      };
    },
  };
}

/** Has the planted server account for its latencies anew. */
async function restartLatencies(server: Server | undefined): Promise<void> {
  const port = server?.attestations()[0]?.['accountPort'];
  const answer = await fetch(`http://127.0.0.1:${port as number}/account?latency=restart`);
  expect(answer.status).toBe(200);
}

/** The percentiles that no reason invalidates. */
function validOf({ trial }: Seen): ('p50' | 'p99')[] {
  const spoilt = new Set(trial.reasons.flatMap(({ invalidates }) => invalidates));
  return (['p50', 'p99'] as const).filter((metric) => !spoilt.has(metric));
}

/** Expects that every percentile without a mark is that of the server, or a little more for the way. */
function expectRightOrMarked(seen: Seen): void {
  const { latencyUs, latencyAtLeastUs } = loadOf(seen);
  const told = accountOf(seen).latencyUs;
  expect(latencyUs?.p50).toBeDefined();
  for (const metric of ['p50', 'p99'] as const) {
    expect(latencyAtLeastUs?.[metric]).toBeLessThanOrEqual(Number(latencyUs?.[metric]));
    if (!validOf(seen).includes(metric)) continue;
    expect(latencyUs?.[metric]).toBeGreaterThanOrEqual(0.9 * Number(told[metric]));
    expect(latencyUs?.[metric]).toBeLessThanOrEqual(1.5 * Number(told[metric]));
  }
}

describe('a delay at thousands of connections', () => {
  it('is measured correctly by a generator that is not saturated', async () => {
    const seen = await rig.measure({
      // So long that no pause of a busy machine is half of it.
      planted: delayed(200),
      bench: [...MOST, '--rate', '1000', '--duration', '2'],
      wrap: accountForWindow,
    });
    const { latencyUs, latencyAtLeastUs } = loadOf(seen);
    // The median of the delays lies between the two bounds.
    expect(latencyUs?.p50).toBeGreaterThanOrEqual(199_000);
    expect(latencyAtLeastUs?.p50).toBeLessThanOrEqual(1.2 * Number(accountOf(seen).latencyUs.p50));
    expectRightOrMarked(seen);
  });

  it('is reported by no percentile if the generator is saturated', async () => {
    const seen = await rig.measure({
      planted: delayed(50),
      bench: [...MOST, '--duration', '1'],
      wrap: accountForWindow,
    });
    // No generator sends 80,000 requests a second. What takes the cores from it is named instead.
    expect(validOf(seen)).toEqual([]);
    expect(seen.trial.reasons.map(({ code }) => code)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^(generator-bound|late-generator|other-processes|steal|throttled)$/),
      ]),
    );
    expectRightOrMarked(seen);
  });

  it('is correct or marked if answers come in bursts', async () => {
    const seen = await rig.measure({
      planted: ['--sound-first', String(ASKED_BEFORE), '--delay-ms', '400'],
      bench: [...MOST, '--duration', '1', '--timeout', '20'],
      wrap: accountForWindow,
    });
    expect(loadOf(seen).counts.ok).toBeGreaterThan(0);
    expectRightOrMarked(seen);
  });
});
