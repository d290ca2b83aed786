import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readEnd, redactFile, trimFile } from '../src/log-file.ts';
import { hide } from '../src/redact.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-trim-'));
  file = join(folder, 'server.log');
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

describe('readEnd', () => {
  it.each([
    ['all of a short file', 'one\ntwo\n', 100, 'one\ntwo\n'],
    ['the last whole lines of a long file', `${'x'.repeat(1000)}\ntwo\nthree\n`, 12, 'two\nthree\n'],
    ['the end of a long line', 'x'.repeat(1000), 3, 'xxx'],
    ['nothing of an empty file', '', 3, ''],
  ])('returns %s', (_, text, bytes, expected) => {
    expect(readEnd(file, bytes)).toBe('');
    writeFileSync(file, text);
    expect(readEnd(file, bytes)).toBe(expected);
  });
});

describe('redactFile', () => {
  const secret = 'a-token-of-the-log-file-test';
  hide([secret]);

  it('removes a secret, and leaves every other byte as it is', () => {
    const text = `a\r\nb\n\nné à ${'x'.repeat(2 ** 20)}\nend`;
    for (const [before, after] of [
      [text, text],
      [`${text} ${secret}`, `${text} (not kept)`],
      ['', ''],
    ] as const) {
      writeFileSync(file, before);
      redactFile(file);
      expect(readFileSync(file, 'utf8')).toBe(after);
    }
  });

  it('ignores a file that does not exist', () => {
    expect(() => redactFile(file)).not.toThrow();
  });
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

  it('bounds a file that a program goes on appending to, and loses neither its head nor its tail', () => {
    const program = openSync(file, 'a');
    const most = 2 ** 20;
    const line = `${'x'.repeat(1000)}\n`;
    const count = 10_000;
    for (let index = 0; index < count; index++) {
      writeSync(program, `${index} ${line}`);
      if (index % 100 === 0) trimFile(file, 2 ** 16, most);
    }
    closeSync(program);
    expect(statSync(file).size).toBeLessThanOrEqual(most + 100 * 1010);
    trimFile(file, 2 ** 16);
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    const note = lines.findIndex((one) => one.startsWith('[bench]'));
    const numbers = lines.toSpliced(note, 1).map((one) => Number(one.split(' ')[0]));
    const [before, after] = [numbers.slice(0, note), numbers.slice(note)];
    expect(before).toEqual(before.map((_, index) => index));
    expect(after).toEqual(after.map((_, index) => count - after.length + index));
    const left = Array.from(
      { length: count - numbers.length },
      (_, index) => `${before.length + index} ${line}`,
    );
    expect(lines[note]).toBe(`[bench] ${left.join('').length} bytes were left out here`);
  });
});
