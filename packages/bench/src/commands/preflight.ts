import { availableParallelism } from 'node:os';
import { estimateSlowdown, type Slowdown } from '../analyse/neighbours.ts';
import { PREFLIGHT } from '../cli/commands.ts';
import { BenchError } from '../model/errors.ts';
import { readFacts } from '../machine/facts.ts';
import { keepNeighbours, measureNeighbours } from '../machine/neighbours.ts';
import { choosePlacement, type PlacementNeeds } from '../machine/placement.ts';
import { preflight, refuseCores } from '../machine/preflight.ts';
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
