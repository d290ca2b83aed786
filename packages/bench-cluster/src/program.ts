/** The Python program of the cluster: its environment, and the token without which Ray refuses. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { HOME } from 'bench-machine/home';
import { prepareProgram, pythonProgram } from 'bench-targets/prepare/program';

const CLUSTER = pythonProgram('cluster', 'ray', { ray: ['-m', 'bench_cluster'] });

export interface Program {
  argv: string[];
  env: Record<string, string>;
}

/** Prepares the program. Throws a toolchain error if its Python or a package is missing. */
export async function provideProgram(log?: (doing: string) => void): Promise<Program> {
  const found = await prepareProgram(CLUSTER, {
    id: 'the cluster',
    elsewhere: 'clone it on every host',
    log,
  });
  return { argv: found.command, env: { ...found.env, ...tokenOf(process.env) } };
}

/** The token that `pnpm cluster up` makes. */
const TOKEN_FILE = join(HOME.cache, 'cluster', 'token');

/** Returns the variables that name the token: those of the user, or the file that `pnpm cluster up` made, or Ray's own. */
function tokenOf(env: NodeJS.ProcessEnv): Record<string, string> {
  if (env['RAY_AUTH_TOKEN'] !== undefined || env['RAY_AUTH_TOKEN_PATH'] !== undefined) return {};
  const own = join(homedir(), '.ray', 'auth_token');
  const file = !existsSync(TOKEN_FILE) && existsSync(own) ? own : TOKEN_FILE;
  return { RAY_AUTH_TOKEN_PATH: file };
}

/** Makes the token unless there is one, and returns its path. Only this user can read it. */
export function provideToken(): string {
  if (!existsSync(TOKEN_FILE)) {
    mkdirSync(dirname(TOKEN_FILE), { recursive: true });
    writeFileSync(TOKEN_FILE, randomBytes(32).toString('hex'), { mode: 0o600 });
  }
  return TOKEN_FILE;
}
