import { PREFLIGHT } from '@bench/harness/cli/commands';
import { readFacts } from '@bench/harness/machine/facts';
import { preflight } from '@bench/harness/machine/preflight';
import { print, runCommand } from './shell.ts';

await runCommand(PREFLIGHT, async ({ connections, generators, workers, cores = workers, connectRate }) => {
  const findings = preflight(await readFacts(), {
    connections,
    generators,
    serverCores: cores,
    connectsPerSecond: connectRate,
  });
  for (const { level, what, advice } of findings) {
    print(`${level.padEnd(5)} ${what}\n${advice === undefined ? '' : `      ${advice}\n`}`);
  }
  return findings.some(({ level }) => level === 'stop') ? 1 : 0;
});
