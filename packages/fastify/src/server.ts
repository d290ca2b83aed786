import Fastify, { type FastifyReply } from 'fastify';
import { BACKLOG, KEEP_ALIVE_MS, loadDevices, serve, type Settings } from '@bench/contract';
import { openGather } from '@bench/contract/gather';
import { openUsers, type User } from '@bench/contract/users';
import { asyncfib, asyncwait, fib, wait, type Worked } from '@bench/contract/work';

const devices = loadDevices();
const gather = await openGather();
const users = await openUsers();

const text = { type: 'string' } as const;
const number = { type: 'number' } as const;
const integer = { type: 'integer' } as const;

/** The schema of an answer with status 200. */
function answers(schema: object): object {
  return { response: { 200: schema } };
}

function objectOf(properties: object): object {
  return { type: 'object', properties };
}

function listOf(properties: object): object {
  return answers({ type: 'array', items: objectOf(properties) });
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
  position: objectOf({ latitude: number, longitude: number }),
  tags: { type: 'array', items: text },
  created_at: text,
});
const user = { name: text, email: text };
const storedUser = { id: integer, ...user };
const userList = listOf(storedUser);
const userAdded = {
  body: { type: 'object', properties: user, required: Object.keys(user) },
  response: { 201: { type: 'object', properties: storedUser } },
};

const oneFib = answers(objectOf({ fib: integer }));
const oneWait = answers(objectOf({ duration: number }));

interface Computed {
  Params: { n: number };
}
const params = objectOf({ n: integer });

function toBody<T>(reply: FastifyReply, { headers, body }: Worked<T>): T {
  reply.headers(headers);
  return body;
}

async function start({ host, port }: Settings): Promise<() => Promise<unknown>> {
  const app = Fastify({ keepAliveTimeout: KEEP_ALIVE_MS, forceCloseConnections: true });
  app.get('/api/devices', { schema: deviceList }, async () => devices);
  app.get('/data', { schema: itemList }, async (_request, reply) => {
    const { status, timing, body } = await gather();
    if (timing !== undefined) reply.header('server-timing', timing);
    reply.code(status);
    return body;
  });
  app.get<Computed>('/fib/:n', { schema: { params, ...oneFib } }, async (request, reply) =>
    toBody(reply, fib(request.params.n)),
  );
  app.get<Computed>('/asyncfib/:n', { schema: { params, ...oneFib } }, async (request, reply) =>
    toBody(reply, await asyncfib(request.params.n)),
  );
  app.get('/wait', { schema: oneWait }, async (_request, reply) => toBody(reply, wait()));
  app.get('/asyncwait', { schema: oneWait }, async (_request, reply) => toBody(reply, await asyncwait()));
  if (users === undefined) {
    app.all('/users', async (_request, reply) => reply.code(503).send({ error: 'DATABASE_URL is not set' }));
  } else {
    app.get('/users', { schema: userList }, async () => users.list());
    app.post<{ Body: Omit<User, 'id'> }>('/users', { schema: userAdded }, async ({ body }, reply) => {
      reply.code(201);
      return users.add(body);
    });
  }
  await app.listen({ host, port, backlog: BACKLOG });
  return () => app.close();
}

await serve('fastify', start);
