/** A cluster as a run uses it: the hosts that send its load, as one engine, and those of its companions. */
import { commandLine } from 'bench-machine/home';
import type { Cluster as ClusterSpec } from 'bench-model/cluster';
import { BenchError } from 'bench-model/errors';
import { DRIVER_VERSION } from 'bench-model/versions';
import type { MovableNeeds } from 'bench-http/services/companion';
import type { MovableName } from 'bench-http/services/companion';
import type { CompanionHosts, DistantProgram } from 'bench-http/services/movable';
import type { Joining, OpenCluster } from 'bench-http/cluster';
import { createAgent } from './agent.ts';
import { startCompanion, type RemoteCompanion } from './companion.ts';
import { Gateway } from './gateway.ts';
import { checkoutOf, inspectCluster, listOwnAddresses, refuseUnfit, type Inspected } from './inspect.ts';
import { RemoteProcesses } from './process.ts';
import { provideProgram } from './program.ts';
import { RemoteProgram } from './remote-program.ts';
import { ClusterSession, type Agent } from './session.ts';

/** Joins the cluster of a plan, and finds the address of this host in it. Throws a usage error if that is not possible. */
export async function openCluster(spec: ClusterSpec, joining: Joining = {}): Promise<OpenCluster> {
  const gateway = await Gateway.join(await provideProgram(joining.log), spec.address);
  const hosts = new PlacedHosts(gateway, spec, joining);
  const leave = async (): Promise<void> => {
    await hosts[Symbol.asyncDispose]();
    await gateway[Symbol.asyncDispose]();
  };
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
      companions: hosts,
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
  throw new BenchError(
    'usage',
    first === undefined
      ? `no host of the cluster has the role ${roles.server}`
      : `the servers belong on ${first.hostname} (${first.address}), and this is another host`,
    first === undefined
      ? `start one: ${commandLine(`cluster up --role ${roles.server}`)}`
      : 'run this command there',
  );
}

/** The hosts of a cluster that were placed together. */
interface Placed {
  generators: { host: Inspected; processes: RemoteProcesses }[];
  companions: { host: Inspected; program: RemoteProgram }[];
}

/**
 * The hosts of a cluster that take part in a run. They stay from trial to trial. If one of them is lost, all are placed
 * anew. Disposing ends the companions on them.
 */
class PlacedHosts implements CompanionHosts, AsyncDisposable {
  readonly #gateway: Gateway;
  readonly #spec: ClusterSpec;
  readonly #joining: Joining;
  #placed: Placed | undefined;
  readonly #running = new Map<MovableName, RemoteCompanion>();

  constructor(gateway: Gateway, spec: ClusterSpec, joining: Joining) {
    this.#gateway = gateway;
    this.#spec = spec;
    this.#joining = joining;
  }

  /** Returns the agents that send. Throws a trial error if too few hosts are left, or one does not fit. */
  async generators(localPrefix: string[]): Promise<Agent[]> {
    const { generators } = await this.#place();
    return generators.map(({ host, processes }) =>
      createAgent(this.#gateway, host, processes, { spec: this.#spec, localPrefix }),
    );
  }

  async find(name: MovableName, needs: MovableNeeds): Promise<DistantProgram> {
    const { companions } = await this.#place();
    const found = companions.find(({ host }) => host.task === name);
    if (found === undefined) throw new Error(`no host for the ${name}`);
    const running = this.#running.get(name);
    if (running !== undefined && running.lost() === undefined) return running;
    await this.#end(name);
    const { run = '', localPrefix = [], log = () => {} } = this.#joining;
    const started = await startCompanion(found.program, found.host, {
      name,
      needs,
      run,
      prefix: found.host.isHere ? localPrefix : [],
      deadlineSeconds: this.#spec.deadlineSeconds,
      isAlone: !found.host.isHere,
      log,
    });
    this.#running.set(name, started);
    return started;
  }

  async #place(): Promise<Placed> {
    if (this.#placed !== undefined && !hasLosses(this.#placed)) return this.#placed;
    this.#placed = undefined;
    await this[Symbol.asyncDispose]();
    const { companions = [] } = this.#joining;
    const hosts = await inspectCluster(this.#gateway, this.#spec, companions);
    refuseUnfit(hosts);
    const checkout = checkoutOf(this.#spec);
    this.#placed = {
      generators: hosts
        .filter(({ task }) => task === 'generator')
        .map((host) => ({ host, processes: new RemoteProcesses(this.#gateway, host.agent) })),
      companions: hosts
        .filter(({ task }) => companions.some((name) => name === task))
        .map((host) => ({ host, program: new RemoteProgram(this.#gateway, host, checkout) })),
    };
    return this.#placed;
  }

  async #end(name: MovableName): Promise<void> {
    const running = this.#running.get(name);
    this.#running.delete(name);
    await running?.[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#running.keys()].map((name) => this.#end(name)));
  }
}

function hasLosses({ generators, companions }: Placed): boolean {
  const all = [...generators.map(({ processes }) => processes), ...companions.map(({ program }) => program)];
  return all.some(({ lost }) => lost !== undefined);
}
