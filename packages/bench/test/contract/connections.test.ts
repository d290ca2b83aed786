import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { start, type Child } from 'bench-machine/subprocess';
import { leastBacklog, openConnection, readSockets } from './connections.ts';

const GET = { method: 'GET', path: '/', headers: {} };

const children: Child[] = [];

afterEach(async () => {
  await Promise.all(
    children.splice(0).map(async (child) => {
      child.kill();
      await once(child, 'exit');
    }),
  );
});

/** A server of node:http, which prints its port, with these options, those of `listen`, and these headers on every response. */
async function serve(
  options: object,
  listen: object,
  headers: object = {},
): Promise<{ host: string; port: number; pid: () => number }> {
  const source = `const server = require('node:http').createServer(${JSON.stringify(options)}, (_request, response) => response.writeHead(200, ${JSON.stringify(headers)}).end('{}'));
    server.listen(${JSON.stringify({ port: 0, host: '127.0.0.1', ...listen })}, () => console.log(server.address().port));`;
  const child = start({ stdio: ['ignore', 'pipe', 'inherit'] })`exec ${[process.execPath, '-e', source]}`;
  children.push(child);
  const [line] = (await once(child.stdout!, 'data')) as [Buffer];
  return { host: '127.0.0.1', port: Number(line), pid: () => child.pid ?? 0 };
}

describe('the sockets of a server', () => {
  it.each([
    [{}, { backlog: 16_384 }, { isLong: true, noDelay: true }],
    [{}, { backlog: 7 }, { isLong: false, noDelay: true }],
    [{ noDelay: false }, { backlog: 16_384 }, { isLong: true, noDelay: false }],
  ])('made with %j and %j are read as %j', async (options, listen, expected) => {
    const server = await serve(options, listen);
    const connection = await openConnection(server, GET);
    const seen = await readSockets(server);
    connection.close();
    // Where the sockets of others are hidden, the contract tests skip what asks for them.
    expect(seen && { isLong: seen.backlog >= leastBacklog(), noDelay: seen.noDelay }).toEqual(
      seen && expected,
    );
  });
});

describe('a connection', () => {
  it('is used again if the server keeps it', async () => {
    const connection = await openConnection(await serve({ keepAliveTimeout: 75_000 }, {}), GET);
    expect(await connection.isReused()).toBe(true);
    connection.close();
  });

  it('is not used again if the server closes it', async () => {
    const connection = await openConnection(await serve({}, {}, { connection: 'close' }), GET);
    expect(await connection.isReused()).toBe(false);
    connection.close();
  });
});
