/** A cluster as a run uses it: the hosts that send its load, as one engine. */
import { commandLine } from 'bench-machine/home';
import type { Cluster as ClusterSpec } from 'bench-model/cluster';
import { UsageError } from 'bench-model/errors';
import { DRIVER_VERSION } from 'bench-model/versions';
import type { OpenCluster } from 'bench-http/cluster';
import { createAgent } from './agent.ts';
import { Gateway } from './gateway.ts';
import { inspectCluster, listOwnAddresses, refuseUnfit, type Inspected } from './inspect.ts';
import { RemoteProcesses } from './process.ts';
import { provideProgram } from './program.ts';
import { ClusterSession, type Agent } from './session.ts';

/** Joins the cluster of a plan, and finds the address of this host in it. Throws a usage error if that is not possible. */
export async function openCluster(spec: ClusterSpec, log?: (line: string) => void): Promise<OpenCluster> {
  const gateway = await Gateway.join(await provideProgram(log), spec.address);
  const hosts = new PlacedHosts(gateway, spec);
  const leave = (): Promise<void> => gateway[Symbol.asyncDispose]();
  try {
    const host = spec.server ?? (await findOwnAddress(gateway, spec));
    return {
      host,
      engine: {
        name: 'autocannon',
        version: DRIVER_VERSION,
        create: ({ placed }) => ({
          name: 'autocannon',
          version: DRIVER_VERSION,
          open: (load) =>
            new ClusterSession(
              {
                place: () => hosts.generators(placed.generator),
                processes: spec.processes,
                leadMs: spec.leadMs,
                allowedSkewMs: spec.skewMs,
                deadlineSeconds: spec.deadlineSeconds,
                engine: 'autocannon',
                addresses: spec.addresses,
              },
              load,
            ),
        }),
      },
      [Symbol.asyncDispose]: leave,
    };
  } catch (error) {
    await leave();
    throw error;
  }
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

/** A host that sends load, and the processes on it. */
interface PlacedHost {
  host: Inspected;
  processes: RemoteProcesses;
}

/** The hosts of a cluster that send the load. They stay from trial to trial. If one of them is lost, all are placed anew. */
class PlacedHosts {
  readonly #gateway: Gateway;
  readonly #spec: ClusterSpec;
  #placed: PlacedHost[] | undefined;

  constructor(gateway: Gateway, spec: ClusterSpec) {
    this.#gateway = gateway;
    this.#spec = spec;
  }

  /** Returns the agents that send. Throws a trial error if too few hosts are left, or one does not fit. */
  async generators(localPrefix: string[]): Promise<Agent[]> {
    return (await this.#place()).map(({ host, processes }) =>
      createAgent(this.#gateway, host, processes, { spec: this.#spec, localPrefix }),
    );
  }

  async #place(): Promise<PlacedHost[]> {
    if (this.#placed !== undefined && this.#placed.every(({ processes }) => processes.lost === undefined))
      return this.#placed;
    this.#placed = undefined;
    const hosts = await inspectCluster(this.#gateway, this.#spec);
    refuseUnfit(hosts);
    this.#placed = hosts
      .filter(({ task }) => task === 'generator')
      .map((host) => ({ host, processes: new RemoteProcesses(this.#gateway, host.agent) }));
    return this.#placed;
  }
}
