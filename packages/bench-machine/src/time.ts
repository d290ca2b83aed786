/** The `/usr/bin/time` command, which reports on the whole life of a server. */

import { existsSync } from 'node:fs';
import { tryRun } from './subprocess.ts';

/** Its path on Linux and macOS, unless `BENCH_TIME` names another. The `time` of a shell reports less. */
const PATH = process.env['BENCH_TIME'] ?? '/usr/bin/time';

let finding: Promise<string[] | undefined> | undefined;

/**
 * Returns the words that write the report of `/usr/bin/time` to a file: GNU `-v -o`, BSD `-l -o`. The report file and the command
 * to time follow them. Undefined if it is missing or supports neither. Looks once.
 */
export function timeCommand(): Promise<string[] | undefined> {
  finding ??= findTimeCommand();
  return finding;
}

async function findTimeCommand(): Promise<string[] | undefined> {
  if (!existsSync(PATH)) return undefined;
  const candidates = [
    [PATH, '-v', '-o'],
    [PATH, '-l', '-o'],
  ];
  if (process.platform !== 'linux') candidates.reverse();
  for (const candidate of candidates) {
    // A PATH may lack every program.
    const printed = await tryRun([...candidate, '/dev/null', '/bin/sh', '-c', ':']);
    if (printed !== undefined) return candidate;
  }
  return undefined;
}
