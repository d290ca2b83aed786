/**
 * Sends its answers as its options say: in pieces, the head apart from the body without TCP_NODELAY, or one for each
 * connection.
 */
import { createServer } from 'node:net';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '8080' },
    pieces: { type: 'string', default: '1' },
    apart: { type: 'boolean', default: false },
    close: { type: 'boolean', default: false },
  },
});
const body = JSON.stringify({ message: 'hello '.repeat(200) });
const count = Number(values.pieces);
const cutAt = (index) => Math.floor((index * body.length) / count);
const pieces = Array.from({ length: count }, (_, index) => body.slice(cutAt(index), cutAt(index + 1)));
const connection = values.close ? 'connection: close\r\n' : '';
const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${connection}content-length: ${body.length}\r\n\r\n`;

const server = createServer({ noDelay: !values.apart }, (socket) => {
  let text = '';
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
      text = text.slice(end + 4);
      answer(socket);
    }
  });
});
server.listen({ host: values.host, port: Number(values.port), backlog: 4096 });
process.once('SIGTERM', () => process.exit());

function answer(socket) {
  const [first, ...others] = values.apart ? [head, ...pieces] : [head + pieces[0], ...pieces.slice(1)];
  socket.write(first);
  for (const piece of others) socket.write(piece);
  if (values.close) socket.end();
}
