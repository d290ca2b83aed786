import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Alarm } from '../src/alarm.ts';
import { start } from 'bench-machine/subprocess';

const ALARM = fileURLToPath(new URL('../src/alarm.ts', import.meta.url));

/** Resolves with the time of each call. */
function callAt(alarm: Alarm, atMs: number): Promise<number> {
  return new Promise((resolve) => alarm.set(() => resolve(performance.now()), atMs));
}

describe('an alarm', () => {
  it('calls each function, and never before its time, whatever the order', async () => {
    using alarm = await Alarm.start();
    const from = performance.now();
    const times = [30.25, 10.75, 20.5, 0, -5].map((afterMs) => from + afterMs);
    const called = await Promise.all(times.map((atMs) => callAt(alarm, atMs)));
    for (const [index, atMs] of times.entries()) expect(called[index]).toBeGreaterThanOrEqual(atMs);
  });

  it('can be set again by the function that it calls', async () => {
    using alarm = await Alarm.start();
    const times: number[] = [];
    await new Promise<void>((resolve) => {
      let next = performance.now();
      const call = (): void => {
        times.push(performance.now() - next);
        if (times.length === 200) return resolve();
        next += 0.5;
        alarm.set(call, next);
      };
      alarm.set(call, next);
    });
    expect(Math.min(...times)).toBeGreaterThanOrEqual(0);
  });

  it('does not call what was cleared, or set to a later time', async () => {
    using alarm = await Alarm.start();
    const from = performance.now();
    let isCalled = false;
    const cleared = (): void => {
      isCalled = true;
    };
    alarm.set(cleared, from + 5);
    alarm.clear(cleared);
    let calledAt = 0;
    const moved = (): void => {
      calledAt = performance.now();
    };
    alarm.set(moved, from + 5);
    alarm.set(moved, from + 15);
    await callAt(alarm, from + 20);
    expect(calledAt).toBeGreaterThanOrEqual(from + 15);
    expect(isCalled).toBe(false);
  });

  it('does not keep its process running', async () => {
    // Without --input-type: its thread would inherit that, and fail.
    const program = `
      import(process.argv[1]).then(async ({ Alarm }) => {
        const alarm = await Alarm.start();
        process.exitCode = 1;
        const busy = setTimeout(() => {}, 30_000);
        await new Promise((resolve) => alarm.set(resolve, performance.now() + 1));
        clearTimeout(busy);
        process.exitCode = 0;
        alarm.set(() => {}, performance.now() + 3_600_000);
      });
    `;
    const child = start({ stdio: 'ignore' })`exec ${[process.execPath, '-e', program, ALARM]}`;
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});
