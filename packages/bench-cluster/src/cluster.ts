/** A cluster as a run uses it: the hosts that send its load, as one engine. */
import { AsyncDisposableStack } from '@whatwg-node/disposablestack';
import { commandLine } from 'bench-machine/home';
import { listOwnAddresses } from 'bench-machine/ports';
import type { Cluster as ClusterSpec } from 'bench-model/cluster';
import { UsageError } from 'bench-model/errors';
import { DRIVER_VERSION } from 'bench-model/versions';
import type { OpenCluster } from 'bench-http/cluster';
import { createAgent, type RemoteAgent } from './agent.ts';
import { Gateway } from './gateway.ts';
import { inspectCluster, refuseUnfit } from './inspect.ts';
import { provideProgram } from './program.ts';
import { ClusterSession } from './session.ts';

/** Joins the cluster of a plan, and finds the address of this host in it. Throws a usage error if that is not possible. */
export async function openCluster(spec: ClusterSpec, log?: (line: string) => void): Promise<OpenCluster> {
  await using opened = new AsyncDisposableStack();
  const gateway = opened.use(await Gateway.join(await provideProgram(log), spec.address));
  const place = placeHosts(gateway, spec);
  const host = spec.server ?? (await findOwnAddress(gateway, spec));
  opened.move();
  const driver = { name: 'autocannon', version: DRIVER_VERSION };
  return {
    host,
    engine: {
      ...driver,
      create: ({ placed }) => ({
        ...driver,
        open: (load) => new ClusterSession({ ...spec, place: () => place(placed.generator) }, load),
      }),
    },
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  };
}

/** Returns the address of this host in the cluster. Throws a usage error if servers belong on another host. */
async function findOwnAddress(gateway: Gateway, { roles }: ClusterSpec): Promise<string> {
  const nodes = await gateway.ask('nodes');
  const servers = nodes.filter(({ alive, resources }) => alive && resources.includes(roles.server));
  const own = servers.find(({ address }) => listOwnAddresses().includes(address));
  if (own !== undefined) return own.address;
  const [first] = servers;
  throw new UsageError(
    first === undefined
      ? `no host of the cluster has the role ${roles.server}`
      : `the servers belong on ${first.hostname} (${first.address}), and this is another host`,
    first === undefined
      ? `start one: ${commandLine(`cluster up --role ${roles.server}`)}`
      : 'run this command there',
  );
}

/**
 * Returns a function that places the agents of the hosts that send the load. They stay from trial to trial; if one of them is lost,
 * all are placed anew. The function throws a trial error if too few hosts are left, or one does not fit.
 */
function placeHosts(gateway: Gateway, spec: ClusterSpec): (localPrefix: string[]) => Promise<RemoteAgent[]> {
  let placed: RemoteAgent[] = [];
  return async (localPrefix) => {
    if (placed.length > 0 && !placed.some((agent) => agent.isLost())) return placed;
    placed = [];
    const hosts = await inspectCluster(gateway, spec);
    refuseUnfit(hosts);
    placed = hosts
      .filter(({ task }) => task === 'generator')
      .map((host) => createAgent(gateway, host, { spec, localPrefix }));
    return placed;
  };
}
