import { readFileSync } from 'node:fs';
import { recheck } from '@bench/harness/analyse/recheck/recheck';
import { BenchError } from '@bench/harness/errors';
import { parse } from '@bench/harness/options';
import { renderRecheck, renderRecheckJson } from '@bench/harness/report/recheck';
import { print, printJson, runMain } from './shell.ts';

await runMain(async () => {
  const { values, positionals } = parse(process.argv.slice(2), { json: { type: 'boolean' } });
  const [file, ...rest] = positionals;
  if (file === undefined || rest.length > 0) {
    throw new BenchError(
      'usage',
      'name the one file to recheck',
      'e.g. pnpm recheck README.md, or - for what is piped in: tables of autocannon, reports of time(1)',
    );
  }
  const found = file === '-' ? recheck(readFileSync(0, 'utf8'), 'stdin') : recheck(read(file), file);
  if (values.json === true) printJson(renderRecheckJson(found));
  else print(renderRecheck(found));
});

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw new BenchError('usage', `${file}: cannot be read (${code})`, 'name a text file that is there');
  }
}
