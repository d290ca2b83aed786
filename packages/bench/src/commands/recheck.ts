import { readFileSync } from 'node:fs';
import { recheck } from '../analyse/recheck/recheck.ts';
import { RECHECK } from '../cli/commands.ts';
import { BenchError } from '../errors.ts';
import { renderRecheck, renderRecheckJson } from '../report/recheck.ts';
import { print, printJson, createRunner } from './shell.ts';

export const runRecheck = createRunner(RECHECK, async ({ file, json }) => {
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
