import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { trimFile } from '../src/trim-file.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-trim-'));
  file = join(folder, 'server.log');
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

describe('trimFile', () => {
  it('keeps whole lines of both ends of a large file, and says how much it left out', () => {
    const lines = Array.from({ length: 100_000 }, (_, index) => `line ${index}\n`);
    const text = lines.join('');
    writeFileSync(file, text);
    trimFile(file, 1000);
    const kept = readFileSync(file, 'utf8');
    expect(statSync(file).size).toBeLessThan(2100);
    const [, head = '', left = '', tail = ''] =
      /^(.*\n)\[bench\] (\d+) bytes were left out here\n(.*)$/s.exec(kept) ?? [];
    expect(text.startsWith(head)).toBe(true);
    expect(text.endsWith(tail)).toBe(true);
    expect(head).toContain('line 50\n');
    expect(tail).toMatch(/^line \d{5}\n/);
    expect(tail).toContain('line 99950\n');
    expect(head.length + Number(left) + tail.length).toBe(text.length);
  });

  it('leaves out a line that is longer than an end: half of it could hide a secret', () => {
    writeFileSync(file, 'x'.repeat(5000));
    trimFile(file, 1000);
    expect(readFileSync(file, 'utf8')).toBe('[bench] 5000 bytes were left out here\n');
  });

  it('leaves a small file as it is, and ignores a missing one', () => {
    trimFile(file, 10);
    writeFileSync(file, 'twenty characters...');
    trimFile(file, 10);
    expect(readFileSync(file, 'utf8')).toBe('twenty characters...');
  });
});
