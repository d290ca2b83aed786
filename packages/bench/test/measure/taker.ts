/** A process that takes the host's lock when told to: `take TOKEN`, `release`. It answers each with one line. */
import { createInterface } from 'node:readline';
import { BenchError } from '../../src/errors.ts';
import { lockHost, type HostLock } from '../../src/measure/lock.ts';

const [file] = process.argv.slice(2);
let held: HostLock | undefined;

function take(token: string): string {
  try {
    held = lockHost(`run-of-${process.pid}`, token, file);
    return 'taken';
  } catch (error) {
    return error instanceof BenchError ? 'refused' : String(error);
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const [order, token = ''] = line.split(' ');
  if (order === 'take') console.log(take(token));
  if (order === 'release') {
    held?.[Symbol.dispose]();
    held = undefined;
    console.log('released');
  }
}
