/** A helper that burns a known CPU time inside the accounting of a server. */
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Cgroup } from '../cgroup.ts';
import { killAndWait, start } from '../subprocess.ts';

/** Burns CPU; disposing ends it. */
export interface Burner extends AsyncDisposable {
  /** Burns this CPU time, in µs. Resolves with all that it has used so far, by its own clock. */
  burn(us: number): Promise<number>;
}

/** Orders before the first that counts, of so many µs: the code that carries them out is compiled by then. */
const FIRST = { orders: 20, us: 500 };

/** Compilers and collectors in other threads would use CPU between orders. */
const ONE_THREAD = ['--single-threaded', '--v8-pool-size=0'];

/** Starts a burner in the cgroup of a server, on its cores: `prefix` pins it as the server is. Throws if it cannot be started. */
export async function startBurner(cgroup: Cgroup, prefix: readonly string[]): Promise<Burner> {
  const program = fileURLToPath(new URL('burn.cjs', import.meta.url));
  const argv = [...prefix, process.execPath, ...ONE_THREAD, program];
  const child = start({
    stdio: ['pipe', 'pipe', 'ignore'],
  })`set -e; for file in ${cgroup.procsFiles}; do echo $$ > "$file"; done; exec ${argv}`;
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error('the helper that burns CPU has no pipes');
  const ended = Promise.withResolvers<never>();
  ended.promise.catch(() => {});
  child.once('exit', () => ended.reject(new Error('the helper that burns CPU has ended')));
  stdin.on('error', () => {});
  const burner: Burner = {
    async burn(us) {
      const reply = once(stdout, 'data');
      stdin.write(String(Math.round(us)));
      const [line] = await Promise.race([reply, ended.promise]);
      return Number(line);
    },
    [Symbol.asyncDispose]: () => killAndWait(child),
  };
  for (let order = 0; order < FIRST.orders; order++) await burner.burn(FIRST.us);
  return burner;
}
