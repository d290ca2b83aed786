/**
 * The code that a live server runs. It is read after the load, so that the measurement is not affected: the hooks of Python and
 * Node report all loaded files from the handler of an unused signal.
 */

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { constants } from 'node:os';
import { basename, join, relative, sep } from 'node:path';
import { TrialError } from 'bench-model/errors';
import type { Attestation, RuntimeKind } from 'bench-model/target';
import type { RunningCode } from 'bench-model/record';
import type { Server } from 'bench-machine/launch';
import { familyOf, readLink } from 'bench-machine/procfs';
import { parseJson } from '../catalogue/json-file.ts';
import { askBySignal, runtimesOf } from './signals.ts';

/** Asks about loaded files: SIGINFO on macOS. Python has a handler for a real-time signal, which Node cannot have. */
const SIGNALS =
  process.platform === 'darwin' ? { python: 29, node: 29 } : { python: 50, node: constants.signals.SIGPWR };
/** A server that does not handle signals is not waited for: its figures are right without a response. */
const ANSWER_MS = 1000;
/** Folders of tools and of third-party packages. */
const NOT_OWN = /(^|\/)(node_modules|\.venv|venv|site-packages|__pycache__|\.git)(\/|$)/;

/** The code that a target must run, if it is in a copy of its project: a folder or a revision. */
export interface CodeClaim {
  /** The folder or the revision as typed. */
  from: string;
  language: RuntimeKind;
  /** The copy, and the original, which must not run. */
  folder: string;
  instead: string;
  /** The program of a binary; empty if it is not in the project. */
  program: string;
}

/** Asks the processes of a server for lines by the signal of their language. A process that does not answer is omitted. */
async function ask(
  pid: number,
  language: 'python' | 'node',
  file: string,
  wake: () => Promise<unknown>,
): Promise<string[]> {
  // An idle event loop may handle signals only after a request.
  const question = { signal: SIGNALS[language], file, milliseconds: ANSWER_MS, wake };
  const texts = await askBySignal(runtimesOf(pid, language), question);
  return texts.flatMap((text) => text.split('\n'));
}

/** Asks the Python processes of a server for their version, GIL and JIT. A process that does not answer is omitted. */
export async function askRuntime(
  pid: number,
  file: string,
  wake: () => Promise<unknown>,
): Promise<Attestation[]> {
  const texts = await ask(pid, 'python', file, wake);
  return texts.map(parseJson).filter((said) => said !== undefined) as Attestation[];
}

/** Reads the code that a server has loaded from its copy; `file` is the prefix of the reports. Throws what `findCode` throws. */
export async function readRunningCode(
  server: Pick<Server, 'pid'>,
  claim: CodeClaim,
  file: string,
  wake: () => Promise<unknown>,
): Promise<RunningCode> {
  const pid = server.pid();
  if (pid === undefined) throw new TrialError(`${claim.from}: the process of the server is unknown`);
  const told =
    claim.language === 'none'
      ? [...familyOf([pid])].map((one) => readLink(`/proc/${one}/exe`))
      : await ask(pid, claim.language, file, wake);
  const files = [...new Set(told)].filter((one) => existsSync(one)).map((one) => realpathSync(one));
  return findCode(claim, files);
}

/**
 * Returns the loaded files of a copy and their digest, or why they are unknown. Throws a trial error if the server loaded a file of
 * the original that the copy holds too.
 */
export function findCode(
  { from, language, folder, instead, program }: CodeClaim,
  files: string[],
): RunningCode {
  if (files.length === 0) return { from, unknown: 'the server did not report which files it had loaded' };
  if (language === 'none') {
    const isOfCopy = existsSync(program) && files.includes(realpathSync(program));
    return isOfCopy
      ? digestFiles(from, new Map([[basename(program), program]]))
      : { from, unknown: 'no process of the server runs a program of the copy' };
  }
  const [copy, original] = [realpathSync(folder), realpathSync(instead)];
  const wrong = files.find(
    (file) => !isOwn(file, copy) && isOwn(file, original) && existsSync(join(copy, relative(original, file))),
  );
  if (wrong !== undefined)
    throw new TrialError(
      `${from}: the server runs ${relative(process.cwd(), wrong)}, which is not in the copy`,
      'use paths relative to the project, so that each copy loads its own files',
    );
  const own = files.filter((file) => isOwn(file, copy));
  if (own.length === 0) return { from, unknown: 'no loaded file is in the folder of the copy' };
  return digestFiles(from, new Map(own.map((file) => [relative(copy, file), file])));
}

/** Returns true if a file is code of this folder, and not of tools and packages inside it. */
function isOwn(file: string, root: string): boolean {
  return file.startsWith(`${root}${sep}`) && !NOT_OWN.test(relative(root, file));
}

/** Returns the digest of files and of their names. */
function digestFiles(from: string, files: ReadonlyMap<string, string>): RunningCode {
  const hash = createHash('sha256');
  for (const [name, file] of [...files].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    hash.update(`${name}\0`).update(readFileSync(file)).update('\0');
  return { from, files: files.size, sha256: hash.digest('hex') };
}
