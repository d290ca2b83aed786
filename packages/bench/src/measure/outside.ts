/** Attests a user's server from outside: it prints nothing for Bench. */
import { existsSync, realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { TrialError } from 'bench-model/errors';
import { identify } from 'bench-machine/identity';
import type { Server } from 'bench-machine/launch';
import { familyOf, readLink } from 'bench-machine/procfs';
import { nameOfRuntime } from 'bench-model/planned';
import type { Attestation, Interpreter } from 'bench-model/target';
import { claimsOfRuntime } from 'bench-targets/catalogue/runtimes';
import { askRuntime } from 'bench-targets/prepare/imports';
import type { Prepared } from 'bench-targets/prepare/prepare';
import type { ServerProcess } from 'bench-model/record';
import { refuseFalse } from './attest.ts';

/** A server as it was seen from outside. */
export interface SeenServer {
  process?: ServerProcess;
  /** The build of its interpreter. */
  interpreter?: Interpreter;
  /** The state of each Python process: version, GIL and the module that switched it on, JIT. Empty for every other server. */
  attested: Attestation[];
}

/**
 * Looks at a running server. Throws a trial error if none of its processes is the interpreter that was asked for, or if
 * its GIL or its JIT is not as asked for. `file` is a path prefix for the responses of its processes; `wake` sends a
 * request, without which an idle server may not answer.
 */
export async function seeServer(
  server: Pick<Server, 'pid'>,
  { interpreter, target, runtime: found }: Pick<Prepared, 'interpreter' | 'target' | 'runtime'>,
  file: string,
  wake: () => Promise<unknown>,
): Promise<SeenServer> {
  const pid = server.pid();
  if (pid === undefined) return { attested: [] };
  const process = await identify(pid);
  const { runtime } = target;
  if (interpreter !== undefined) refuseOther(pid, interpreter, target.id);
  if (runtime?.kind !== 'python') return { process, attested: [] };
  const attested = await askRuntime(pid, file, wake);
  const claims = claimsOfRuntime(found ?? runtime);
  const isAskedFor = claims['jit'] === true || claims['gil'] !== undefined;
  if (attested.length === 0 && isAskedFor) {
    throw new TrialError(
      `@${nameOfRuntime(runtime)} cannot be attested: no process of the server says whether its GIL and its JIT are on`,
    );
  }
  const stater = (): string => `@${nameOfRuntime(runtime)}`;
  for (const one of attested) refuseFalse(one, Object.entries(claims), stater);
  return { process, attested };
}

/** Throws a trial error if no process of the server runs this interpreter. Only Linux says what a process runs. */
function refuseOther(pid: number, interpreter: string, target: string): void {
  const programs = [...familyOf([pid])]
    .map((one) => readLink(`/proc/${one}/exe`))
    .filter((path) => path !== '');
  if (programs.length === 0 || !existsSync(interpreter)) return;
  if (programs.includes(realpathSync(interpreter))) return;
  throw new TrialError(
    `false attestation: ${target} runs ${[...new Set(programs.map((path) => basename(path)))].join(', ')}, and no process of it is ${interpreter}`,
    'write python, or the program of a package, without a path in the command. --python names another interpreter',
  );
}
