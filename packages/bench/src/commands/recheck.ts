import { recheck } from '../analyse/recheck/recheck.ts';
import { RECHECK } from '../cli/commands.ts';
import { renderRecheck, renderRecheckJson } from '../report/recheck.ts';
import { print, printJson, createRunner } from './shell.ts';
import { readText } from './text-file.ts';

export const runRecheck = createRunner(RECHECK, async ({ file, json }) => {
  const { text, name } = readText(file);
  const found = recheck(text, name);
  if (json) printJson(renderRecheckJson(found));
  else print(renderRecheck(found));
});
