import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { redactFile } from '../src/redact-file.ts';
import { hide } from '../src/redact.ts';

const folder = mkdtempSync(join(tmpdir(), 'bench-redact-'));
afterAll(() => rmSync(folder, { recursive: true }));

const SECRET = 'a-token-of-the-redact-file-test';
hide([SECRET]);

function cleaned(text: string): string {
  const file = join(folder, 'server.log');
  writeFileSync(file, text);
  redactFile(file);
  expect(readdirSync(folder)).toEqual(['server.log']);
  return readFileSync(file, 'utf8');
}

describe('redactFile', () => {
  it('removes a secret from a file that is larger than what is searched at once', () => {
    const line = `GET /orders with Bearer ${SECRET}, née à Zürich\n`;
    const lines = Math.ceil(2 ** 25 / line.length);
    const clean = cleaned(line.repeat(lines));
    expect(clean).not.toContain(SECRET);
    expect(clean).toBe(line.replace(SECRET, '(not kept)').repeat(lines));
  });

  it('leaves every other byte as it is, also without a newline at the end', () => {
    const text = `a\r\nb\n\nlong ${'x'.repeat(3 * 2 ** 20)}\nend`;
    expect(cleaned(text)).toBe(text);
    expect(cleaned(`${text} ${SECRET}`)).toBe(`${text} (not kept)`);
    expect(cleaned('')).toBe('');
  });

  it('removes secrets from a line of any length, wherever it is cut', () => {
    // The step is prime, so that secrets lie across every border of parts.
    const step = `ä€😀${'x'.repeat(997 - SECRET.length)}`;
    const times = Math.ceil(2 ** 25 / (step.length + SECRET.length));
    const clean = cleaned(`${step}${SECRET}`.repeat(times));
    expect(clean === `${step}(not kept)`.repeat(times)).toBe(true);
  });

  it('ignores a file that does not exist', () => {
    expect(() => redactFile(join(folder, 'none.log'))).not.toThrow();
  });
});
