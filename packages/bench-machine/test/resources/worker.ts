/** A child process that burns CPU on command and reports how much, as a reference for the readings. */

import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { start } from '../../src/subprocess.ts';

const PROGRAM = `
const { spawn } = require('node:child_process');
const spent = () => { const { user, system } = process.cpuUsage(); return user + system; };
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const [word, figure] = line.split(' ');
  if (word === 'burn') {
    const from = spent();
    while (spent() - from < figure * 1000);
    console.log(JSON.stringify({ burntUs: spent() - from }));
  }
  if (word === 'child') {
    const child = spawn(process.execPath, ['-e', \`
      const from = process.cpuUsage();
      const spent = () => { const { user, system } = process.cpuUsage(from); return user + system; };
      while (spent() < \${figure} * 1000);
      const { user, system } = process.cpuUsage();
      console.log(user + system);
    \`], { stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    child.stdout.on('data', (chunk) => { said += chunk; });
    child.on('exit', () => console.log(JSON.stringify({ burntUs: Number(said) })));
  }
  if (word === 'sleeper') console.log(JSON.stringify({ pid: spawn('sleep', ['1000']).pid }));
  if (word === 'holder') {
    const program = \`globalThis.held = Buffer.alloc(\${figure} * 1024 * 1024, 1); console.log(1); setInterval(() => {}, 1e6)\`;
    const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
    child.stdout.once('data', () => console.log(JSON.stringify({ pid: child.pid })));
  }
  if (word === 'hold') {
    globalThis.held = Buffer.alloc(figure * 1024 * 1024, 1);
    console.log('{}');
  }
  if (word === 'listen') {
    const server = require('node:net').createServer().listen(0, '127.0.0.1', () => console.log(JSON.stringify(server.address())));
  }
});
console.log('{}');
`;

/** Such a child. Disposing kills it and its children, and waits until it has ended. */
export interface Worker extends AsyncDisposable {
  pid: number;
  /** Sends one command and waits for the response. */
  ask(command: string): Promise<Record<string, number>>;
}

/** Starts a worker and waits until it is ready. It first writes its id to the files `joins`, as a server does. */
export async function startWorker(
  joins: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<Worker> {
  const child = start({ stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, ...env } })`
    for file in ${joins}; do echo $$ > "$file"; done; exec ${[process.execPath, '-e', PROGRAM]}`;
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const answer = async (): Promise<Record<string, number>> => JSON.parse((await lines.next()).value ?? '{}');
  await answer();
  return {
    pid: child.pid!,
    ask(command) {
      child.stdin!.write(`${command}\n`);
      return answer();
    },
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      process.kill(-child.pid!, 'SIGKILL');
      await ended;
    },
  };
}
