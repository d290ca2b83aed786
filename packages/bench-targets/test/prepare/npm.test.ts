import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runSync } from 'bench-machine/subprocess';
import { provideFile } from '../../src/prepare/npm.ts';

let folder = '';
/** The package that the registry has. */
let served: Buffer;

const integrityOf = (packed: Buffer): string =>
  `sha512-${createHash('sha512').update(packed).digest('base64')}`;

/** Packs a package with this program. */
function pack(program: string): Buffer {
  const root = join(folder, 'package');
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, 'package.json'), '{"name":"tool","version":"1.0.0"}');
  writeFileSync(join(root, 'tool.js'), program);
  const file = join(folder, 'packed.tgz');
  runSync(['tar', '-czf', file, '-C', folder, 'package']);
  return readFileSync(file);
}

/** A registry with one package, whose hash it tells as it is. */
const registry = createServer(({ url, headers: { host } }, answer) => {
  if (url?.endsWith('.tgz') === true) {
    answer.end(served);
    return;
  }
  const dist = { tarball: `http://${host}/tool-1.0.0.tgz`, integrity: integrityOf(served) };
  const versions = { '1.0.0': { name: 'tool', version: '1.0.0', dist } };
  answer.end(JSON.stringify({ name: 'tool', 'dist-tags': { latest: '1.0.0' }, versions }));
});

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bench-npm-'));
  await once(registry.listen(0, '127.0.0.1'), 'listening');
  vi.stubEnv('npm_config_registry', `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`);
  vi.stubEnv('npm_config_cache', join(folder, 'npm'));
});
afterAll(() => {
  vi.unstubAllEnvs();
  registry.close();
  registry.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
});

describe('a pinned package', () => {
  it('is refused with any other content, and fetched with its own', async () => {
    const right = pack('right');
    const pinned = { wanted: 'tool@1.0.0', file: 'tool.js', integrity: integrityOf(right) };
    const place = join(folder, 'tool');
    served = pack('wrong');
    await expect(provideFile(place, pinned, 'tool')).rejects.toMatchObject({
      code: 'toolchain',
      message: expect.stringMatching(
        /^tool is not installed and npm could not fetch it: .*integrity checksum failed/i,
      ) as string,
    });
    expect(existsSync(place)).toBe(false);
    served = right;
    expect(readFileSync(await provideFile(place, pinned, 'tool'), 'utf8')).toBe('right');
  });
});
