import { present } from 'bench-model/options';
import { defineCommand, option } from 'bench-http/cli/command';
import { text, wholeNumber } from 'bench-http/cli/values';
import { dirname, join, relative } from 'node:path';
import { mkdirSync, writeFileSync } from 'node:fs';
import type { Cluster } from 'bench-model/cluster';
import { readCluster } from 'bench-targets/catalogue/cluster';
import { UsageError } from 'bench-model/errors';
import { commandLine, HOME } from 'bench-machine/home';
import { estimateOffset, type Offset } from '../clock.ts';
import { inspectCluster, type CheckedHost } from '../inspect.ts';
import { findUnequal } from '../hosts.ts';
import { Gateway } from '../gateway.ts';
import { listNodes, startNodes, stopNodes } from '../nodes.ts';
import { provideProgram, provideToken } from '../program.ts';
import { renderRows } from 'bench-report/terminal';
import { SPARE_FILES } from 'bench-machine/facts';
import { logLine, print, widthFor } from 'bench-http/terminal/shell';

/** A parsed `pnpm cluster` command. */
type ClusterRequest =
  | { action: 'check'; file: string }
  | { action: 'down' }
  | { action: 'up'; local: number }
  | { action: 'up'; role: string; join?: string; ip?: string };

const CLUSTER_EXAMPLE = commandLine('cluster up --local 4');

export default defineCommand({
  name: 'cluster',
  about: 'Starts, checks and stops the nodes of a Ray cluster for --cluster. Installs Ray on first use.',
  arguments: {
    terms: '<action>',
    noun: 'action',
    help: 'up: start nodes on this machine; check: list the hosts, and say whether they can take part; down: stop the nodes that up started',
    example: CLUSTER_EXAMPLE,
  },
  options: {
    local: option('<n>', wholeNumber(2), {
      help: 'start n nodes on this machine, to try a cluster: one for the server, the others for the load',
      conflicts: { role: 'omit one of them' },
    }),
    role: option('<name>', text, {
      help: 'start one node with this role: server, generator, or their names in "roles" of the file',
    }),
    join: option('<address>', text, {
      help: 'the head of the cluster, e.g. 10.0.0.1:6379',
      usually: 'this node becomes the head',
      needs: 'role',
    }),
    ip: option('<address>', text, {
      help: 'the address of this host that the others reach',
      usually: 'the one that Ray finds',
      needs: 'role',
    }),
    cluster: option('<file>', text, { help: 'the file to check', default: 'bench.cluster.json' }),
  },
  notes: 'Exit codes: 0 done, 1 check found a problem, 2 bad usage, 3 a toolchain is\nmissing.',
  read({ local, role, join: head, ip, cluster, args: [action = ''] }): ClusterRequest {
    if (action === 'check') return { action, file: cluster };
    if (action === 'down') return { action };
    if (action === 'up' && local !== undefined) return { action, local };
    if (action === 'up' && role !== undefined) return { action, role, ...present({ join: head, ip }) };
    throw new UsageError(
      action === 'up'
        ? 'up needs --local or --role'
        : `${commandLine('cluster')} takes up, check or down, not "${action}"`,
      CLUSTER_EXAMPLE,
    );
  },
  async run(request) {
    if (request.action === 'check') return check(request.file);
    if (request.action === 'down') {
      const count = await stopNodes();
      logLine(count === 0 ? 'nothing runs' : 'stopped');
      return 0;
    }
    return up(request);
  },
});

/** Starts nodes, and prints the next steps. */
async function up(request: Extract<ClusterRequest, { action: 'up' }>): Promise<number> {
  const [running] = listNodes();
  if (running !== undefined)
    throw new UsageError(`a cluster runs already: ${running.words.join(' ')}`, commandLine('cluster down'));
  const token = provideToken();
  const program = await provideProgram(logLine);
  const words =
    'local' in request
      ? ['local', String(request.local)]
      : [
          'node',
          request.role,
          ...(request.join === undefined ? [] : ['--join', request.join]),
          ...(request.ip === undefined ? [] : ['--ip', request.ip]),
        ];
  const address = await startNodes(program, words);
  if ('local' in request && address !== undefined) {
    const file = join(HOME.cache, 'cluster', 'bench.cluster.json');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${JSON.stringify({ address, generators: request.local - 1 }, undefined, 2)}\n`);
    const shown = relative(process.cwd(), file);
    print(`${request.local} nodes run at ${address}\n`);
    print(`try it: ${commandLine(`bench vanilla --cluster ${shown}`)}\n`);
  } else if ('role' in request && request.join === undefined) {
    print('the head of a cluster runs on port 6379\n');
    print(`copy ${relative(process.cwd(), token)} to the same place on every host, then start there:\n`);
    print(`  ${commandLine('cluster up --join <address of this host>:6379 --role generator')}\n`);
  } else print('the node runs\n');
  print(`to stop: ${commandLine('cluster down')}\n`);
  return 0;
}

/** The round trips of which the shortest gives the offset. */
const TRIPS = 32;

/** Shows the hosts of a file, their problems and the remedies. */
async function check(file: string): Promise<number> {
  const { connections = [], ...read } = readCluster(file);
  const spec = 'spread' in read ? read.spread : read.cluster;
  const roles: [string, string][] =
    'role' in spec ? [['server', spec.role]] : Object.entries<string>(spec.roles);
  await using gateway = await Gateway.join(await provideProgram(logLine), spec.address);
  const nodes = await gateway.ask('nodes');
  for (const { hostname, address, resources, alive } of nodes) {
    const own = roles.filter(([, role]) => resources.includes(role)).map((role) => describeRole(...role));
    print(`${hostname} ${address}: ${alive ? own.join(', ') || 'no role' : 'gone'}\n`);
  }
  const seen = await observe(gateway, await inspectCluster(gateway, spec));
  const hosts = seen.map(({ host }) => host);
  const remedy = 'give the role to equal hosts only';
  const problems =
    'role' in spec
      ? [...hosts.flatMap(refuseHost), ...findUnequal(hosts).map((what) => ({ what, advice: remedy }))]
      : seen.flatMap(({ host, offset }) => findProblems(host, offset, spec, Math.max(0, ...connections)));
  const rows = seen.map(({ host, offset }) => rowOf(host, offset));
  print(`\n${renderRows(HEAD, rows, WORDS, widthFor())}\n\n`);
  for (const { what, advice } of problems) print(`stop  ${what}\n      ${advice}\n`);
  if (problems.length === 0) print('ok    every host can take part\n');
  return problems.length === 0 ? 0 : 1;
}

function describeRole(task: string, role: string): string {
  return task === role ? role : `${task} (${role})`;
}

/** A host and its clock. */
interface Observed {
  host: CheckedHost;
  offset: Offset;
}

function observe(gateway: Gateway, hosts: readonly CheckedHost[]): Promise<Observed[]> {
  return Promise.all(
    hosts.map(async (host) => {
      const trips = await gateway.ask('clock', { agent: host.agent, trips: TRIPS });
      return { host, offset: estimateOffset(trips) };
    }),
  );
}

const WORDS = ['host', 'role', 'CPU', 'Node'];
const HEAD = ['host', 'role', 'cores', 'CPU', 'Node', 'clock', 'round trip', 'open files', 'ports', 'load'];

function rowOf(
  { name, task, role, facts }: CheckedHost,
  { offsetMs, errorMs, roundTripMs }: Offset,
): string[] {
  return [
    name,
    describeRole(task, role),
    String(facts.cores),
    facts.cpuModel ?? 'unknown',
    facts.node.version ?? 'none',
    `${offsetMs < 0 ? '−' : '+'}${Math.abs(offsetMs).toFixed(1)} ± ${errorMs.toFixed(1)} ms`,
    `${roundTripMs.toFixed(1)} ms`,
    facts.openFiles?.toLocaleString('en-US') ?? 'any',
    facts.ports?.toLocaleString('en-US') ?? 'unknown',
    facts.load.toFixed(2),
  ];
}

/** A problem of a host, and its remedy. */
interface HostProblem {
  what: string;
  advice: string;
}

function refuseHost({ name, unfit }: CheckedHost): HostProblem[] {
  return unfit === undefined ? [] : [{ what: `${name}: ${unfit}`, advice: 'update this host' }];
}

/** Returns the reasons why a host cannot do its part of the load, each with its remedy. */
export function findProblems(
  host: CheckedHost,
  { errorMs }: Offset,
  { generators, processes, skewMs, addresses = {} }: Cluster,
  connections: number,
): HostProblem[] {
  const { name, task, facts } = host;
  const isServer = task === 'server';
  const share = Math.ceil(connections / (isServer ? 1 : generators));
  const files = Math.ceil(isServer ? share : share / processes) + SPARE_FILES;
  const sources = addresses[name]?.length ?? 1;
  const ports = facts.ports ?? Infinity;
  const found = [
    errorMs > skewMs && {
      what: `${name}: its clock is known only to ± ${errorMs.toFixed(1)} ms, and ${skewMs} ms are allowed`,
      advice: 'use a faster network, or raise "skewMs"',
    },
    (facts.openFiles ?? Infinity) < files && {
      what: `${name}: a process may open ${facts.openFiles} files, and its share of ${connections} connections needs ${files}`,
      advice: isServer ? `raise its hard limit to ${files}, or use more workers` : 'raise "processes"',
    },
    !isServer &&
      ports * sources < share && {
        what: `${name}: ${ports} ports on ${sources} address${sources === 1 ? '' : 'es'} for ${share} connections`,
        advice: `name ${Math.ceil(share / ports)} source addresses in "addresses"`,
      },
  ];
  return [...refuseHost(host), ...found.filter((one) => one !== false)];
}
