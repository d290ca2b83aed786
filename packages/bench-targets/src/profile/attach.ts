/** Programs that observe the processes of a running server. Each is attached while the server is idle, and detached after a load. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import pWaitFor from 'p-wait-for';
import { BenchError, TrialError } from 'bench-model/errors';
import { hasEnded, killAndWait, start, type Child } from 'bench-machine/subprocess';
import { lastLine } from '../prepare/failures.ts';

/** The longest time that a program may take to attach, and to write its output. */
export const ATTACH_MS = 15_000;
const POLL_MS = 20;

/** A program for one process. */
export interface Tool {
  argv: string[];
  /** Returns true once it observes, by what it has printed. */
  isReady: (printed: string) => boolean;
  /** Returns its result; by default, the content of its output. */
  read?: () => Promise<string>;
}

/** Programs that observe. Disposing it detaches them, if they are still attached. */
export interface Observed extends AsyncDisposable {
  /** Detaches the programs and returns their results. Throws a trial error if one failed. */
  stop(): Promise<string[]>;
}

/**
 * Starts a program for each of `asked`, such as processes. All run on the cores of this process unless their words say otherwise.
 * `file` is a path prefix. Throws a trial error with the reason if one cannot attach.
 */
export async function attachTools<Asked>(
  asked: readonly Asked[],
  file: string,
  toolOf: (one: Asked, output: string) => Tool,
): Promise<Observed> {
  if (asked.length === 0) throw new TrialError('the processes of the server are unknown');
  const running: { child: Child; tool: Tool; output: string; printed: () => string }[] = [];
  const end = async (): Promise<void> => {
    for (const { child } of running) await killAndWait(child);
  };
  try {
    for (const [index, one] of asked.entries()) {
      const output = `${file}-${index}`;
      rmSync(output, { force: true });
      const tool = toolOf(one, output);
      const child = start({ stdio: ['ignore', 'pipe', 'pipe'] })`exec ${tool.argv}`;
      let text = '';
      for (const stream of [child.stdout, child.stderr])
        stream?.on('data', (piece: Buffer) => (text += String(piece)));
      running.push({ child, tool, output, printed: () => text });
    }
    for (const { child, tool, printed } of running) {
      const message = new TrialError(`the profiler did not attach within ${ATTACH_MS / 1000} s`);
      const timeout = { milliseconds: ATTACH_MS, message };
      await pWaitFor(() => hasEnded(child) || tool.isReady(printed()), { interval: POLL_MS, timeout });
      if (hasEnded(child)) throw failed(printed());
    }
  } catch (error) {
    await end();
    throw error;
  }
  return {
    async stop() {
      for (const { child } of running) child.kill('SIGINT');
      return Promise.all(
        running.map(async ({ child, tool, output, printed }) => {
          if (!hasEnded(child)) await once(child, 'exit', { signal: AbortSignal.timeout(ATTACH_MS) });
          if (!existsSync(output)) throw failed(printed());
          return tool.read?.() ?? readFileSync(output, 'utf8');
        }),
      );
    },
    [Symbol.asyncDispose]: end,
  };
}

function failed(printed: string): BenchError {
  return new TrialError(`the profiler failed: ${lastLine(printed) || 'it printed no reason'}`);
}
