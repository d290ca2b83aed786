import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { findUpstream, parseCount, useBetween } from '../../../src/services/upstream/upstream.ts';

const folder = mkdtempSync(join(tmpdir(), 'bench-path-'));
afterAll(() => rmSync(folder, { recursive: true }));

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(join(folder, 'nginx'), { force: true });
});

function plantNginx(...says: string[]): void {
  const file = join(folder, 'nginx');
  writeFileSync(file, ['#!/bin/sh', ...says.map((line) => `echo '${line}' >&2`)].join('\n'));
  chmodSync(file, 0o755);
}

describe('findUpstream', () => {
  const STUB = 'configure arguments: --with-http_stub_status_module';

  it.each([
    ['nginx version: nginx/1.22.1', '1.22.1'],
    ['nginx version: nginx/1.18.0 (Ubuntu)', '1.18.0'],
    ['nginx version: openresty/1.21.4.1', '1.21.4.1'],
  ])('uses nginx if it is on PATH: %s', async (says, version) => {
    plantNginx(says, STUB);
    vi.stubEnv('PATH', folder);
    expect(await findUpstream()).toMatchObject({ kind: 'nginx', version });
  });

  it.each([
    ['is not on PATH', []],
    ['was built without stub_status', ['nginx version: nginx/1.22.1', 'configure arguments:']],
    ['nginx -V does not print a version', ['something else']],
  ])('uses the embedded upstream if nginx %s', async (_, says) => {
    if (says.length > 0) plantNginx(...says);
    vi.stubEnv('PATH', folder);
    expect(await findUpstream()).toMatchObject({ kind: 'embedded', version: process.versions.node });
  });

  it('parses the request count of each kind', () => {
    const page =
      'Active connections: 2 \nserver accepts handled requests\n 31 31 40217 \nReading: 0 Writing: 1 Waiting: 1 \n';
    expect(parseCount(page)).toBe(40_217);
    expect(parseCount('<html>')).toBeNaN();
    expect(parseCount('12')).toBe(12);
  });
});

describe('useBetween', () => {
  it('subtracts the requests, and keeps the longer fetch time', () => {
    const before = { requests: 30, fetchUs: 900 };
    expect(useBetween(before, { requests: 530, fetchUs: 700 })).toEqual({ requests: 500, fetchUs: 900 });
  });
});
