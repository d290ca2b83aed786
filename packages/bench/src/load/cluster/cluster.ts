/** A cluster as a run uses it: its agents, checked before they send, as one engine. */
import { networkInterfaces } from 'node:os';
import { isAbsolute, join, relative } from 'node:path';
import type { Cluster as ClusterSpec, Spread } from '../../catalogue/cluster/definition.ts';
import { BenchError } from '../../errors.ts';
import { HOME, programBeside } from '../../home.ts';
import { DRIVER_VERSION } from '../../versions.ts';
import type { FoundEngine } from '../engines.ts';
import type { Line, LineEvents } from '../line.ts';
import type { Report } from '../protocol.ts';
import { ClusterDriver, type HostFacts, type PlacedAgent, type RayNode } from './driver.ts';
import { RemoteProcesses } from './process.ts';
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
    refuseUnfit(hosts);
    this.#agents = hosts
      .filter(({ role }) => role === this.#spec.roles.generator)
      .map((host) => new RemoteAgent(this.#driver, host, { spec: this.#spec, own, localPrefix }));
    return this.#agents;
  }
}

/** A host with its agent. */
export interface Inspected extends CheckedHost {
  agent: number;
}

/** The roles of the hosts of a file, one for each host. */
export function rolesOf(spec: ClusterSpec | Spread): string[] {
  if ('role' in spec) return Array.from({ length: spec.hosts }, () => spec.role);
  const { roles, generators } = spec;
  return [roles.server, ...Array.from({ length: generators }, () => roles.generator)];
}

/** The folder of this repository on the hosts of a file. */
export function checkoutOf({ checkout = HOME.root }: ClusterSpec | Spread): string {
  return checkout;
}

/**
 * Places an agent on each host of a file, the server's too, and returns what they tell, with the facts of this host. Throws
 * a trial error if there are too few hosts.
 */
export async function inspectCluster(
  driver: ClusterDriver,
  spec: ClusterSpec | Spread,
): Promise<{ own: HostFacts; hosts: Inspected[] }> {
  const placed = await driver.ask('place', { roles: rolesOf(spec), seconds: spec.deadlineSeconds });
  const nodes = new Map((await driver.ask('nodes')).map((node) => [node.node, node]));
  const own = await driver.ask('describe', describeOrder(HOME.root));
  const order = describeOrder(checkoutOf(spec));
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

/** Throws a trial error that names the hosts that cannot take part. */
export function refuseUnfit(hosts: readonly CheckedHost[]): void {
  const unfit = hosts.filter((host) => host.unfit !== undefined);
  if (unfit.length > 0)
    throw new BenchError('trial', unfit.map(({ name, unfit: why }) => `${name}: ${why}`).join('; '));
}

/** Asks a host for its checkout, and for the Node of this version: that of the checkout, the same path, or that on PATH. */
function describeOrder(checkout: string): { checkout: string; nodes: string[]; version: string } {
  const own = relative(HOME.root, process.execPath);
  const inside = own.startsWith('..') || isAbsolute(own) ? [] : [join(checkout, own)];
  return { checkout, nodes: [...inside, process.execPath, 'node'], version: process.version };
}

/** Says why a host cannot take part; undefined if it can. */
function whyUnfit(
  { digest, node, niceness }: HostFacts,
  own: HostFacts,
  checkout: string,
): string | undefined {
  if (digest === undefined) return `it has no checkout of this repository in ${checkout}`;
  if (digest !== own.digest)
    return `its checkout ${digest.slice(0, 12)} differs from ${own.digest?.slice(0, 12)} here: check out the same commit`;
  if (node.version !== process.version)
    return `its Node is ${node.version ?? 'missing'}, and this one is ${process.version}`;
  if (niceness > own.niceness)
    return `its processes have a niceness of ${niceness}, and those here ${own.niceness}: start Ray with RAY_worker_niceness=0`;
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
  readonly #driver: ClusterDriver;
  readonly #agent: number;
  readonly #facts: HostFacts;
  readonly #means: AgentMeans;
  readonly #processes: RemoteProcesses;

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
    this.#processes = new RemoteProcesses(driver, agent);
  }

  get lost(): string | undefined {
    return this.#processes.lost;
  }

  readClock(trips: number): ReturnType<Agent['readClock']> {
    return this.#driver.ask('clock', { agent: this.#agent, trips });
  }

  readUse(): ReturnType<Agent['readUse']> {
    return this.#driver.ask('use', { agent: this.#agent });
  }

  open({ report, broke }: LineEvents): Line {
    const started = this.#processes.start<Report>(
      (process) => this.#command(process),
      checkoutOf(this.#means.spec),
      { take: report, broke },
    );
    return { ...started, pid: undefined };
  }

  /** The command of a generator, pinned to a core of its own if its host has one to spare. */
  #command(process: number): string[] {
    const { spec, localPrefix } = this.#means;
    const program = join(checkoutOf(spec), relative(HOME.root, GENERATOR));
    const node = this.#facts.node.path ?? 'node';
    if (this.pid !== undefined) return [...localPrefix, node, program];
    const { cores, taskset } = this.#facts;
    const isSpare = taskset !== undefined && cores > spec.processes;
    const core = 1 + ((process - 1) % spec.processes);
    return [...(isSpare ? [taskset, '-c', String(core)] : []), node, program];
  }
}
