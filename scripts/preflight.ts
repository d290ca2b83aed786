import { readFacts } from '@bench/harness/measure/facts';
import { preflight } from '@bench/harness/measure/preflight';
import { DEFAULT_CONNECT_RATE, parse, wholeNumber } from '@bench/harness/options';
import { print, runMain } from './shell.ts';

await runMain(async () => {
  const { values } = parse(process.argv.slice(2), {
    connections: { type: 'string' },
    cores: { type: 'string' },
    generators: { type: 'string' },
    workers: { type: 'string' },
    'connect-rate': { type: 'string' },
  });
  const findings = preflight(await readFacts(), {
    connections: wholeNumber('connections', values.connections) ?? 10_000,
    generators: wholeNumber('generators', values.generators) ?? 1,
    serverCores: wholeNumber('cores', values.cores) ?? wholeNumber('workers', values.workers) ?? 1,
    connectsPerSecond: wholeNumber('connect-rate', values['connect-rate']) ?? DEFAULT_CONNECT_RATE,
  });
  for (const { level, what, advice } of findings) {
    print(`${level.padEnd(5)} ${what}\n${advice === undefined ? '' : `      ${advice}\n`}`);
  }
  return findings.some(({ level }) => level === 'stop') ? 1 : 0;
});
