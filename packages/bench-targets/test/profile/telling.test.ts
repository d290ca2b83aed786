import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findProgram } from 'bench-machine/path';
import { run } from 'bench-machine/subprocess';
import { parseTrace, watchTelling, withTelling } from '../../src/profile/telling.ts';
import type { Prepared } from '../../src/prepare/prepare.ts';

const folder = mkdtempSync(join(tmpdir(), 'bench garbage-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A line is printed before the next collection begins; the last one may be lost when the program ends. */
const PROGRAM = `package main

import "runtime"

func main() {
	for range 4 {
		runtime.GC()
	}
}
`;
const COMPILED = { stack: { runtime: undefined }, env: { GODEBUG: 'madvdontneed=1' } } as unknown as Prepared;

function serverOf(logs: string[]): Parameters<typeof watchTelling>[0] {
  return { pid: () => 1, host: '127.0.0.1', port: 1, log: () => logs.shift() ?? '' };
}

/** A line of a collection that took 1 ms of CPU more than this. */
function line(number: number, ms: number): string {
  return `gc ${number} @1.0s 3%: 0.02+1.3+0.05 ms clock, ${ms}+0.3/0.2/0+0.5 ms cpu, 4->4->0 MB, 4 MB goal, 2 P\n`;
}

describe('the garbage of a compiled server', () => {
  it.runIf(findProgram('go'))('is told by the trace of Go, beside what the user set', async () => {
    const source = join(folder, 'main.go');
    writeFileSync(source, PROGRAM);
    const { env } = withTelling(COMPILED, 'unused');
    expect(env['GODEBUG']).toBe('madvdontneed=1,gctrace=1');
    await run(['go', 'build', '-o', join(folder, 'program'), source]);
    const { stderr } = await run([join(folder, 'program')], { env: { ...process.env, ...env } });
    const traced = parseTrace(stderr);
    expect(traced.slice(0, 3).map(({ number }) => number)).toEqual([1, 2, 3]);
    expect(traced.every(({ ms }) => ms >= 0 && ms < 1000)).toBe(true);
  });

  it('is that since the start of the watch, by the mean if lines were cut', async () => {
    const stop = await watchTelling(serverOf([line(1, 1), line(4, 1) + line(5, 3)]), COMPILED, 'unused');
    expect(await stop()).toEqual({ count: 4, ms: 12 });
  });

  it('is not known without a trace', async () => {
    const stop = await watchTelling(serverOf(['up\n', 'up\nGET /\n']), COMPILED, 'unused');
    expect(await stop()).toBeUndefined();
  });
});
