/** A server of `users` and `users-insert` with a planted fault in every 50th insert. */
import { createServer, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { Pool } from 'pg';

const { values } = parseArgs({
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '8080' },
    fault: { type: 'string', default: 'none' },
  },
});
const EVERY = 50;
const pool = new Pool({ connectionString: process.env['DATABASE_URL'], max: 15 });
let inserts = 0;

interface Row {
  name: string;
  email: string;
}

async function insert({ name, email }: Row): Promise<unknown> {
  const { rows } = await pool.query(
    'insert into users (name, email) values ($1, $2) returning id, name, email',
    [name, email],
  );
  return rows[0];
}

async function answer(request: IncomingMessage): Promise<[status: number, body: unknown]> {
  if (request.method === 'GET') {
    const { rows } = await pool.query('select id, name, email from users order by id');
    return [200, rows];
  }
  const row = (await json(request)) as Row;
  const fault = ++inserts % EVERY === 0 ? values.fault : 'none';
  if (fault === 'forget') return [201, { id: inserts, ...row }];
  const stored = await insert(row);
  if (fault === 'die') process.kill(process.pid, 'SIGKILL');
  if (fault === 'twice') await insert(row);
  return fault === 'refuse' ? [500, { error: 'planted: the row was stored' }] : [201, stored];
}

const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
  void answer(request).then(([status, body]) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
});
server.listen({ host: values.host, port: Number(values.port), backlog: 16_384 });
process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
  void pool.end();
});
