import { createServer, type ServerResponse } from 'node:http';
import { listen, loadDevices, serve } from '@bench/contract';
import { openGather } from '@bench/contract/gather';
import { asyncfib, asyncwait, fib, wait, type Worked } from '@bench/contract/work';

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

function sendWorked(response: ServerResponse, { headers, body }: Worked<unknown>): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  send(response, 200, body);
}

async function sendWork(response: ServerResponse, url: string): Promise<void> {
  const [, way, n] = /^\/(fib|asyncfib)\/(\d+)$/.exec(url) ?? [];
  if (url === '/wait') sendWorked(response, wait());
  else if (url === '/asyncwait') sendWorked(response, await asyncwait());
  else if (way === 'fib') sendWorked(response, fib(Number(n)));
  else if (way === 'asyncfib') sendWorked(response, await asyncfib(Number(n)));
  else response.writeHead(404).end();
}

await serve(undefined, (settings) => {
  const server = createServer(({ method, url = '' }, response) => {
    if (method !== 'GET') response.writeHead(404).end();
    else if (url === '/api/devices') send(response, 200, devices);
    else if (url === '/data') void sendGathered(response);
    else void sendWork(response, url);
  });
  return listen(server, settings);
});
