import { runBench } from 'bench-http/commands/bench';

process.exitCode = await runBench(process.argv.slice(2));
