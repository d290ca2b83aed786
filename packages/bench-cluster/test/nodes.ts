/** Ray nodes of one process, as tests use them. */
import { createInterface } from 'node:readline';
import { provideProgram, provideToken } from '../src/program.ts';
import { start } from 'bench-machine/subprocess';

/** Nodes that run: the first is the server's, the others generate load. */
export interface LocalNodes extends AsyncDisposable {
  address: string;
  /** Removes a node as a power cut does, unless it was removed before. */
  remove(index: number): Promise<void>;
}

/** Starts nodes that end with this process. Processes of their agents inherit `variables`. */
export async function startLocalNodes(
  count: number,
  variables: Record<string, string> = {},
): Promise<LocalNodes> {
  provideToken();
  const { argv, env } = await provideProgram();
  const child = start({
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...variables, ...env },
  })`exec ${[...argv, 'local', String(count), '--attended']}`;
  if (child.stdout === null) throw new Error('no stdout');
  const ended = new Promise((resolve) => {
    child.once('exit', resolve);
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const next = async (): Promise<Record<string, unknown>> => {
    const line = await lines.next();
    if (line.done === true) throw new Error('the nodes have ended');
    return JSON.parse(line.value) as Record<string, unknown>;
  };
  const { address } = await next();
  const removed = new Set<number>();
  return {
    address: String(address),
    async remove(index) {
      if (removed.has(index)) return;
      removed.add(index);
      child.stdin?.write(`${JSON.stringify({ remove: index })}\n`);
      await next();
    },
    async [Symbol.asyncDispose]() {
      child.stdin?.end();
      await ended;
    },
  };
}
