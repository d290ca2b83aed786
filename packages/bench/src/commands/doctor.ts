import { defineCommand, option } from '../cli/command.ts';
import { wholeNumber } from '../cli/values.ts';
import { availableParallelism } from 'node:os';
import { estimateRatio } from 'bench-statistics/ratio';
import { BenchError } from 'bench-model/errors';
import { readFacts } from 'bench-machine/facts';
import { keepNeighbours, measureNeighbours, type Neighbours } from 'bench-machine/neighbours';
import { choosePlacement, type PlacementNeeds } from 'bench-machine/placement';
import { preflight, refuseCores } from 'bench-machine/preflight';
import { logLine, print } from '../terminal/shell.ts';

/** Pairs of turns, which take about 5 s. */
const PAIRS = 60;

export default defineCommand({
  name: 'doctor',
  about:
    'Checks whether this machine is fit for measuring: limits, ports, load, governor, throttling, cores that slow each other down. Says what to change.',
  options: {
    connections: option('<n>', wholeNumber(), { help: 'the highest number of connections', default: 10_000 }),
    workers: option('<n>', wholeNumber(), { help: 'workers of each server', default: 1 }),
    cores: option('<n>', wholeNumber(), {
      help: 'cores of each server',
      usually: 'as many as workers',
      conflicts: { workers: 'omit --workers: this check uses --cores alone' },
    }),
  },
  notes: 'Exit codes: 0 fit, 1 something must change first.',
  read: (values) => values,
  async run({ connections, workers, cores }) {
    refuseCores(cores, availableParallelism());
    const needs = { generators: 1, serverCores: cores ?? workers };
    const facts = await readFacts();
    const neighbours = await findSlowdown(needs).catch((error: unknown) => {
      if (!(error instanceof BenchError)) throw error;
      logLine(`neighbouring cores are not measured: ${error.message}`);
      return undefined;
    });
    if (neighbours !== undefined) keepNeighbours(neighbours);
    const findings = preflight({ ...facts, ...(neighbours && { neighbours }) }, { ...needs, connections });
    for (const { level, what, advice } of findings) {
      print(`${level.padEnd(5)} ${what}\n${advice === undefined ? '' : `      ${advice}\n`}`);
    }
    return findings.some(({ level }) => level === 'stop') ? 1 : 0;
  },
});

/** Measures what a busy load costs the server's core; undefined if they cannot be pinned to different cores. */
async function findSlowdown(needs: PlacementNeeds): Promise<Neighbours | undefined> {
  const { kind, server: [server] = [], generator = [] } = (await choosePlacement(needs)).placement;
  if (kind !== 'separate' || server === undefined) return undefined;
  const pairs = await measureNeighbours({ server, load: generator }, PAIRS);
  const { estimate: ratio, low, high } = estimateRatio(pairs.map(({ idleUs, busyUs }) => [busyUs, idleUs]));
  return low === undefined || high === undefined ? undefined : { ratio, low, high };
}
