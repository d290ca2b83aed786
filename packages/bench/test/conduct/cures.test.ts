import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { cureFor } from '../../src/conduct/cures.ts';

const cureHttp2 = (): string => cureFor({ kind: 'http2' }, { command: '--run', words: [] });

it('names a tool that sends HTTP/2 if one is on PATH', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-cures-'));
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });
  vi.stubEnv('PATH', folder);
  expect(cureHttp2()).toMatch(/let the server accept it beside HTTP\/2$/);
  const tool = join(folder, 'oha');
  writeFileSync(tool, '');
  expect(cureHttp2()).toMatch(/beside HTTP\/2$/);
  chmodSync(tool, 0o755);
  expect(cureHttp2()).toMatch(/, or measure it without Bench: oha --http2 -c 10 -z 10s URL$/);
});

it('names the field to remove if a port could not be moved', () => {
  const fault = { kind: 'other-port', namesPort: false } as const;
  const named = { command: 'the command in stack.json', words: [] };
  expect(cureFor(fault, named)).toMatch(/^pass \{port\} in the command/);
  expect(cureFor(fault, { ...named, movesPort: true })).toMatch(/^remove "movesPort"/);
});
