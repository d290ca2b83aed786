import { Agent, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { WorkloadRequest } from 'bench-targets/catalogue/workloads/workload';
import type { Server } from 'bench-machine/launch';
import { familyOf, readText } from 'bench-machine/procfs';
import { run } from 'bench-machine/subprocess';
import { findBehindShim } from 'bench-targets/catalogue/pyenv';

/** Longer than the defaults that servers come with: 2 s (gunicorn), 5 s (uvicorn, actix, Rocket) or 6 s (Node). */
export const IDLE_SECONDS = 8;

/** The highest rung of the connection ladder. */
const MOST_CONNECTIONS = 10_000;

/** A connection on which the server has answered once. */
export interface KeptConnection {
  /** Seconds since the response. */
  idleSeconds(): number;
  /** Sends the request again. Returns true if it was answered on the same connection. */
  isReused(): Promise<boolean>;
  close(): void;
}

/** Sends a request and keeps its connection open. */
export async function openConnection(
  { host, port }: Pick<Server, 'host' | 'port'>,
  { method, path, headers, body }: WorkloadRequest,
): Promise<KeptConnection> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const send = async (): Promise<boolean> => {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const sent = request({ agent, host, port, method, path, headers }, (answer) => {
      answer
        .resume()
        .once('end', () => resolve(sent.reusedSocket))
        .once('error', reject);
    });
    sent.once('error', reject).end(body);
    return promise;
  };
  await send();
  let answeredAt = performance.now();
  return {
    idleSeconds: () => (performance.now() - answeredAt) / 1000,
    async isReused() {
      const isReused = await send();
      answeredAt = performance.now();
      return isReused;
    },
    close: () => agent.destroy(),
  };
}

let python: Promise<string> | undefined;

/** The state of a server's sockets, from the kernel. */
export interface Sockets {
  /** The length of the shortest accept queue. */
  backlog: number;
  /** True if every established connection sends answers immediately, without waiting for acknowledgements. */
  noDelay: boolean;
}

/**
 * Reads the sockets of a server and all that it started, of which one has to be a connection. Returns undefined where
 * the platform does not show them: on Linux as root, or with `kernel.yama.ptrace_scope` at 0, it does.
 */
export async function readSockets(server: Pick<Server, 'pid' | 'port'>): Promise<Sockets | undefined> {
  if (process.platform !== 'linux') return undefined;
  const script = fileURLToPath(new URL('sockets.py', import.meta.url));
  const pids = [...familyOf([server.pid() ?? 0])].map(String);
  python ??= findBehindShim('python3');
  const { stdout } = await run([await python, '-IS', script, String(server.port), ...pids]);
  const all = JSON.parse(stdout) as { listening: boolean; backlog: number; noDelay: boolean }[] | null;
  if (all === null) return undefined;
  const [listening = [], connected = []] = [true, false].map((is) =>
    all.filter((one) => one.listening === is),
  );
  if (listening.length === 0 || connected.length === 0)
    throw new Error(`no sockets on port ${server.port}: ${stdout}`);
  return {
    backlog: Math.min(...listening.map(({ backlog }) => backlog)),
    noDelay: connected.every(({ noDelay }) => noDelay),
  };
}

/** Returns the shortest accept queue that the connection ladder needs, or the longest that the kernel allows. */
export function leastBacklog(): number {
  return Math.min(MOST_CONNECTIONS, Number(readText('/proc/sys/net/core/somaxconn')));
}
