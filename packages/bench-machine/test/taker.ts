/** A process that takes and releases the lock of the host: it reads `take TOKEN` or `release`, and answers each line with one. */
import { createInterface } from 'node:readline';
import { BenchError } from 'bench-model/errors';
import { lockHost, type HostLock } from '../src/lock.ts';

const [state = ''] = process.argv.slice(2);
let held: HostLock | undefined;

async function take(token: string): Promise<string> {
  try {
    held = await lockHost({ run: `run-of-${process.pid}`, token, state });
    return 'taken';
  } catch (error) {
    return error instanceof BenchError ? 'refused' : String(error);
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const [order, token = ''] = line.split(' ');
  if (order === 'take') console.log(await take(token));
  if (order === 'release') {
    held?.[Symbol.dispose]();
    held = undefined;
    console.log('released');
  }
}
