import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { readStacks, targetsOf } from '../../src/catalogue/stacks.ts';
import { completeParams } from '../../src/catalogue/workloads/index.ts';
import type { Draw, Params, Workload } from '../../src/catalogue/workloads/workload.ts';
import { countWorkers } from '../../src/measure/launch.ts';
import { ask, awaitRightAnswer, verify } from '../../src/measure/verify.ts';
import { needs, target } from '../needs.ts';
import { START_SECONDS, listenersOf, loopback, openHost, type Running } from './host.ts';

const LONGEST_WAIT_SECONDS = 0.1;

const host = openHost();
const stacks = readStacks();

describe.each(stacks.flatMap(targetsOf))('$id', (wanted) => {
  const ready = needs(target(wanted, stacks));
  let one: Running;
  let two: Running;

  beforeAll(async () => {
    if (ready.why !== undefined) return;
    const prepared = ready.get();
    [one, two] = await Promise.all([
      host.serve(prepared, { seed: 1, workers: 1, paramsOf: usualOf }),
      host.serve(prepared, { seed: 2, workers: 2, threads: 3, paramsOf: leastOf }),
    ]);
  });

  afterAll(async () => {
    await Promise.all([one, two].map((running) => running?.server.stop()));
  });

  it('answers what was drawn for it, and other data otherwise', async () => {
    for (const workload of ready.get().variant.workloads) {
      for (const { server, draws } of [one, two]) {
        await awaitRightAnswer(server, drawOf(draws, workload), START_SECONDS);
        await verify(server, drawOf(draws, workload), 'in the contract test');
      }
      const draw = drawOf(one.draws, workload);
      const answer = await ask(one.server, draw.requests[0]!);
      expect(answer.contentType).toMatch(/^application\/json\b/);
      expect(draw.check(answer, 0)).toBeUndefined();
      expect(drawOf(two.draws, workload).check(answer, 0)).toMatch(/^wrong body/);
    }
  });

  it('tells what its work took, and waits as long as it says', async () => {
    for (const [workload, { timing, env, requests }] of Object.entries(one.draws)) {
      if (timing === undefined) continue;
      const { headers } = await fetch(`http://${one.server.host}:${one.server.port}${requests[0]?.path}`);
      const told = new RegExp(`^${timing};dur=(\\d+\\.\\d{3})$`).exec(headers.get('server-timing') ?? '');
      expect({ workload, told: told?.[0] }).toEqual({ workload, told: expect.any(String) });
      if (timing === 'gather') continue;
      expect(Number(headers.get('x-process-time')) * 1000).toBeCloseTo(Number(told?.[1]), 2);
      // Timers of Node and Python may be a ms early.
      expect(Number(told?.[1])).toBeGreaterThanOrEqual(Number(env?.['BENCH_WAIT_MS'] ?? 0) - 1);
    }
  });

  it('attests in each worker what its manifest states, and what it runs on', async () => {
    const { variant, stack, runtime } = ready.get();
    const ran = runtime === undefined ? {} : { version: runtime.version };
    for (const [{ server }, workers] of [
      [one, 1],
      [two, 2],
    ] as const) {
      await vi.waitFor(() => expect(countWorkers(server.attestations())).toBe(workers), { timeout: 30_000 });
      const told = server.attestations();
      expect(new Set(told.map(({ pid }) => pid)).size).toBe(told.length);
      for (const attestation of told) {
        expect(attestation).toMatchObject({ ...variant.attest, version: expect.any(String), ...ran });
        // Both servers were asked for workers, and only the second for threads.
        const takesThreads = variant.command.some((word) => word.includes('{threads}'));
        expect(attestation['threads']).toBe(takesThreads && workers === 2 ? 3 : undefined);
        expect(String(attestation['framework']).split(' ')[0]).toBe(
          variant.class === 'raw' ? 'undefined' : stack.framework,
        );
      }
    }
  });

  it('listens on its one port of the loopback address only', async ({ skip }) => {
    skip(process.platform !== 'linux', 'needs /proc/net/tcp');
    for (const { server } of [one, two]) expect(listenersOf(server)).toEqual([loopback(server.port)]);
  });

  it('stops by itself on SIGTERM', async () => {
    const ends = await Promise.all(
      [one, two].map(async ({ server }) => ({ ...(await server.stop()), end: server.ended() })),
    );
    for (const { trouble, end } of ends)
      expect({ trouble, end }).toEqual({ trouble: [], end: 'exit status 0' });
  });
});

function drawOf(draws: Running['draws'], workload: string): Draw {
  const draw = draws[workload];
  if (draw === undefined) throw new Error(`nothing was drawn for ${workload}`);
  return draw;
}

/** The usual parameters, but where every answer would have the tests wait. */
function usualOf(workload: Workload): Params {
  const waitSeconds = workload.waitSeconds?.(completeParams(workload, {})) ?? 0;
  return waitSeconds > LONGEST_WAIT_SECONDS ? leastOf(workload) : {};
}

/** Parameters that make another answer than the usual ones do. */
function leastOf({ params = {} }: Workload): Params {
  return Object.fromEntries(Object.entries(params).map(([name, { least }]) => [name, least]));
}
