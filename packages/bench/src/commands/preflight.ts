import { availableParallelism } from 'node:os';
import { estimateSlowdown, type Slowdown } from 'bench-analysis/neighbours';
import { PREFLIGHT } from '../cli/commands.ts';
import { BenchError } from 'bench-model/errors';
import { readFacts } from 'bench-machine/facts';
import { keepNeighbours, measureNeighbours } from 'bench-machine/neighbours';
import { choosePlacement, type PlacementNeeds } from 'bench-machine/placement';
import { preflight, refuseCores } from 'bench-machine/preflight';
import { createRunner, logLine, print } from './shell.ts';

/** Pairs of turns, which take about 5 s. */
const PAIRS = 60;

export const runPreflight = createRunner(
  PREFLIGHT,
  async ({ connections, generators, workers, cores, connectRate }) => {
    refuseCores(cores, availableParallelism());
    const needs = { generators, serverCores: cores ?? workers };
    const facts = await readFacts();
    const neighbours = await findSlowdown(needs).catch((error: unknown) => {
      if (!(error instanceof BenchError)) throw error;
      logLine(`neighbouring cores are not measured: ${error.message}`);
      return undefined;
    });
    if (neighbours !== undefined) keepNeighbours(neighbours);
    const findings = preflight(
      { ...facts, ...(neighbours && { neighbours }) },
      { ...needs, connections, connectsPerSecond: connectRate },
    );
    for (const { level, what, advice } of findings) {
      print(`${level.padEnd(5)} ${what}\n${advice === undefined ? '' : `      ${advice}\n`}`);
    }
    return findings.some(({ level }) => level === 'stop') ? 1 : 0;
  },
);

/** Measures what a busy load costs the server's core; undefined if they cannot be pinned to different cores. */
async function findSlowdown(needs: PlacementNeeds): Promise<Slowdown | undefined> {
  const { kind, server: [server] = [], generator = [] } = (await choosePlacement(needs)).placement;
  if (kind !== 'separate' || server === undefined) return undefined;
  return estimateSlowdown(await measureNeighbours({ server, load: generator, busy: 'work' }, PAIRS));
}
