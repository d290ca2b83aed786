import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readStacks, targetsOf } from '../../src/catalogue/stacks.ts';
import type { Server } from '../../src/machine/launch.ts';
import { sendRequest } from '../../src/machine/request.ts';
import { until } from '../cli/cli.ts';
import { needs, target } from '../needs.ts';
import { openHost } from './host.ts';
import { ADD, LIST } from './users.ts';

const host = openHost();
const stacks = readStacks();
const offered = stacks
  .flatMap(targetsOf)
  .filter(({ stack, variant }) =>
    stacks.find(({ name }) => name === stack)?.variants[variant]?.workloads.includes('users'),
  );

/** An address without a listener: ordinary users cannot open this port. */
const NOWHERE = 'postgresql://nobody@127.0.0.1:1/none';

/** A database that accepts connections and never answers. */
const held = new Set<Socket>();
const silent = createServer((socket) => held.add(socket.on('error', () => {})));
beforeAll(async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  silent.listen({ host: '127.0.0.1', port: 0 }, resolve);
  await promise;
});
afterAll(() => {
  silent.close();
  for (const socket of held) socket.destroy();
});

/** Waits until the log contains the words: a server may log a failure after its answer. */
const logs = (server: Server, words: RegExp): Promise<true> =>
  until(() => words.test(server.log()), `${words} in the log`);

describe.each(offered)('users by $id', (wanted) => {
  const ready = needs(target(wanted, stacks));

  async function start(env: Record<string, string>): Promise<Server> {
    const { command, stack, env: own } = ready.get();
    const server = await host.start({ command, cwd: stack.root, env: { ...own, ...env } });
    await until(() => server.attestations().length > 0, 'the server');
    return server;
  }

  it('answers 500 and logs the reason if it cannot connect', async () => {
    const server = await start({ DATABASE_URL: NOWHERE });
    for (const request of [LIST, ADD])
      expect(await sendRequest(server, request)).toMatchObject({ status: 500 });
    await logs(server, /refused|connect call failed/i);
  });

  it('answers 500 and logs the reason if its pool times out, and can be stopped', async () => {
    const { port } = silent.address() as AddressInfo;
    const server = await start({
      DATABASE_URL: `postgresql://nobody@127.0.0.1:${port}/none`,
      BENCH_POOL_SIZE: '1',
      BENCH_POOL_OVERFLOW: '0',
      BENCH_POOL_TIMEOUT: '1',
    });
    // The request that holds the connection may never be answered.
    const first = await Promise.any([sendRequest(server, LIST), sendRequest(server, LIST)]);
    expect(first).toMatchObject({ status: 500 });
    await logs(server, /QueuePool limit|timeout|deadline exceeded/);
    expect(await server.stop()).toMatchObject({ trouble: [] });
  });
});
