import { existsSync, globSync, mkdirSync, writeFileSync, readFileSync, rmSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { concurrently } from 'concurrently';
import { $ } from 'zx';
import { CHECK } from '@bench/harness/cli/commands';
import { ROOT } from '@bench/harness/catalogue/stacks';
import { findTool } from '@bench/harness/measure/builds';
import { findRuntime } from '@bench/harness/measure/runtimes';
import { BenchError } from '@bench/harness/errors';
import { CACHE } from '@bench/harness/measure/prepare';
import { provideUv } from '@bench/harness/measure/uv';
import { runCommand, tell } from './shell.ts';

interface Job {
  name: string;
  command: string;
}

await runCommand(CHECK, async ({ fix }) => {
  const jobs = [
    { name: 'format', command: `oxfmt ${fix ? '' : '--check'}` },
    { name: 'lint', command: `oxlint --deny-warnings ${fix ? '--fix' : ''}` },
    { name: 'types', command: 'tsc --noEmit' },
    ...(await unlessMissing('Python', pythonJobs(fix))),
    ...(await unlessMissing('Go', goJobs(fix))),
    ...(await unlessMissing('Rust', rustJobs(fix))),
  ];
  const { result } = concurrently(jobs, { cwd: ROOT, group: true, prefixColors: 'auto' });
  return result.then(
    () => 0,
    () => 1,
  );
});

/** The jobs of a language; none, and that is said, where its tools are missing. Under CI that is an error. */
async function unlessMissing(language: string, jobs: Promise<Job[]>): Promise<Job[]> {
  try {
    return await jobs;
  } catch (error) {
    if (!(error instanceof BenchError) || process.env['CI'] !== undefined) throw error;
    tell(`${language} is not checked: ${error.message} (${error.hint})`);
    return [];
  }
}

async function pythonJobs(fix: boolean): Promise<Job[]> {
  const bin = join(await provideTools(), 'bin');
  return [
    { name: 'ruff format', command: `${bin}/ruff format ${fix ? '' : '--check'}` },
    { name: 'ruff', command: `${bin}/ruff check ${fix ? '--fix' : ''}` },
    { name: 'mypy', command: `${bin}/mypy` },
    { name: 'pytest', command: `${bin}/pytest -q` },
  ];
}

async function goJobs(fix: boolean): Promise<Job[]> {
  await findTool('go', ROOT, 'to check the Go stacks');
  const modules = globSync('packages/*/go.mod', { cwd: ROOT }).map((file) => dirname(file));
  return [
    // It names what is not formatted, and succeeds all the same.
    {
      name: 'gofmt',
      command: fix ? `gofmt -w ${modules.join(' ')}` : `! gofmt -l ${modules.join(' ')} | grep .`,
    },
    ...modules.map((folder) => ({
      name: `go ${basename(folder)}`,
      command: `go -C ${folder} vet ./... && go -C ${folder} test ./...`,
    })),
  ];
}

async function rustJobs(fix: boolean): Promise<Job[]> {
  await findTool('cargo', ROOT, 'to check the Rust stacks');
  const workspace = '--manifest-path packages/rustcontract/Cargo.toml';
  return [
    { name: 'rustfmt', command: `cargo fmt ${workspace} --all ${fix ? '' : '--check'}` },
    {
      name: 'clippy',
      command: `cargo clippy ${workspace} --locked --workspace --all-targets -- -D warnings`,
    },
    { name: 'cargo test', command: `cargo test ${workspace} --locked --quiet` },
  ];
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
