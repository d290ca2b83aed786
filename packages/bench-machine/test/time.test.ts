import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../src/subprocess.ts';
import { timeCommand } from '../src/time.ts';
import { parseTime } from '../src/time-report.ts';

describe.skipIf(!existsSync('/usr/bin/time'))('timeCommand', () => {
  it('returns a command whose report parseTime reads', async () => {
    const command = await timeCommand();
    const folder = mkdtempSync(join(tmpdir(), 'bench-time-'));
    const file = join(folder, 'report.txt');
    await run([...(command ?? []), file, 'true']);
    const report = parseTime(readFileSync(file, 'utf8'));
    rmSync(folder, { recursive: true });
    expect(report.maxResidentBytes).toBeGreaterThan(100_000);
  });
});
