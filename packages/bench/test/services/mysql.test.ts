/** MySQL and MariaDB as they are found, and a server of them that does not start. */
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newToken, scratchOf } from 'bench-machine/scratch';
import { findMysql } from '../../src/services/database/mysql.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-mysql-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const place = (name: string, script: string): void =>
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });

describe('MySQL', () => {
  it('is named with the ways to get it if it is missing', async () => {
    await expect(findMysql([folder])).rejects.toMatchObject({
      code: 'toolchain',
      message: 'MySQL is not on PATH: no mysqld, no mariadbd',
      hint: expect.stringMatching(/apt-get install mariadb-server; brew install mariadb/),
    });
  });

  it('is MariaDB if its server says so, and then needs the program that creates the system tables', async () => {
    place('mysqld', 'echo "mysqld  Ver 8.4.3 for Linux on x86_64 (MySQL Community Server - GPL)"');
    expect(await findMysql([folder])).toMatchObject({ kind: 'mysql', version: '8.4.3' });
    rmSync(join(folder, 'mysqld'));
    place('mariadbd', 'echo "mariadbd  Ver 11.8.2-MariaDB for Linux on x86_64 (MariaDB Server)"');
    await expect(findMysql([folder])).rejects.toMatchObject({
      code: 'toolchain',
      message: expect.stringContaining('mariadb-install-db is not on PATH'),
    });
    place('mariadb-install-db', '');
    expect(await findMysql([folder])).toMatchObject({ kind: 'mariadb', version: '11.8.2' });
  });

  it('leaves nothing behind if it does not start, and the error quotes it', async () => {
    place(
      'mysqld',
      'case "$*" in *--version) echo "mysqld  Ver 8.4.3";; *) echo "[ERROR] no space left" >&2; exit 1;; esac',
    );
    const token = newToken();
    const found = await findMysql([folder]);
    // Under root, nobody runs it.
    chmodSync(folder, 0o755);
    await expect(found.start({ token, folder, placed: {} })).rejects.toMatchObject({
      code: 'toolchain',
      message: expect.stringMatching(
        /^MySQL ended before it was ready \(exit status 1: \[ERROR\] no space left\)$/,
      ),
    });
    expect(existsSync(scratchOf(token, 'mysql'))).toBe(false);
  });
});
