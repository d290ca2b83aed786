/** How to ask `/usr/bin/time` about the whole life of a server. */

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import type { TimeReport } from '../time-report.ts';

/** Where both systems keep it, unless `BENCH_TIME` names another: a shell's own `time` reports less. */
const PATH = process.env['BENCH_TIME'] ?? '/usr/bin/time';

/** `argv` ends in `-o`: the file for the report comes next, then the command to time. */
export interface TimeCommand {
  argv: string[];
  format: TimeReport['format'];
}

/**
 * How to run `/usr/bin/time` so that its report goes to a file: GNU `-v -o`, BSD `-l -o`.
 * Undefined where there is none, or where it knows neither.
 */
export async function timeCommand(): Promise<TimeCommand | undefined> {
  if (!existsSync(PATH)) return undefined;
  const candidates: TimeCommand[] = [
    { argv: [PATH, '-v', '-o'], format: 'gnu' },
    { argv: [PATH, '-l', '-o'], format: 'bsd' },
  ];
  if (process.platform !== 'linux') candidates.reverse();
  for (const candidate of candidates) {
    if (await runs(candidate.argv)) return candidate;
  }
  return undefined;
}

async function runs([file = PATH, ...flags]: string[]): Promise<boolean> {
  try {
    await promisify(execFile)(file, [...flags, '/dev/null', 'true']);
    return true;
  } catch {
    return false;
  }
}
