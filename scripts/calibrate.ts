import { runCalibrate } from 'bench-http/commands/calibrate';

process.exitCode = await runCalibrate(process.argv.slice(2));
