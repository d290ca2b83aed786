import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readStacks, targetsOf } from 'bench-targets/catalogue/stacks';
import type { Server } from 'bench-machine/launch';
import { sendRequest } from 'bench-targets/catalogue/workloads/send';
import { until } from '../cli/cli.ts';
import { needs, target } from '../../../bench-lab/testing/needs.ts';
import { openHost } from './host.ts';
import { ADD, LIST } from './users.ts';

const host = openHost();
const stacks = readStacks();
const offered = stacks
  .flatMap(targetsOf)
  .filter(({ stack, variant }) =>
    stacks.find(({ name }) => name === stack)?.variants[variant]?.workloads.includes('users'),
  );

/** The port of the database, which refuses connections unless a test listens there. */
let port: number;
/** An open connection from the port: no other process can listen there meanwhile. */
let holder: Socket;
beforeAll(async () => {
  const first = createServer();
  const accepted = once(first, 'connection');
  first.listen({ host: '127.0.0.1', port: 0 });
  await once(first, 'listening');
  ({ port } = first.address() as AddressInfo);
  holder = connect(port, '127.0.0.1');
  await accepted;
  first.close();
});
afterAll(() => void holder.destroy());

/** Opens a database that accepts connections and never answers. */
async function openSilent(): Promise<AsyncDisposable> {
  const held = new Set<Socket>();
  const silent = createServer((socket) => held.add(socket.on('error', () => {})));
  silent.listen({ host: '127.0.0.1', port });
  await once(silent, 'listening');
  return {
    async [Symbol.asyncDispose]() {
      silent.close();
      for (const socket of held) socket.destroy();
      await once(silent, 'close');
    },
  };
}

describe.each(offered)('users by $id', (wanted) => {
  const ready = needs(target(wanted, stacks));
  let server: Server;

  beforeAll(async () => {
    if (ready.why !== undefined) return;
    const { command, stack, env } = ready.get();
    const database = {
      DATABASE_URL: `postgresql://nobody@127.0.0.1:${port}/none`,
      BENCH_POOL_SIZE: '1',
      BENCH_POOL_OVERFLOW: '0',
      BENCH_POOL_TIMEOUT: '1',
    };
    server = await host.start({ command, cwd: stack.root, env: { ...env, ...database } });
    await until(() => server.attestations().length > 0, 'the server');
  });

  it('answers 500 and logs the reason if it cannot connect', async () => {
    for (const request of [LIST, ADD])
      expect(await sendRequest(server, request)).toMatchObject({ status: 500 });
    // A server may log a failure after its response.
    await until(() => /refused|connect call failed/i.test(server.log()), 'the reason in the log');
  });

  it('answers 500 and logs the reason if its pool times out, and can be stopped', async () => {
    await using _ = await openSilent();
    const logged = server.log().length;
    // The request that holds the connection may never be answered.
    const first = await Promise.any([sendRequest(server, LIST), sendRequest(server, LIST)]);
    expect(first).toMatchObject({ status: 500 });
    const words = /QueuePool limit|timeout|deadline exceeded/;
    await until(() => words.test(server.log().slice(logged)), 'the reason in the log');
    expect(await server.stop()).toMatchObject({ trouble: [] });
  });
});
