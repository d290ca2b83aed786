import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { readManifest } from 'bench-targets/catalogue/manifest';
import type { Stack } from 'bench-model/stack';
import { METRIC_IDS } from 'bench-model/metrics';
import { needs, uv } from '../../testing/needs.ts';
import { accountOf, openRig, reasonOf, reasonsOf, type Seen } from './rig.ts';

const rig = openRig();
const place = mkdtempSync(join(tmpdir(), 'bench-gil-'));
/** A version that does not exist. */
const VERSION = '9.99t';

const FLAGS = '--disable-gil';

const REPORT = {
  version: '9.99.0',
  implementation: 'CPython',
  compiler: 'none',
  configured: `'${FLAGS}'`,
  compiled: '',
  linked: '',
  isDebug: false,
  hasTailCalls: false,
  isFreeThreaded: true,
  hasJit: false,
};

/** An interpreter that reports to be free-threaded, and runs servers by Node. */
beforeAll(() => {
  const executable = join(place, 'versions', VERSION, 'bin', 'python3');
  mkdirSync(dirname(executable), { recursive: true });
  const said = join(place, 'said.json');
  writeFileSync(said, JSON.stringify({ ...REPORT, executable }));
  writeFileSync(
    executable,
    `#!/bin/sh\ncase " $* " in *' -c '*) cat '${said}' && exit ;; esac\nexec '${process.execPath}' "$@"\n`,
  );
  chmodSync(executable, 0o755);
  vi.stubEnv('PYENV_ROOT', place);
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(place, { recursive: true });
});

/** The planted stack as one in Python, with a variant that has these options. */
function plantPython(extra: string[]): Stack {
  const stack = readManifest(fileURLToPath(new URL('../../planted/stack.json', import.meta.url)));
  const steady = stack.variants['steady']!;
  const command = [...steady.command, '--attest-as', '{"gil":false,"jit":false}', ...extra];
  return { ...stack, runtime: 'python', variants: { steady: { ...steady, command } } };
}

const measure = (extra: string[], bench: string[]): Promise<Seen> =>
  rig.measure({
    planted: 'steady',
    stack: plantPython(extra),
    bench: ['--python', VERSION, '--connections', '10', '--amount', '100', ...bench],
  });

describe('a server on a free-threaded build', () => {
  needs(uv);
  it('is measured if its worker reports that the GIL is off', async () => {
    const seen = await measure([], []);
    expect(reasonsOf(seen)).toEqual([]);
    expect(seen.trial).toMatchObject({
      target: { id: `planted@${VERSION}` },
      runtime: {
        version: REPORT.version,
        build: { freethreaded: 'true', flags: expect.stringContaining(FLAGS) as string },
      },
      attested: [{ gil: false }],
    });
  });

  it('fails if a module enabled the GIL in one worker, and the reason names both', async () => {
    const seen = await measure(['--gil-taken-by', 'greenlet._greenlet'], ['--workers', '2']);
    expect(seen.trial.status).toBe('failed');
    expect(seen.trial).not.toHaveProperty('partial');
    expect(reasonsOf(seen)).toEqual(['trial']);
    expect(reasonOf(seen, 'trial')).toMatchObject({
      text: expect.stringMatching(/worker 2 of 2: .*greenlet\._greenlet.*@9\.99t/) as string,
      invalidates: METRIC_IDS,
    });
    expect(accountOf(seen).requests.read).toBe(1);
  });
});
