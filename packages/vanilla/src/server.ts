import { createServer } from 'node:http';
import { BACKLOG, KEEP_ALIVE_MS, loadDevices, serve } from '@bench/contract';

const devices = loadDevices();

await serve(undefined, async ({ host, port }) => {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    if (request.method === 'GET' && request.url === '/api/devices') {
      const body = JSON.stringify(devices);
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      });
      response.end(body);
    } else {
      response.writeHead(404).end();
    }
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen({ host, port, backlog: BACKLOG }, resolve);
  await promise;
  return async () => {
    server.close();
    server.closeAllConnections();
  };
});
