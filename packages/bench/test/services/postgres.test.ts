import { globSync, linkSync, lstatSync, mkdirSync, mkdtempDisposableSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findPostgres } from 'bench-http/services/database/postgres';
import { HOME } from 'bench-machine/home';
import { needs, postgres } from '../../../bench-lab/testing/needs.ts';

describe('PostgreSQL', () => {
  const found = needs(postgres);

  it('runs where the install script of its package did not', async () => {
    const { root, version } = found.get();
    // Beside the original: hard links need the same file system.
    using place = mkdtempDisposableSync(join(HOME.cache, 'postgres-'));
    const [folder, installed] = [place.path, dirname(root)];
    for (const file of globSync('**/*', { cwd: installed })) {
      const original = join(installed, file);
      if (!lstatSync(original).isFile()) continue;
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      linkSync(original, join(folder, file));
    }
    const copy = await findPostgres(join(folder, 'dist/index.js'));
    expect(copy).toEqual({ version, root: join(folder, 'native') });
  });
});
