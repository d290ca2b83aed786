import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { awaitLock } from '../src/filelock.ts';
import { until } from '../../bench/test/cli/cli.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-filelock-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('the lock of a build', () => {
  it('is waited for while another process holds it, which is named once', async () => {
    const file = join(folder, 'environments', 'a.lock');
    const told: string[] = [];
    const first = await awaitLock(file);
    let has = false;
    const second = awaitLock(file, (waiting) => told.push(waiting)).then((lock) => {
      has = true;
      return lock;
    });
    await until(() => told.length > 0, 'the wait');
    expect(has).toBe(false);
    first[Symbol.dispose]();
    (await second)[Symbol.dispose]();
    expect(told).toEqual([`process ${process.pid} is building the same: waiting for it`]);
    expect(existsSync(file)).toBe(false);
  });

  it('is taken over from a process that has ended', async () => {
    const file = join(folder, 'b.lock');
    writeFileSync(file, JSON.stringify({ pid: 2 ** 22, began: '1', run: '', token: 'of the dead' }));
    using _ = await awaitLock(file, (waiting) => {
      throw new Error(waiting);
    });
    expect(existsSync(file)).toBe(true);
  });
});
