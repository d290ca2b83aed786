import { availableParallelism } from 'node:os';
import { PREFLIGHT } from '../cli/commands.ts';
import { readFacts } from '../machine/facts.ts';
import { preflight, refuseCores } from '../machine/preflight.ts';
import { print, createRunner } from './shell.ts';

export const runPreflight = createRunner(
  PREFLIGHT,
  async ({ connections, generators, workers, cores, connectRate }) => {
    refuseCores(cores, availableParallelism());
    const findings = preflight(await readFacts(), {
      connections,
      generators,
      serverCores: cores ?? workers,
      connectsPerSecond: connectRate,
    });
    for (const { level, what, advice } of findings) {
      print(`${level.padEnd(5)} ${what}\n${advice === undefined ? '' : `      ${advice}\n`}`);
    }
    return findings.some(({ level }) => level === 'stop') ? 1 : 0;
  },
);
