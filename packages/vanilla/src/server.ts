import { createServer, type ServerResponse } from 'node:http';
import { KEEP_ALIVE_MS, listen, loadDevices, serve } from '@bench/contract';
import { openGather } from '@bench/contract/gather';

const devices = loadDevices();
const gather = await openGather();

function send(response: ServerResponse, status: number, value: unknown): void {
  const body = JSON.stringify(value);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

async function sendGathered(response: ServerResponse): Promise<void> {
  const { status, timing, body } = await gather();
  if (timing !== undefined) response.setHeader('server-timing', timing);
  send(response, status, body);
}

await serve(undefined, (settings) => {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, ({ method, url }, response) => {
    if (method === 'GET' && url === '/api/devices') send(response, 200, devices);
    else if (method === 'GET' && url === '/data') void sendGathered(response);
    else response.writeHead(404).end();
  });
  return listen(server, settings);
});
