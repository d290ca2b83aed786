import Fastify from 'fastify';
import { BACKLOG, KEEP_ALIVE_MS, loadDevices, serve } from '@bench/contract';
import { openGather } from '@bench/contract/gather';

const devices = loadDevices();
const gather = await openGather();

const text = { type: 'string' } as const;
const number = { type: 'number' } as const;
const integer = { type: 'integer' } as const;

/** The schema of a list of such objects as the answer with status 200. */
function listOf(properties: object): object {
  return { response: { 200: { type: 'array', items: { type: 'object', properties } } } };
}

const deviceList = listOf({
  id: integer,
  uuid: text,
  mac: text,
  firmware: text,
  created_at: text,
  updated_at: text,
});
const itemList = listOf({
  id: integer,
  uuid: text,
  name: text,
  active: { type: 'boolean' },
  reading: number,
  position: { type: 'object', properties: { latitude: number, longitude: number } },
  tags: { type: 'array', items: text },
  created_at: text,
});

await serve('fastify', async ({ host, port }) => {
  const app = Fastify({ keepAliveTimeout: KEEP_ALIVE_MS, forceCloseConnections: true });
  app.get('/api/devices', { schema: deviceList }, async () => devices);
  app.get('/data', { schema: itemList }, async (_request, reply) => {
    const { status, timing, body } = await gather();
    if (timing !== undefined) reply.header('server-timing', timing);
    reply.code(status);
    return body;
  });
  await app.listen({ host, port, backlog: BACKLOG });
  return () => app.close();
});
