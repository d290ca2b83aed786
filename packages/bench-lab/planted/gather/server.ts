/** A server of `gather` that fetches each fixture `--asks` times for every answer; with 0, only once in its life. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '8080' },
    asks: { type: 'string', default: '1' },
  },
});
const asks = Number(values.asks);
const paths = JSON.parse(readFileSync(process.env['BENCH_FIXTURES'] ?? '', 'utf8')) as string[];

async function fetchAll(): Promise<unknown[]> {
  const lists = await Promise.all(
    paths.map(async (path) => (await fetch(`${process.env['BENCH_UPSTREAM']}${path}`)).json()),
  );
  return lists.flat();
}

let kept: Promise<unknown[]> | undefined;

async function gather(): Promise<unknown[]> {
  kept ??= fetchAll();
  if (asks === 0) return kept;
  const all = await Promise.all(Array.from({ length: asks }, fetchAll));
  return all[0] ?? [];
}

const server = createServer({ keepAliveTimeout: 75_000 }, (_request, response) => {
  const started = performance.now();
  void gather().then((items) => {
    const took = (performance.now() - started).toFixed(3);
    response.writeHead(200, { 'content-type': 'application/json', 'server-timing': `gather;dur=${took}` });
    response.end(JSON.stringify(items));
  });
});
server.listen({ host: values.host, port: Number(values.port), backlog: 16_384 });
process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
