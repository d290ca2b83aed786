/** Plain sockets as a client: the part of a latency that they measure too is not the driver's. */
import { connect, type Socket } from 'node:net';
import { createHistogram, recordMilliseconds } from 'bench-statistics/histogram';
import { toAuthority } from 'bench-machine/ports';
import type { Turn } from './protocol.ts';

/** The request of a bare client, and its number of connections. */
interface BareLoad {
  host: string;
  port: number;
  path: string;
  connections: number;
}

/** A few sockets that repeat one request. They are silent between turns. Needs answers with a content length. */
export class BareClient implements Disposable {
  readonly #request: Buffer;
  readonly #sockets: Socket[];

  private constructor(request: Buffer, sockets: Socket[]) {
    this.#request = request;
    this.#sockets = sockets;
  }

  /** Opens all connections. Throws if one fails. */
  static async open({ host, port, path, connections }: BareLoad): Promise<BareClient> {
    const head = `GET ${path} HTTP/1.1\r\nHost: ${toAuthority({ host, port })}\r\nConnection: keep-alive\r\n\r\n`;
    const one = (): Promise<Socket> =>
      new Promise((resolve, reject) => {
        const socket = connect({ host, port, noDelay: true });
        socket.once('error', reject);
        socket.once('connect', () => resolve(socket));
      });
    return new BareClient(Buffer.from(head), await Promise.all(Array.from({ length: connections }, one)));
  }

  /**
   * Takes one turn, in which each socket repeats its request as soon as it is answered; with `perSecond`, free sockets send
   * at about this rate instead. Returns this percentile of the latencies of the window in µs, each from the time at which
   * its request was sent. Throws if a connection fails.
   */
  async takePercentile(
    percentile: number,
    { rampSeconds, windowSeconds, perSecond }: Turn & { perSecond?: number | undefined },
  ): Promise<number> {
    const histogram = createHistogram();
    const opensAt = performance.now() + rampSeconds * 1000;
    const closesAt = opensAt + windowSeconds * 1000;
    /** The sockets that wait for the next time to send. */
    const free: { send: () => void; end: () => void }[] = [];
    const pace = (): void => {
      if (performance.now() < closesAt) return free.shift()?.send();
      clearInterval(timer);
      for (const { end } of free) end();
    };
    const timer = perSecond === undefined ? undefined : setInterval(pace, 1000 / perSecond);
    const repeat = (socket: Socket): Promise<void> =>
      new Promise((resolve, reject) => {
        let sentAt = 0;
        let size: number | undefined;
        let received = 0;
        const send = (): void => {
          received = 0;
          sentAt = performance.now();
          socket.write(this.#request);
        };
        const end = (error?: Error): void => {
          socket.off('data', read).off('error', end).off('close', drop);
          if (error === undefined) resolve();
          else reject(error);
        };
        const drop = (): void => end(new Error('the server closed a bare connection'));
        const read = (piece: Buffer): void => {
          received += piece.length;
          size ??= sizeOfAnswer(piece);
          if (size === undefined) end(new Error('the answer has no content length'));
          if (size === undefined || received < size) return;
          const now = performance.now();
          if (sentAt >= opensAt) recordMilliseconds(histogram, now - sentAt);
          if (now < closesAt) sendNext();
          else end();
        };
        const sendNext = (): void => {
          if (timer === undefined) send();
          else free.push({ send, end });
        };
        socket.on('data', read).on('error', end).on('close', drop);
        sendNext();
      });
    await Promise.all(this.#sockets.map(repeat));
    return histogram.getValueAtPercentile(percentile);
  }

  [Symbol.dispose](): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** Returns the size of head and body together, from a piece with the whole head; undefined without a content length. */
export function sizeOfAnswer(piece: Buffer): number | undefined {
  const head = piece.indexOf('\r\n\r\n') + 4;
  const [, length] = /content-length: *(\d+)/i.exec(piece.toString('latin1', 0, head)) ?? [];
  return head < 4 || length === undefined ? undefined : head + Number(length);
}
