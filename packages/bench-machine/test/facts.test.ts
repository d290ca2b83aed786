import { cpus } from 'node:os';
import { describe, expect, it } from 'vitest';
import { observeOtherProcesses, readFacts, readOpenFiles } from '../src/facts.ts';
import { run } from '../src/subprocess.ts';
import { startWorker } from './resources/worker.ts';

describe('readFacts', () => {
  it('reads the facts that preflight needs', async () => {
    const facts = await readFacts();
    expect(facts).toMatchObject({ platform: process.platform, cores: cpus().length });
    expect(facts.ephemeralPorts?.last).toBeGreaterThan(facts.ephemeralPorts?.first ?? Infinity);
    expect(facts.somaxconn).toBeGreaterThan(0);
  });
});

describe('readOpenFiles', () => {
  it('reads the limits that a server inherits', async () => {
    const limits = await readOpenFiles();
    expect(limits?.soft).toBeGreaterThan(0);
    expect(limits?.hard).toBeGreaterThanOrEqual(limits?.soft ?? Infinity);
  });

  it.skipIf(process.platform !== 'linux')('reads those that a shell prints', async () => {
    const { stdout } = await run(['/bin/sh', '-c', 'ulimit -Sn; ulimit -Hn']);
    const [soft, hard] = stdout
      .trim()
      .split('\n')
      .map((text) => (text === 'unlimited' ? Infinity : Number(text)));
    expect(await readOpenFiles()).toEqual({ soft, hard });
  });
});

describe.skipIf(process.platform !== 'linux')('observeOtherProcesses', () => {
  it('measures the CPU time of another process', async () => {
    await using stranger = await startWorker();
    const from = performance.now();
    const burning = stranger.ask('burn 200');
    const others = (await observeOtherProcesses(burning)) ?? NaN;
    const { burntUs = 0 } = await burning;
    expect(others * (performance.now() - from) * 1000).toBeGreaterThan(burntUs - 40_000);
  });
});
