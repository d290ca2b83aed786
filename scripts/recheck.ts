import { readFileSync } from 'node:fs';
import { recheck } from '@bench/harness/analyse/recheck/recheck';
import { RECHECK } from '@bench/harness/cli/commands';
import { BenchError } from '@bench/harness/errors';
import { renderRecheck, renderRecheckJson } from '@bench/harness/report/recheck';
import { print, printJson, runCommand } from './shell.ts';

await runCommand(RECHECK, async ({ file, json }) => {
  const found = file === '-' ? recheck(readFileSync(0, 'utf8'), 'stdin') : recheck(read(file), file);
  if (json) printJson(renderRecheckJson(found));
  else print(renderRecheck(found));
});

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw new BenchError('usage', `${file}: cannot be read (${code})`, 'name a text file');
  }
}
