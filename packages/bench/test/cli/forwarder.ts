/**
 * Starts a command of Bench and forwards SIGINT to it, as `npx pnpm` does: a Ctrl-C in the terminal reaches the command
 * twice. It costs a tenth of what `npx pnpm` costs to start.
 */
// oxlint-disable-next-line no-restricted-imports -- the command must stay in the process group of the terminal
import { spawn } from 'node:child_process';

const command = ['packages/bench/bench-http.mjs', ...process.argv.slice(2)];
const child = spawn(process.execPath, command, { stdio: 'inherit' });
process.on('SIGINT', () => child.kill('SIGINT'));
child.once('exit', (code) => {
  process.exitCode = code ?? 1;
});
