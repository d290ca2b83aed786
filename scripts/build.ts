import { runBuild } from 'bench-http/commands/build';

process.exitCode = await runBuild(process.argv.slice(2));
