/**
 * Allows one run at a time across the users of a machine. A measuring run listens on one port of the loopback. The
 * kernel frees the port when the process ends, and there is no file of another user to trust.
 */
import { connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';

/** "BENCH" on a telephone keypad; below the range of ephemeral ports. */
export const PORT = 23_624;
const HOST = '127.0.0.1';
const ANSWER_MS = 2000;
/** The response of a run is never longer. */
const MOST_CHARS = 2000;

/** The measuring run, as shown to other users. */
export interface Measuring {
  pid: number;
  run: string;
  /** Its estimated end, in ms since the epoch. */
  endsAt?: number;
  uid?: number;
}

/** The right to measure on this machine, or its holder; `stranger` if a program other than Bench has the port. */
type Claim = { held: Disposable } | { by: Measuring } | { stranger: true };

/** Claims the machine. `describe` returns the measuring run each time that another process asks for it. */
export async function claimMachine(describe: () => Measuring, port = PORT): Promise<Claim> {
  const server = createServer((socket) => {
    // A client that never closes does not keep this process alive.
    socket.on('error', () => {}).unref();
    const { pid, run, endsAt } = describe();
    socket.end(`${JSON.stringify({ bench: 1, pid, run, endsAt, uid: process.geteuid?.() })}\n`);
  });
  const failure = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    server.once('error', resolve);
    server.listen({ host: HOST, port, exclusive: true }, () => resolve(undefined));
  });
  if (failure === undefined) {
    server.unref();
    return { held: { [Symbol.dispose]: () => void server.close() } };
  }
  // Without a loopback interface, other runs cannot be reached either.
  if (failure.code !== 'EADDRINUSE') return { held: { [Symbol.dispose]() {} } };
  const by = await askWho(port);
  return by === undefined ? { stranger: true } : { by };
}

async function askWho(port: number): Promise<Measuring | undefined> {
  const socket = connect({ host: HOST, port, signal: AbortSignal.timeout(ANSWER_MS) });
  try {
    const said: unknown = JSON.parse((await text(socket)).slice(0, MOST_CHARS));
    return isMeasuring(said) ? said : undefined;
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}

function isMeasuring(said: unknown): said is Measuring {
  if (typeof said !== 'object' || said === null) return false;
  const { bench, pid, run, endsAt, uid } = said as Partial<Record<string, unknown>>;
  return (
    bench === 1 && Number.isInteger(pid) && typeof run === 'string' && [endsAt, uid].every(isNumberOrNone)
  );
}

function isNumberOrNone(value: unknown): boolean {
  return value === undefined || Number.isSafeInteger(value);
}
