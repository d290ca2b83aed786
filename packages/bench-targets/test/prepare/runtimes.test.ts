import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pWaitFor from 'p-wait-for';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { findRuntime } from '../../src/prepare/runtimes.ts';

/**
 * Imitates npm: it unpacks a package in two steps, and waits for the file `go` between them, as long as the folder
 * exists. The first half of the binary fails.
 */
const NPM = `#!/bin/sh
wanted="$2"
while [ "$1" != --prefix ]; do shift; done
binary="$2/node_modules/$wanted/bin/bun"
mkdir -p "$(dirname "$binary")"
printf '#!/bin/sh\\nexit 1\\n' > "$binary"
chmod +x "$binary"
touch "$FAKE/half"
while [ -d "$FAKE" ] && [ ! -e "$FAKE/go" ]; do sleep 0.02; done
printf '#!/bin/sh\\necho \\047{"version":"1.2.3"}\\047\\n' > "$binary"
`;

describe('a runtime that has to be fetched', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-runtimes-'));
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is complete for a second run that looks for it meanwhile', async () => {
    mkdirSync(join(folder, 'bin'));
    writeFileSync(join(folder, 'bin', 'npm'), NPM);
    chmodSync(join(folder, 'bin', 'npm'), 0o755);
    vi.stubEnv('PATH', `${join(folder, 'bin')}:${process.env['PATH']}`);
    vi.stubEnv('FAKE', folder);
    const search = { cache: join(folder, 'cache'), mayInstall: true };
    const first = findRuntime({ kind: 'node', spec: 'bun' }, search);
    await pWaitFor(() => existsSync(join(folder, 'half')));
    const second = findRuntime({ kind: 'node', spec: 'bun' }, { ...search, isAnyNode: true });
    writeFileSync(join(folder, 'go'), '');
    const found = await Promise.all([first, second]);
    expect(found.map(({ runtime }) => runtime.version)).toEqual(['1.2.3', '1.2.3']);
  });
});
