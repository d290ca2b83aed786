/**
 * The least work that a client on Node's sockets can do: it counts bytes until an answer of known length is complete, and
 * sends the next request. It has no parser, no clock and no account. `node rival-plain.ts URL CONNECTIONS` works as
 * `rival-stock.ts` does. All answers must have the length of the first, which needs a `Content-Length`.
 */
import { connect } from 'node:net';
import { sizeOfAnswer } from './bare.ts';
import { tellWork } from './marks.ts';

/** Fewer connections start at a time than the shortest usual accept queue holds. */
const MOST_CONNECTING = 64;

const [url = '', words = '10'] = process.argv.slice(2);
const { hostname: host, port, host: authority, pathname, search } = new URL(url);
const connections = Number(words);
const request = Buffer.from(
  `GET ${pathname}${search} HTTP/1.1\r\nHost: ${authority}\r\nConnection: keep-alive\r\n\r\n`,
);
const buffer = Buffer.allocUnsafeSlow(65_536);
let size: number | undefined;
let begun = 0;
let standing = 0;
let completed = 0;

const tell = tellWork(() => completed);

function open(): void {
  if (begun === connections) return;
  begun++;
  let isNew = true;
  let received = 0;
  const take = (length: number): boolean => {
    received += length;
    size ??= sizeOfAnswer(buffer.subarray(0, length));
    if (size === undefined) throw new Error('the answer has no content length');
    if (received < size) return true;
    received = 0;
    completed++;
    socket.write(request);
    if (!isNew) return true;
    isNew = false;
    standing++;
    open();
    if (standing === connections) tell();
    return true;
  };
  const socket = connect({ host, port: Number(port), onread: { buffer, callback: take } });
  socket.once('connect', () => socket.write(request));
}

for (let index = 0; index < MOST_CONNECTING; index++) open();
