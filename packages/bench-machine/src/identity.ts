/** The identity of a running process: its executable, runtime version, command and cores. */

import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename } from 'node:path';
import { orUndefined } from 'bench-model/errors';
import type { ServerProcess } from 'bench-model/record';
import { redactCommand } from './redact.ts';
import { readAllowedCores } from './placement.ts';
import { readLink, readWords } from './procfs.ts';
import { tryRun } from './subprocess.ts';

/** Runtimes that answer `--version` at once and do nothing else. */
const RUNTIMES = /^(node|nodejs|bun|deno|python[\d.]*t?|pypy[\d.]*|ruby[\d.]*|php[\d.]*)$/;
const VERSION_MS = 2000;

/** Reads the identity of a process. Facts that the system does not report are absent. */
export async function identify(pid: number): Promise<ServerProcess> {
  const isLinux = process.platform === 'linux';
  const executable = isLinux
    ? readLink(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, '')
    : await askPs(pid, 'comm');
  const words = isLinux ? readWords(pid) : (await askPs(pid, 'args')).split(' ').filter(Boolean);
  const program = isLinux ? `/proc/${pid}/exe` : executable;
  return {
    pid,
    executable: executable === '' ? undefined : withoutHome(executable),
    version: executable.startsWith('/') ? await askVersion(program, executable) : undefined,
    command: words.length === 0 ? undefined : redactCommand(words).map(withoutHome),
    cores: readAllowedCores(pid),
  };
}

/** Returns the path of the program that a process runs; undefined if that path holds another file by now. */
export async function readProgram(pid: number): Promise<string | undefined> {
  if (process.platform !== 'linux') {
    const executable = await askPs(pid, 'comm');
    return executable.startsWith('/') ? executable : undefined;
  }
  const path = readLink(`/proc/${pid}/exe`);
  const [running, stored] = [`/proc/${pid}/exe`, path].map((file) =>
    statSync(file, { throwIfNoEntry: false }),
  );
  // The path of a process in a container names another file here.
  const isSame = stored !== undefined && stored.ino === running?.ino && stored.dev === running.dev;
  return isSame ? path : undefined;
}

async function askPs(pid: number, field: string): Promise<string> {
  return (await tryRun(['/bin/ps', '-ww', '-p', String(pid), '-o', `${field}=`]))?.trim() ?? '';
}

/**
 * Returns the first line that a known runtime prints for `--version`. Runs only programs of this user or of root
 * that nobody else can change.
 */
async function askVersion(path: string, executable: string): Promise<string | undefined> {
  if (!RUNTIMES.test(basename(executable)) || !isTrusted(path)) return undefined;
  const env = { PATH: '/usr/bin:/bin' };
  const told = await tryRun([path, '--version'], { timeoutMs: VERSION_MS, env, cwd: '/' });
  const [line = ''] = (told ?? '').trim().split('\n');
  if (line === '') return undefined;
  // Node prints the number alone.
  return (/^v\d/.test(line) ? `${basename(executable)} ${line}` : line).slice(0, 100);
}

/** Returns true if only root or this user can change a program. */
export function isTrusted(path: string): boolean {
  const { uid, mode = 0 } = orUndefined(() => statSync(path)) ?? {};
  return uid !== undefined && (uid === 0 || uid === process.getuid?.()) && (mode & 0o002) === 0;
}

/** Returns a path without the name of the user. */
function withoutHome(word: string): string {
  const home = homedir();
  return home.length > 1 ? word.replaceAll(home, '~') : word;
}
