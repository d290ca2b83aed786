import Fastify from 'fastify';
import { BACKLOG, KEEP_ALIVE_MS, loadDevices, serve } from '@bench/contract';

const devices = loadDevices();
const text = { type: 'string' } as const;
const schema = {
  response: {
    200: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          id: { type: 'integer' },
          uuid: text,
          mac: text,
          firmware: text,
          created_at: text,
          updated_at: text,
        },
      },
    },
  },
};

await serve('fastify', async ({ host, port }) => {
  const app = Fastify({ keepAliveTimeout: KEEP_ALIVE_MS, forceCloseConnections: true });
  app.get('/api/devices', { schema }, async () => devices);
  await app.listen({ host, port, backlog: BACKLOG });
  return () => app.close();
});
