import { runCalibrate } from 'bench-lab/commands/calibrate';

process.exitCode = await runCalibrate(process.argv.slice(2));
