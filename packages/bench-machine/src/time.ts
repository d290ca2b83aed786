/** The `/usr/bin/time` command, which reports on the whole life of a server. */

import { existsSync } from 'node:fs';
import { run } from './subprocess.ts';

/** Its path on Linux and macOS, unless `BENCH_TIME` names another. The `time` of a shell reports less. */
const PATH = process.env['BENCH_TIME'] ?? '/usr/bin/time';

/** `argv` ends with `-o`; the report file and the command to time follow. */
export interface TimeCommand {
  argv: string[];
}

let finding: Promise<TimeCommand | undefined> | undefined;

/**
 * Returns the command that writes the report of `/usr/bin/time` to a file: GNU `-v -o`, BSD `-l -o`. Undefined if
 * it is missing or supports neither. Looks once.
 */
export function timeCommand(): Promise<TimeCommand | undefined> {
  finding ??= findTimeCommand();
  return finding;
}

async function findTimeCommand(): Promise<TimeCommand | undefined> {
  if (!existsSync(PATH)) return undefined;
  const candidates: TimeCommand[] = [{ argv: [PATH, '-v', '-o'] }, { argv: [PATH, '-l', '-o'] }];
  if (process.platform !== 'linux') candidates.reverse();
  for (const candidate of candidates) {
    if (await runs(candidate.argv)) return candidate;
  }
  return undefined;
}

async function runs(argv: string[]): Promise<boolean> {
  // A PATH may lack every other program.
  return run([...argv, '/dev/null', process.execPath, '--version']).then(
    () => true,
    () => false,
  );
}
