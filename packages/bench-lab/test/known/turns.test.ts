import type { Turns } from 'bench-model/measured';
import type { Trial } from 'bench-model/record';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEffects } from 'bench-http/conduct/effects';
import { readManifest } from 'bench-targets/catalogue/manifest';
import { choosePlacement } from 'bench-machine/placement';
import { prepareAll } from 'bench-targets/prepare/prepare';
import { run } from 'bench-http/measure/run';
import { sum as sumAll } from 'bench-statistics/numbers';
import { makePlan } from 'bench-http/plan/plan';
import { openToken } from './leftovers.ts';
import { accountOf, ASKED, ASKED_BEFORE, loadOf, PLANTED, sumOf } from './rig.ts';
import { parseBench } from '../../testing/samples.ts';

const token = openToken();
const folder = mkdtempSync(join(tmpdir(), 'bench-duel-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function duel(...words: string[]): Promise<Trial[]> {
  const stacks = [readManifest(PLANTED)];
  const options = parseBench([...words, '--rounds', '1', '--connections', '5', '--warmup', '0.3']);
  const plan = { ...makePlan({ ...options, interleave: true }, stacks, 'known', 1), hashEvery: 1 };
  const { prepared } = await prepareAll(plan.targets, stacks);
  const placed = await choosePlacement({ serverCores: 1, generators: 1 });
  const { effects } = await createEffects({ plan, placed, token, folder });
  return run(plan, { placed, prepared, before: [] }, effects);
}

/** The burner has the first turn. */
let trials: Trial[];
beforeAll(async () => {
  trials = await duel('planted/burns', 'planted/delays-1-ms', '--duration', '1');
});

describe('a duel', () => {
  it('gives each server separate windows, and loses no request between them', () => {
    expect(trials).toHaveLength(2);
    for (const trial of trials) {
      const log = readFileSync(join(folder, 'logs', `${trial.id}.log`), 'utf8');
      const seen = { trial, log };
      const { counts, lifetime, windowSeconds, connect } = loadOf(seen);
      expect(connect).toMatchObject({ established: 5, retried: 0, refused: 0 });
      expect(accountOf(seen).requests.read).toBe(ASKED + lifetime.sent);
      expect(sumOf(counts)).toBe(counts.sent);
      expect(sumOf(lifetime)).toBe(lifetime.sent);
      expect(counts.ok).toBeGreaterThan(0);
      expect(counts.ok + counts.inFlight).toBe(counts.sent);
      expect(lifetime.ok).toBe(lifetime.sent);
      // The windows of both together would be twice as long.
      expect(windowSeconds).toBeGreaterThan(0.9);
      expect(windowSeconds).toBeLessThan(1.8);
      // Its age counts the common warm-up and no answer to one of its windows.
      const { age, load } = trial.status === 'failed' ? {} : trial.measured;
      expect(age?.answers).toBe(ASKED_BEFORE + (load?.warmup?.answers ?? Number.NaN));
      expect(load?.warmup?.answers).toBeLessThanOrEqual(lifetime.ok - counts.ok);
      expect(load?.warmup?.answers).toBeGreaterThan(5);
    }
  });

  it('reads the CPU of each turn after its last response', () => {
    for (const trial of trials) {
      if (trial.status === 'failed') throw new Error(trial.reasons[0]?.text);
      const { turns, load, server, cpuUsPerRequest } = trial.measured;
      const { answers, cpuUs = [], goodputPerSecond } = turns as Turns;
      expect([cpuUs.length, goodputPerSecond.length]).toEqual([answers.length, answers.length]);
      // Every response after the warm-up belongs to one turn; the first window opened within the first turn.
      const before = (load.warmup?.answers ?? 0) - (answers[0] ?? 0);
      expect(sumAll(answers)).toBeGreaterThanOrEqual(load.counts.ok);
      expect(sumAll(answers)).toBeLessThanOrEqual((load.lifetime?.ok ?? 0) - before);
      // The window of the figure is a little shorter than the turns.
      const ratio = sumAll(cpuUs) / sumAll(answers) / (cpuUsPerRequest ?? 0);
      expect(ratio).toBeGreaterThan(0.75);
      expect(ratio).toBeLessThan(1.33);
      expect(server?.seconds).toBeGreaterThanOrEqual(1);
      // Each response burns 500 µs. A turn that was read too early or too late would hold less than its responses burnt.
      if (trial.target.variant !== 'burns') continue;
      const overhead = answers.map((count, turn) => ((cpuUs[turn] ?? 0) - count * 500) / count);
      expect(Math.min(...overhead)).toBeGreaterThan(0);
    }
  });

  it('continues with one server when the other dies', async () => {
    const mixed = await duel('planted/delays-1-ms', 'planted/dies', '--duration', '1');
    const seen = Object.fromEntries(
      mixed.map(({ target, reasons, status }) => [target.variant, { status, reasons }]),
    );
    expect(seen['dies']).toMatchObject({
      status: 'failed',
      reasons: [{ text: expect.stringContaining('exit status 1') }],
    });
    expect(seen['delays-1-ms']?.status).not.toBe('failed');
  });
});
