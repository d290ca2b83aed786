/** A user's shell: programs that run outside of the tests, and their repositories. */

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runSync, SubprocessError } from 'bench-machine/subprocess';

/** The command of this checkout, for a user's folder. */
export const COMMAND = fileURLToPath(new URL('../../bench/bench-http.mjs', import.meta.url));

/** How a program ended. */
export interface Ended {
  /** Null if it was killed. */
  status: number | null;
  stdout: string;
  stderr: string;
}

/** True for variables of Vitest that would change what a command prints or its servers do. */
export const isOfTest = (name: string): boolean => /^(VITEST|NODE_ENV$|DEBUG$|FORCE_COLOR$)/.test(name);

/** Returns the environment of this process as a user would have it: outside of tests and of a CI. */
export function inheritedByUser(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !isOfTest(name) && name !== 'CI');
  return Object.fromEntries(inherited);
}

/** Returns the environment of a user who keeps state and cache in this folder. */
export function environmentOfUser(folder: string): NodeJS.ProcessEnv {
  return { ...inheritedByUser(), BENCH_STATE: join(folder, 'state'), BENCH_CACHE: join(folder, 'cache') };
}

/** Runs a program to its end. Throws only if it could not be started. */
export function runToEnd(argv: string[], cwd: string, env: NodeJS.ProcessEnv): Ended {
  try {
    return { status: 0, ...runSync(argv, { cwd, env }) };
  } catch (error) {
    if (!(error instanceof SubprocessError)) throw error;
    const { status, stdout, stderr } = error;
    return { status, stdout, stderr };
  }
}

/** Runs the command of this checkout to its end. Throws only if it could not be started. */
export function runCommand(args: string[], cwd: string, env: NodeJS.ProcessEnv): Ended {
  return runToEnd([process.execPath, COMMAND, ...args], cwd, env);
}

/** Runs git in a repository as a user with a name and no other settings, and returns what it prints, trimmed. */
export function git(repository: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=somebody', '-c', 'user.email=somebody@example.org'];
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' };
  return runSync(['git', ...identity, ...args], { cwd: repository, env }).stdout.trim();
}
