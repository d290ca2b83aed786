import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { start, type Child } from 'bench-machine/subprocess';
import { seeServer, type SeenServer } from '../../src/measure/outside.ts';
import { BenchError } from 'bench-model/errors';
import type { Target } from 'bench-model/target';
import { hooked } from 'bench-targets/prepare/signals';

const folder = mkdtempSync(join(tmpdir(), 'bench-outside-'));
afterAll(() => rmSync(folder, { recursive: true }));

const WAIT =
  'import sys; print(sys.executable, flush=True)\nfor line in sys.stdin: print(line, end="", flush=True)';

/** Imports two extension modules of a Python that starts without a GIL; the second one switches it on. */
const TAKES_GIL = `
import _imp
from types import SimpleNamespace
for name in ("calm", "greedy._speed", "later"):
    _imp.create_dynamic(SimpleNamespace(name=name))
${WAIT}`;

/** A sitecustomize.py that makes any Python look like one without a GIL. */
const FREE = `
import _imp, sys
modules = []
sys._is_gil_enabled = lambda: "greedy._speed" in modules
_imp.create_dynamic = lambda spec: modules.append(spec.name)
`;

/** Returns the error of a promise that must fail. */
async function rejectionOf(failing: Promise<unknown>): Promise<BenchError> {
  const error = await failing.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof BenchError) return error;
  throw error ?? new Error('nothing was thrown');
}

describe.runIf(process.platform === 'linux')('a server that prints nothing for Bench', () => {
  const children: Child[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  /** Starts a Python that answers each line, and looks at it. */
  async function see(
    spec: string,
    {
      interpreter,
      isAskable = true,
      program = WAIT,
      own = {},
    }: { interpreter?: string; isAskable?: boolean; program?: string; own?: Record<string, string> } = {},
  ): Promise<SeenServer & { executable: string; pid: number | undefined }> {
    const file = join(folder, `runtime-${children.length}`);
    const env = { ...process.env, ...(isAskable ? hooked('python', own, { BENCH_RUNTIME: file }) : {}) };
    const child = start({ env, stdio: ['pipe', 'pipe', 'inherit'] })`exec ${['python3', '-c', program]}`;
    children.push(child);
    const [line] = (await once(child.stdout as Readable, 'data')) as [Buffer];
    const executable = realpathSync(line.toString().trim());
    const target = { id: 'api', runtime: { kind: 'python', spec } } as Target;
    const wake = async (): Promise<void> => {
      child.stdin?.write('awake\n');
      await once(child.stdout as Readable, 'data');
    };
    const pid = child.pid;
    const prepared = { target, interpreter: interpreter ?? executable };
    return { ...(await seeServer({ pid: () => pid }, prepared, file, wake)), executable, pid };
  }

  it('is known by its executable, its version, its GIL and its JIT', async () => {
    const { process: seen, attested, pid } = await see('3.12');
    expect(seen).toMatchObject({ pid, version: expect.stringMatching(/^Python 3/) });
    expect(attested).toEqual([{ pid, python: expect.stringMatching(/^3\.\d+/), gil: true, jit: false }]);
  });

  it('fails if it runs on another interpreter than the one asked for', async () => {
    const error = await rejectionOf(see('3.12', { interpreter: realpathSync(process.execPath) }));
    expect(error.code).toBe('trial');
    expect(error.message).toMatch(
      /^false attestation: api runs python[\d.]*, and no process of it is .*node$/,
    );
  });

  it('fails with the name of the module that switched the GIL on', async () => {
    writeFileSync(join(folder, 'sitecustomize.py'), FREE);
    const own = { PYTHONPATH: folder };
    const error = await rejectionOf(see('3.13t', { program: TAKES_GIL, own }));
    expect(error.message).toBe(
      'false attestation: gil is true (switched on by greedy._speed), but @3.13t states false',
    );
  });

  it('fails if its JIT is off although it was asked for', async () => {
    const error = await rejectionOf(see('3.12+jit'));
    expect(error.message).toBe('false attestation: jit is false, but @3.12+jit states true');
  });

  it.each(['3.13t', '3.13+jit'])(
    'fails if it does not respond although it was asked for: %s',
    async (spec) => {
      const error = await rejectionOf(see(spec, { isAskable: false }));
      expect(error.message).toContain(`@${spec} cannot be attested`);
    },
  );

  it('is measured although it does not respond, if nothing was asked for', async () => {
    const { attested } = await see('3.12', { isAskable: false });
    expect(attested).toEqual([]);
  });
});
