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
const served = new Map<string, Buffer>();

const integrityOf = (packed: Buffer): string =>
  `sha512-${createHash('sha512').update(packed).digest('base64')}`;

function pack(name: string, program: string): Buffer {
  const root = join(folder, 'package');
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, 'package.json'), JSON.stringify({ name, version: '1.0.0' }));
  writeFileSync(join(root, 'tool.js'), program);
  const file = join(folder, 'packed.tgz');
  runSync(['tar', '-czf', file, '-C', folder, 'package']);
  return readFileSync(file);
}

/** A registry that tells the hash of each package as it is. */
const registry = createServer(({ url = '', headers: { host } }, answer) => {
  const [, name = '', isPacked] = /^\/([^/]+?)(-1\.0\.0\.tgz)?$/.exec(url) ?? [];
  const packed = served.get(name);
  if (packed === undefined) {
    answer.writeHead(404).end();
  } else if (isPacked === undefined) {
    const dist = { tarball: `http://${host}/${name}-1.0.0.tgz`, integrity: integrityOf(packed) };
    const versions = { '1.0.0': { name, version: '1.0.0', dist } };
    answer.end(JSON.stringify({ name, 'dist-tags': { latest: '1.0.0' }, versions }));
  } else {
    answer.end(packed);
  }
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
  it('is refused with any other content, also of what it needs, and fetched with its own', async () => {
    const right = pack('tool', 'right');
    const needed = pack('needed', 'right');
    const pinned = {
      wanted: 'tool@1.0.0',
      file: 'tool.js',
      integrity: integrityOf(right),
      needs: { 'needed@1.0.0': integrityOf(needed) },
    };
    const place = join(folder, 'tool');
    for (const wrong of ['tool', 'needed']) {
      served.set('tool', right).set('needed', needed).set(wrong, pack(wrong, 'wrong'));
      await expect(provideFile(place, pinned, 'tool')).rejects.toMatchObject({
        code: 'toolchain',
        message: expect.stringMatching(
          /^tool is not installed and npm could not fetch it: .*integrity checksum failed/i,
        ) as string,
      });
      expect(existsSync(place)).toBe(false);
    }
    served.set('tool', right).set('needed', needed);
    expect(readFileSync(await provideFile(place, pinned, 'tool'), 'utf8')).toBe('right');
    expect(readFileSync(join(place, 'node_modules', 'needed', 'tool.js'), 'utf8')).toBe('right');
  });
});
