import { dirname, join, relative } from 'node:path';
import { mkdirSync, writeFileSync } from 'node:fs';
import { CLUSTER, type ClusterRequest } from '../cli/commands.ts';
import type { Cluster } from '../catalogue/cluster/definition.ts';
import { readCluster } from '../catalogue/cluster/file.ts';
import { BenchError } from '../errors.ts';
import { HOME } from '../home.ts';
import { estimateOffset, type Offset } from '../load/cluster/clock.ts';
import { inspectCluster, type CheckedHost } from '../load/cluster/cluster.ts';
import { findUnequal } from '../load/cluster/hosts.ts';
import { ClusterDriver } from '../load/cluster/driver.ts';
import { listNodes, startNodes, stopNodes } from '../load/cluster/nodes.ts';
import { provideProgram, provideToken } from '../load/cluster/program.ts';
import { renderRows } from '../report/terminal.ts';
import { createRunner, logLine, print, widthFor } from './shell.ts';

export const runCluster = createRunner(CLUSTER, async (asked) => {
  if (asked.action === 'check') return check(asked.file);
  if (asked.action === 'down') {
    const count = await stopNodes();
    logLine(count === 0 ? 'nothing runs' : 'stopped');
    return 0;
  }
  return up(asked);
});

/** Starts nodes, and says how to go on. */
async function up(asked: Extract<ClusterRequest, { action: 'up' }>): Promise<number> {
  const [running] = listNodes();
  if (running !== undefined)
    throw new BenchError('usage', `a cluster runs already: ${running.words.join(' ')}`, 'pnpm cluster down');
  const token = provideToken();
  const program = await provideProgram(logLine);
  const words =
    'local' in asked
      ? ['local', String(asked.local)]
      : [
          'node',
          asked.role,
          ...(asked.join === undefined ? [] : ['--join', asked.join]),
          ...(asked.ip === undefined ? [] : ['--ip', asked.ip]),
        ];
  const address = await startNodes(program, words);
  if ('local' in asked && address !== undefined) {
    const file = join(HOME.cache, 'cluster', 'bench.cluster.json');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${JSON.stringify({ address, generators: asked.local - 1 }, undefined, 2)}\n`);
    const shown = relative(process.cwd(), file);
    print(`${asked.local} nodes run at ${address}\n`);
    print(`try it: pnpm bench vanilla --cluster ${shown}\n`);
  } else if ('role' in asked && asked.join === undefined) {
    print('the head of a cluster runs on port 6379\n');
    print(`copy ${relative(process.cwd(), token)} to the same place on every host, then start there:\n`);
    print('  pnpm cluster up --join <address of this host>:6379 --role generator\n');
  } else print('the node runs\n');
  print('to stop: pnpm cluster down\n');
  return 0;
}

/** The round trips of which the shortest gives the offset. */
const TRIPS = 32;

/** Shows the hosts of a file, and what to change. */
async function check(file: string): Promise<number> {
  const { connections = [], ...read } = readCluster(file);
  const spec = 'spread' in read ? read.spread : read.cluster;
  const known = 'role' in spec ? [spec.role] : Object.values(spec.roles);
  await using driver = await ClusterDriver.join(await provideProgram(logLine), spec.address);
  const nodes = await driver.ask('nodes');
  for (const { hostname, address, resources, alive } of nodes) {
    const roles = known.filter((role) => resources.includes(role));
    print(`${hostname} ${address}: ${alive ? roles.join(', ') || 'no role' : 'gone'}\n`);
  }
  const { hosts } = await inspectCluster(driver, spec);
  const offsets = await Promise.all(
    hosts.map(async ({ agent }) => estimateOffset(await driver.ask('clock', { agent, trips: TRIPS }))),
  );
  const rows = hosts.map((host, index) => rowOf(host, offsets[index] as Offset));
  print(`\n${renderRows(HEAD, rows, WORDS, widthFor({}))}\n\n`);
  const problems =
    'role' in spec
      ? [
          ...hosts.flatMap(refuseHost),
          ...findUnequal(hosts).map((what) => ({ what, advice: 'give the role to equal hosts only' })),
        ]
      : hosts.flatMap((host, index) =>
          findProblems(host, offsets[index] as Offset, spec, Math.max(0, ...connections)),
        );
  for (const { what, advice } of problems) print(`stop  ${what}\n      ${advice}\n`);
  if (problems.length === 0) print('ok    every host can take part\n');
  return problems.length === 0 ? 0 : 1;
}

const WORDS = ['host', 'role', 'CPU', 'Node'];
const HEAD = ['host', 'role', 'cores', 'CPU', 'Node', 'clock', 'round trip', 'open files', 'ports', 'load'];

function rowOf({ name, role, facts }: CheckedHost, { offsetMs, errorMs, roundTripMs }: Offset): string[] {
  return [
    name,
    role,
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

/** Files that a process opens besides its connections. */
const SPARE_FILES = 200;

/** A problem of a host, and what to change. */
interface HostProblem {
  what: string;
  advice: string;
}

function refuseHost({ name, unfit }: CheckedHost): HostProblem[] {
  return unfit === undefined ? [] : [{ what: `${name}: ${unfit}`, advice: 'update this host' }];
}

/** Returns why a host cannot do its part of the load, and what to change. */
export function findProblems(
  host: CheckedHost,
  { errorMs }: Offset,
  { roles, generators, processes, skewMs, addresses = {} }: Cluster,
  connections: number,
): HostProblem[] {
  const { name, role, facts } = host;
  const share = Math.ceil(connections / (role === roles.server ? 1 : generators));
  const files = Math.ceil(role === roles.server ? share : share / processes) + SPARE_FILES;
  const sources = addresses[name]?.length ?? 1;
  return [
    ...refuseHost(host),
    ...(errorMs > skewMs
      ? [
          {
            what: `${name}: its clock is known only to ± ${errorMs.toFixed(1)} ms, and ${skewMs} ms are allowed`,
            advice: 'use a faster network, or raise "skewMs"',
          },
        ]
      : []),
    ...(facts.openFiles !== undefined && facts.openFiles < files
      ? [
          {
            what: `${name}: a process may open ${facts.openFiles} files, and its share of ${connections} connections needs ${files}`,
            advice:
              role === roles.server
                ? `raise its hard limit to ${files}, or use more workers`
                : 'raise "processes"',
          },
        ]
      : []),
    ...(role !== roles.server && facts.ports !== undefined && facts.ports * sources < share
      ? [
          {
            what: `${name}: ${facts.ports} ports on ${sources} address${sources === 1 ? '' : 'es'} for ${share} connections`,
            advice: `name ${Math.ceil(share / facts.ports)} source addresses in "addresses"`,
          },
        ]
      : []),
  ];
}
