import { defineCommand, option } from '../cli/command.ts';
import { wholeNumber } from '../cli/values.ts';
import { availableParallelism } from 'node:os';
import { readFacts } from 'bench-machine/facts';
import { preflight, refuseCores } from 'bench-machine/preflight';
import { print } from '../terminal/shell.ts';

export default defineCommand({
  name: 'doctor',
  about:
    'Checks whether this machine is fit for measuring: limits, ports, load, governor, throttling. Says what to change.',
  options: {
    connections: option('<n>', wholeNumber(), { help: 'the highest number of connections', default: 10_000 }),
    cores: option('<n>', wholeNumber(), { help: 'cores of each server', default: 1 }),
  },
  notes: 'Exit codes: 0 fit, 1 something must change first.',
  async run({ connections, cores }) {
    refuseCores(cores, availableParallelism());
    const findings = preflight(await readFacts(), { connections, generators: 1, serverCores: cores });
    for (const { level, what, advice } of findings) {
      print(`${level.padEnd(5)} ${what}\n${advice === undefined ? '' : `      ${advice}\n`}`);
    }
    return findings.some(({ level }) => level === 'stop') ? 1 : 0;
  },
});
