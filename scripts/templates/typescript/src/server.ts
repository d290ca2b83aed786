import { createServer } from 'node:http';
import { listen, loadDevices, serve } from '@bench/contract';

const devices = loadDevices();

// A framework is named here instead of undefined: its version is attested.
await serve(undefined, (settings) => {
  const server = createServer(({ method, url }, response) => {
    if (method !== 'GET' || url !== '/api/devices') {
      response.writeHead(404).end();
      return;
    }
    const body = JSON.stringify(devices);
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    });
    response.end(body);
  });
  return listen(server, settings);
});
