import { connect } from 'node:net';
import { createHistogram, recordMilliseconds } from '../histogram.ts';
import { toAuthority } from '../machine/ports.ts';

/** The requests and the duration of a bare client. */
export interface BareLoad {
  host: string;
  port: number;
  path: string;
  connections: number;
  seconds: number;
}

/**
 * Measures the median latency of plain sockets in µs. Each socket repeats the same request as soon as it is answered. The
 * difference from the driver is the driver's own share. Needs answers with a content length. Throws if a connection
 * fails.
 */
export async function measureBareMedian({
  host,
  port,
  path,
  connections,
  seconds,
}: BareLoad): Promise<number> {
  const request = Buffer.from(
    `GET ${path} HTTP/1.1\r\nHost: ${toAuthority({ host, port })}\r\nConnection: keep-alive\r\n\r\n`,
  );
  const histogram = createHistogram();
  const until = performance.now() + seconds * 1000;
  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect({ host, port, noDelay: true });
      let sentAt = 0;
      let size: number | undefined;
      let received = 0;
      const send = (): void => {
        received = 0;
        sentAt = performance.now();
        socket.write(request);
      };
      socket.once('error', reject);
      socket.once('connect', send);
      socket.on('data', (piece: Buffer) => {
        received += piece.length;
        size ??= sizeOfAnswer(piece);
        if (size === undefined) socket.destroy(new Error('the answer has no content length'));
        if (size === undefined || received < size) return;
        const now = performance.now();
        recordMilliseconds(histogram, now - sentAt);
        if (now < until) {
          send();
        } else {
          socket.destroy();
          resolve();
        }
      });
    });
  await Promise.all(Array.from({ length: connections }, one));
  return histogram.getValueAtPercentile(50);
}

/** Returns the size of head and body together, from a piece with the whole head; undefined without a content length. */
export function sizeOfAnswer(piece: Buffer): number | undefined {
  const head = piece.indexOf('\r\n\r\n') + 4;
  const [, length] = /content-length: *(\d+)/i.exec(piece.toString('latin1', 0, head)) ?? [];
  return head < 4 || length === undefined ? undefined : head + Number(length);
}
