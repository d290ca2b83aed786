/** An upstream that answers `--sound` requests for fixtures correctly, and then has a fault. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { createServer } = process.getBuiltinModule('node:http');
const { values } = parseArgs({
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '8080' },
    /** The number of requests for fixtures that get a correct answer. */
    sound: { type: 'string', default: '0' },
    /** The fault after that: `fail` (500), `close`, `delay` or `die`. */
    fault: { type: 'string', default: 'fail' },
    'delay-ms': { type: 'string', default: '100' },
  },
});
let [requests, answered] = [0, 0];

const server = createServer({ keepAliveTimeout: 3_600_000 }, ({ url = '', socket }, response) => {
  requests++;
  if (url === '/count') return void response.end(String(requests));
  const send = (): void => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(readFileSync(`.${url}`));
  };
  if (answered++ < Number(values.sound)) return send();
  if (values.fault === 'delay') setTimeout(send, Number(values['delay-ms']));
  else if (values.fault === 'close') socket.destroy();
  else if (values.fault === 'die') process.exit(1);
  else response.writeHead(500).end('planted');
});
server.listen({ host: values.host, port: Number(values.port), backlog: 16_384 });
process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
