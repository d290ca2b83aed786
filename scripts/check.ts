import { existsSync, mkdirSync, writeFileSync, readFileSync, rmSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { concurrently } from 'concurrently';
import { $ } from 'zx';
import { ROOT } from '@bench/harness/catalogue/stacks';
import { findRuntime } from '@bench/harness/measure/runtimes';
import { BenchError } from '@bench/harness/errors';
import { CACHE } from '@bench/harness/measure/prepare';
import { provideUv } from '@bench/harness/measure/uv';
import { parse } from '@bench/harness/options';
import { runMain, tell } from './shell.ts';

await runMain(async () => {
  const { values } = parse(process.argv.slice(2), { fix: { type: 'boolean' } });
  const fix = values.fix === true;
  const jobs = [
    { name: 'format', command: `oxfmt ${fix ? '' : '--check'}` },
    { name: 'lint', command: `oxlint --deny-warnings ${fix ? '--fix' : ''}` },
    { name: 'types', command: 'tsc --noEmit' },
    ...(await pythonJobs(fix)),
  ];
  const { result } = concurrently(jobs, { cwd: ROOT, group: true, prefixColors: 'auto' });
  return result.then(
    () => 0,
    () => 1,
  );
});

async function pythonJobs(fix: boolean): Promise<{ name: string; command: string }[]> {
  try {
    const bin = join(await provideTools(), 'bin');
    return [
      { name: 'ruff format', command: `${bin}/ruff format ${fix ? '' : '--check'}` },
      { name: 'ruff', command: `${bin}/ruff check ${fix ? '--fix' : ''}` },
      { name: 'mypy', command: `${bin}/mypy` },
      { name: 'pytest', command: `${bin}/pytest -q` },
    ];
  } catch (error) {
    if (!(error instanceof BenchError) || process.env['CI'] !== undefined) throw error;
    tell(`Python is not checked: ${error.message} (${error.hint})`);
    return [];
  }
}

/** The environment of ruff, mypy and pytest, from its lock. */
async function provideTools(): Promise<string> {
  const lock = join(ROOT, 'python', 'dev-requirements.txt');
  const uv = await provideUv(CACHE);
  const { argv } = await findRuntime(
    { kind: 'python', spec: '3.13' },
    { cache: CACHE, uv, mayInstall: true },
  );
  const [path = ''] = argv;
  const digest = createHash('sha256').update(path).update(readFileSync(lock)).digest('hex').slice(0, 10);
  const environment = join(CACHE, 'tools', digest);
  if (existsSync(join(environment, 'bench-ready'))) return environment;
  rmSync(environment, { recursive: true, force: true });
  mkdirSync(join(CACHE, 'tools'), { recursive: true });
  await $`${uv} venv --quiet --python ${path} ${environment}`;
  await $`${uv} pip sync --quiet --require-hashes --python ${join(environment, 'bin', 'python')} ${lock}`;
  writeFileSync(join(environment, 'bench-ready'), '');
  return environment;
}
