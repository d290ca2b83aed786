import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { listen, loadDevices, serve, type Settings } from '@bench/contract';
import { openGather } from '@bench/contract/gather';
import { openUsers, type User } from '@bench/contract/users';
import { asyncfib, asyncwait, fib, wait, type Worked } from '@bench/contract/work';
import { Hono, type Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';

const devices = loadDevices();
const gather = await openGather();
const users = await openUsers();

const app = new Hono();
app.get('/api/devices', (c) => c.json(devices));
app.get('/data', async (c) => {
  const { status, timing, body } = await gather();
  if (timing !== undefined) c.header('server-timing', timing);
  return c.json(body as object, status as ContentfulStatusCode);
});
app.get('/fib/:n', (c) => answer(c, fib(Number(c.req.param('n')))));
app.get('/asyncfib/:n', async (c) => answer(c, await asyncfib(Number(c.req.param('n')))));
app.get('/wait', (c) => answer(c, wait()));
app.get('/asyncwait', async (c) => answer(c, await asyncwait()));
if (users === undefined) {
  app.all('/users', (c) => c.json({ error: 'DATABASE_URL is not set' }, 503));
} else {
  app.get('/users', async (c) => c.json(await users.list()));
  app.post('/users', async (c) => c.json(await users.add(await c.req.json<Omit<User, 'id'>>()), 201));
}

function answer<T extends object>(c: Context, { headers, body }: Worked<T>): Response {
  return c.json(body, 200, headers);
}

/** What the servers of Bun and Deno have that is used here. */
interface Runtimes {
  Bun?: { serve(options: object): { stop(now: boolean): Promise<void> } };
  Deno?: { serve(options: object, fetch: unknown): { shutdown(): Promise<void> } };
}
const { Bun, Deno } = globalThis as Runtimes;

function start({ host, port, workers }: Settings): Promise<() => Promise<unknown>> {
  const address = { hostname: host, port, reusePort: workers > 1 };
  if (Bun !== undefined) {
    const server = Bun.serve({ ...address, fetch: app.fetch });
    return Promise.resolve(() => server.stop(true));
  }
  if (Deno !== undefined) {
    const server = Deno.serve({ ...address, onListen() {} }, app.fetch);
    return Promise.resolve(() => server.shutdown());
  }
  return listen(createAdaptorServer({ fetch: app.fetch }) as Server, { host, port });
}

await serve('hono', start, Bun ? 'Bun.serve' : Deno ? 'Deno.serve' : '@hono/node-server');
