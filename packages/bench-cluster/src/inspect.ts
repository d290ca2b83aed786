/** The hosts of a cluster: placed by their roles, asked for their facts, and checked. */
import { isAbsolute, join, relative } from 'node:path';
import type { Cluster as ClusterSpec, Spread } from 'bench-model/cluster';
import { TrialError } from 'bench-model/errors';
import { HOME } from 'bench-machine/home';
import type { Gateway, HostFacts, RayNode } from './gateway.ts';

/** The task of a host. */
type HostTask = 'server' | 'generator';

/** A host that was placed, checked and named. */
export interface CheckedHost {
  name: string;
  agent: number;
  task: HostTask;
  /** The resource that it offers for its task. */
  role: string;
  /** True if its processes are also processes of this machine. */
  isHere: boolean;
  node: RayNode;
  facts: HostFacts;
  /** The reason why it cannot take part; absent if it can. */
  unfit?: string;
}

/** The tasks of the hosts of a file with their roles, one for each host. */
function listTasks(spec: ClusterSpec | Spread): Pick<CheckedHost, 'task' | 'role'>[] {
  if ('role' in spec) return Array.from({ length: spec.hosts }, () => ({ task: 'server', role: spec.role }));
  const { roles, generators } = spec;
  const tasks: HostTask[] = ['server', ...Array.from({ length: generators }, () => 'generator' as const)];
  return tasks.map((task) => ({ task, role: roles[task] }));
}

/**
 * Places an agent on each host of a file, the server's too, and returns the hosts with their facts.
 * Throws a trial error if there are too few hosts.
 */
export async function inspectCluster(gateway: Gateway, spec: ClusterSpec | Spread): Promise<CheckedHost[]> {
  const tasks = listTasks(spec);
  const roles = tasks.map(({ role }) => role);
  const placed = await gateway.ask('place', { roles, seconds: spec.deadlineSeconds });
  const nodes = new Map((await gateway.ask('nodes')).map((node) => [node.node, node]));
  const own = await gateway.ask('describe', describeOrder(HOME.root));
  const order = describeOrder(spec.checkout ?? HOME.root);
  const facts = await Promise.all(placed.map(({ agent }) => gateway.ask('describe', { agent, ...order })));
  const names = nameHosts(placed.map(({ node }) => nodes.get(node) as RayNode));
  return placed.map(({ agent, node }, index): CheckedHost => {
    const told = facts[index] as HostFacts;
    const why = whyUnfit(told, own, order.checkout);
    return {
      agent,
      ...(tasks[index] as Pick<CheckedHost, 'task' | 'role'>),
      name: names[index] as string,
      isHere: told.machine !== undefined && told.machine === own.machine,
      node: nodes.get(node) as RayNode,
      facts: told,
      ...(why === undefined ? {} : { unfit: why }),
    };
  });
}

/** Throws a trial error that names the hosts that cannot take part. */
export function refuseUnfit(hosts: readonly CheckedHost[]): void {
  const unfit = hosts.filter((host) => host.unfit !== undefined);
  if (unfit.length > 0)
    throw new TrialError(unfit.map(({ name, unfit: why }) => `${name}: ${why}`).join('; '));
}

/** Asks a host for its checkout, and for the Node of this version: that of the checkout, the same path, or that on PATH. */
function describeOrder(checkout: string): { checkout: string; nodes: string[]; version: string } {
  const own = relative(HOME.root, process.execPath);
  const inside = own.startsWith('..') || isAbsolute(own) ? [] : [join(checkout, own)];
  return { checkout, nodes: [...inside, process.execPath, 'node'], version: process.version };
}

/** Returns the reason why a host cannot take part; undefined if it can. */
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
