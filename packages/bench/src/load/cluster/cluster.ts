/** A cluster as a run uses it: its agents, checked before they send, as one engine. */
import { networkInterfaces } from 'node:os';
import { isAbsolute, join, relative } from 'node:path';
import type { Cluster as ClusterSpec } from '../../catalogue/cluster/definition.ts';
import { BenchError } from '../../errors.ts';
import { HOME, programBeside } from '../../home.ts';
import { DRIVER_VERSION } from '../../versions.ts';
import type { FoundEngine } from '../engines.ts';
import type { Line, LineEvents } from '../line.ts';
import type { Report } from '../protocol.ts';
import { ClusterDriver, type AgentEvent, type HostFacts, type PlacedAgent, type RayNode } from './driver.ts';
import { provideProgram } from './program.ts';
import { ClusterSession, type Agent } from './session.ts';

/** A cluster that a run has joined. Disposing leaves it. */
export interface OpenCluster extends AsyncDisposable {
  engine: FoundEngine;
  /** The address that servers listen on. */
  host: string;
}

/** A host that was placed, checked and named. */
export interface CheckedHost {
  name: string;
  role: string;
  node: RayNode;
  facts: HostFacts;
  /** Why it cannot take part; absent if it can. */
  unfit?: string;
}

/** Joins the cluster of a plan, and finds the address of this host in it. Throws a usage error if that is not possible. */
export async function openCluster(spec: ClusterSpec, log?: (doing: string) => void): Promise<OpenCluster> {
  const driver = await ClusterDriver.join(await provideProgram(log), spec.address);
  const crew = new Crew(driver, spec);
  try {
    const host = spec.server ?? (await findOwnAddress(driver, spec));
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
                place: () => crew.place(placed.generator),
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
      [Symbol.asyncDispose]: () => driver[Symbol.asyncDispose](),
    };
  } catch (error) {
    await driver[Symbol.asyncDispose]();
    throw error;
  }
}

/** Returns the address of this host in the cluster. Throws a usage error if servers belong on another host. */
async function findOwnAddress(driver: ClusterDriver, { roles }: ClusterSpec): Promise<string> {
  const nodes = await driver.ask('nodes');
  const servers = nodes.filter(({ alive, resources }) => alive && resources.includes(roles.server));
  const own = servers.find(({ address }) => isOwnAddress(address));
  if (own !== undefined) return own.address;
  const [first] = servers;
  throw new BenchError(
    'usage',
    first === undefined
      ? `no host of the cluster has the role ${roles.server}`
      : `the servers belong on ${first.hostname} (${first.address}), and this is another host`,
    first === undefined ? `start one: pnpm cluster up --role ${roles.server}` : 'run this command there',
  );
}

function isOwnAddress(address: string): boolean {
  return Object.values(networkInterfaces())
    .flat()
    .some((one) => one?.address === address);
}

/** The agents of a cluster. They stay from trial to trial, unless one is lost. */
class Crew {
  readonly #driver: ClusterDriver;
  readonly #spec: ClusterSpec;
  #agents: RemoteAgent[] = [];

  constructor(driver: ClusterDriver, spec: ClusterSpec) {
    this.#driver = driver;
    this.#spec = spec;
  }

  /** Returns the agents that send. Throws a trial error if too few hosts are left, or one does not fit. */
  async place(localPrefix: string[]): Promise<Agent[]> {
    if (this.#agents.length > 0 && this.#agents.every(({ lost }) => lost === undefined)) return this.#agents;
    this.#agents = [];
    const { own, hosts } = await inspectCluster(this.#driver, this.#spec);
    const unfit = hosts.filter((host) => host.unfit !== undefined);
    if (unfit.length > 0)
      throw new BenchError('trial', unfit.map(({ name, unfit: why }) => `${name}: ${why}`).join('; '));
    this.#agents = hosts
      .filter(({ role }) => role === this.#spec.roles.generator)
      .map((host) => new RemoteAgent(this.#driver, host, { spec: this.#spec, own, localPrefix }));
    return this.#agents;
  }
}

/** A host with its agent. */
interface Inspected extends CheckedHost {
  agent: number;
}

/**
 * Places an agent on each host of a plan, the server's too, and returns what they tell, with the facts of this host. Throws
 * a trial error if there are too few hosts.
 */
export async function inspectCluster(
  driver: ClusterDriver,
  spec: ClusterSpec,
): Promise<{ own: HostFacts; hosts: Inspected[] }> {
  const { roles, generators, deadlineSeconds } = spec;
  const wanted = [roles.server, ...Array.from({ length: generators }, () => roles.generator)];
  const placed = await driver.ask('place', { roles: wanted, seconds: deadlineSeconds });
  const nodes = new Map((await driver.ask('nodes')).map((node) => [node.node, node]));
  const own = await driver.ask('describe', describeOrder(HOME.root));
  const order = describeOrder(spec.checkout ?? HOME.root);
  const facts = await Promise.all(placed.map(({ agent }) => driver.ask('describe', { agent, ...order })));
  const names = nameHosts(placed.map(({ node }) => nodes.get(node) as RayNode));
  const hosts = placed.map(({ agent, role, node }: PlacedAgent, index): Inspected => {
    const told = facts[index] as HostFacts;
    const why = whyUnfit(told, own, order.checkout);
    return {
      agent,
      role,
      name: names[index] as string,
      node: nodes.get(node) as RayNode,
      facts: told,
      ...(why === undefined ? {} : { unfit: why }),
    };
  });
  return { own, hosts };
}

/** Asks a host for its checkout, and for the Node of this version: that of the checkout, the same path, or that on PATH. */
function describeOrder(checkout: string): { checkout: string; nodes: string[]; version: string } {
  const own = relative(HOME.root, process.execPath);
  const inside = own.startsWith('..') || isAbsolute(own) ? [] : [join(checkout, own)];
  return { checkout, nodes: [...inside, process.execPath, 'node'], version: process.version };
}

/** Says why a host cannot take part; undefined if it can. */
function whyUnfit({ digest, node }: HostFacts, own: HostFacts, checkout: string): string | undefined {
  if (digest === undefined) return `it has no checkout of this repository in ${checkout}`;
  if (digest !== own.digest)
    return `its checkout ${digest.slice(0, 12)} differs from ${own.digest?.slice(0, 12)} here: check out the same commit`;
  if (node.version !== process.version)
    return `its Node is ${node.version ?? 'missing'}, and this one is ${process.version}`;
  return undefined;
}

function isUnique(names: readonly string[], name: string): boolean {
  return names.filter((one) => one === name).length === 1;
}

/** Names hosts by their host name; if several have the same, with their address, or else with a number. */
export function nameHosts(nodes: readonly Pick<RayNode, 'hostname' | 'address'>[]): string[] {
  const short = nodes.map(({ hostname }) => hostname);
  const long = nodes.map(({ hostname, address }) => `${hostname} (${address})`);
  return nodes.map((_, index) => {
    const [name, withAddress] = [short[index] as string, long[index] as string];
    if (isUnique(short, name)) return name;
    return isUnique(long, withAddress) ? withAddress : `${name} #${index}`;
  });
}

/** The surroundings of an agent. */
interface AgentMeans {
  spec: ClusterSpec;
  own: HostFacts;
  /** The command that pins generators on this machine. */
  localPrefix: string[];
}

const GENERATOR = programBeside(import.meta.url, '../generator');

/** An agent on another host, by the driver. */
class RemoteAgent implements Agent {
  readonly name: string;
  readonly host: Agent['host'];
  readonly pid: number | undefined;
  lost: string | undefined;
  readonly #driver: ClusterDriver;
  readonly #agent: number;
  readonly #facts: HostFacts;
  readonly #means: AgentMeans;
  readonly #lines = new Map<number, LineEvents>();
  #last = 0;

  constructor(driver: ClusterDriver, { agent, name, facts }: Inspected, means: AgentMeans) {
    this.#driver = driver;
    this.#agent = agent;
    this.#facts = facts;
    this.#means = means;
    this.name = name;
    const { cpuModel, cores, release } = facts;
    this.host = { cores, release, ...(cpuModel === undefined ? {} : { cpuModel }) };
    const isHere = facts.machine !== undefined && facts.machine === means.own.machine;
    this.pid = isHere ? facts.pid : undefined;
    driver.watch(agent, (event) => this.#take(event));
  }

  readClock(trips: number): ReturnType<Agent['readClock']> {
    return this.#driver.ask('clock', { agent: this.#agent, trips });
  }

  readUse(): ReturnType<Agent['readUse']> {
    return this.#driver.ask('use', { agent: this.#agent });
  }

  open(events: LineEvents): Line {
    const process = ++this.#last;
    const at = { agent: this.#agent, process };
    this.#lines.set(process, events);
    const started = this.#driver.ask('start', { ...at, argv: this.#command(process), cwd: this.#checkout });
    started.catch((error: Error) => events.broke(error.message));
    return {
      pid: undefined,
      send: (order, notAfterMs) => {
        const line = JSON.stringify(order);
        started
          .then(() => this.#driver.ask('tell', { ...at, line, ...(notAfterMs && { notAfterMs }) }))
          .catch((error: Error) => events.broke(error.message));
      },
      end: async () => {
        this.#lines.delete(process);
        if (this.lost !== undefined) return;
        // An agent that is lost meanwhile takes its processes with it.
        await started.then(() => this.#driver.ask('end', at)).catch(() => {});
      },
    };
  }

  get #checkout(): string {
    return this.#means.spec.checkout ?? HOME.root;
  }

  /** The command of a generator, pinned to a core of its own if its host has one to spare. */
  #command(process: number): string[] {
    const { spec, localPrefix } = this.#means;
    const program = join(this.#checkout, relative(HOME.root, GENERATOR));
    const node = this.#facts.node.path ?? 'node';
    if (this.pid !== undefined) return [...localPrefix, node, program];
    const { cores, taskset } = this.#facts;
    const isSpare = taskset !== undefined && cores > spec.processes;
    const core = 1 + ((process - 1) % spec.processes);
    return [...(isSpare ? [taskset, '-c', String(core)] : []), node, program];
  }

  #take(event: AgentEvent): void {
    if (event.event === 'lost') {
      this.lost = event.why;
      for (const { broke } of this.#lines.values()) broke(`its host was lost: ${event.why}`);
      return;
    }
    const line = this.#lines.get(event.process);
    if (event.event === 'line') line?.report(JSON.parse(event.line) as Report);
    else if (event.event === 'ended') line?.broke(`it ended (${event.status}). ${event.stderr}`);
    else line?.broke(`it got its order to fire ${event.byMs.toFixed(1)} ms too late`);
  }
}
