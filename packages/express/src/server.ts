import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import express, { type Application, type Request, type RequestHandler, type Response } from 'express';
import { listen, loadDevices, readSettings, serve, type Settings } from '@bench/contract';
import { openGather } from '@bench/contract/gather';
import { openUsers, type User } from '@bench/contract/users';
import { asyncfib, asyncwait, fib, wait, type Worked } from '@bench/contract/work';

const devices = loadDevices();
const gather = await openGather();
const users = await openUsers();

const { variant = 'v5' } = readSettings();
const isOld = variant.startsWith('v4');
/** The same functions, as far as they are used here. */
const framework = isOld ? (createRequire(import.meta.url)('express4') as typeof express) : express;

/** Makes a handler of an async function. Express 4 knows nothing of promises, so it is given their errors. */
function handle(work: (request: Request, response: Response) => Promise<unknown>): RequestHandler {
  if (!isOld) return work;
  return (request, response, next) => {
    work(request, response).catch(next);
  };
}

function start(settings: Settings): Promise<() => Promise<void>> {
  const app = framework();
  app.get('/api/devices', (_request, response) => response.json(devices));
  app.get(
    '/data',
    handle(async (_request, response) => {
      const { status, timing, body } = await gather();
      if (timing !== undefined) response.set('server-timing', timing);
      response.status(status).json(body);
    }),
  );
  app.get('/fib/:n', (request, response) => send(response, fib(Number(request.params['n']))));
  app.get(
    '/asyncfib/:n',
    handle(async (request, response) => send(response, await asyncfib(Number(request.params['n'])))),
  );
  app.get('/wait', (_request, response) => send(response, wait()));
  app.get(
    '/asyncwait',
    handle(async (_request, response) => send(response, await asyncwait())),
  );
  if (users === undefined) {
    app.all('/users', (_request, response) =>
      response.status(503).json({ error: 'DATABASE_URL is not set' }),
    );
  } else {
    app.get(
      '/users',
      handle(async (_request, response) => response.json(await users.list())),
    );
    app.post(
      '/users',
      framework.json(),
      handle(async (request, response) =>
        response.status(201).json(await users.add(request.body as Omit<User, 'id'>)),
      ),
    );
  }
  const classes = variant.endsWith('-prototypes') ? classesOf(app) : {};
  return listen(createServer(classes, app), settings);
}

function send<T>(response: Response, { headers, body }: Worked<T>): void {
  response.set(headers).json(body);
}

/**
 * Returns classes whose objects have the prototypes that Express gives to each request and answer. It then has nothing to
 * change, because setting the prototype that an object already has is no work.
 */
function classesOf(app: Application & Partial<Record<'request' | 'response', object>>): object {
  class OwnRequest extends IncomingMessage {}
  class OwnResponse extends ServerResponse {}
  Object.setPrototypeOf(OwnRequest.prototype, app.request ?? null);
  Object.setPrototypeOf(OwnResponse.prototype, app.response ?? null);
  Object.assign(app, { request: OwnRequest.prototype, response: OwnResponse.prototype });
  return { IncomingMessage: OwnRequest, ServerResponse: OwnResponse };
}

await serve(isOld ? 'express4' : 'express', start);
