import { runReport } from 'bench-http/commands/report';

process.exitCode = await runReport(process.argv.slice(2));
