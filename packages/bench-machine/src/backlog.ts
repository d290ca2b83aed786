import { listOwnAddresses } from './ports.ts';
import { tryRun } from './subprocess.ts';

/** The time limit of `ss`. */
const MOST_MS = 2000;

/**
 * Returns the longest accept queue that the listeners of a local port allow, in connections; undefined if the system does
 * not report it (only Linux with `ss` does).
 */
export async function readBacklog(host: string, port: number): Promise<number | undefined> {
  if (process.platform !== 'linux') return undefined;
  const isLocal = host === 'localhost' || host.startsWith('127.') || listOwnAddresses().includes(host);
  if (!isLocal) return undefined;
  const argv = ['ss', '-Hltn', `sport = :${port}`];
  return parseBacklog((await tryRun(argv, { timeoutMs: MOST_MS })) ?? '');
}

/** Parses the smallest backlog from the output of `ss -Hltn`; undefined if nothing listens. */
export function parseBacklog(output: string): number | undefined {
  const backlogs = output.split('\n').flatMap((line) => {
    const [state, , backlog] = line.trim().split(/\s+/);
    return state === 'LISTEN' ? Number(backlog) : [];
  });
  return backlogs.length === 0 ? undefined : Math.min(...backlogs);
}
