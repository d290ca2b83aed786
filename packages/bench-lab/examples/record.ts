/**
 * Records the services of docs/findings: lays each out as a user has it, in a repository with its lock file and its commits, runs
 * its commands, and keeps what they print, with the runs behind it. Each commit overlays the files of a folder such as `change`, or applies a
 * patch to the service.
 *
 * `pnpm exec node packages/bench-lab/examples/record.ts results/published/<date>-examples fastapi express`
 */
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { HOME } from 'bench-machine/home';
import { runSync } from 'bench-machine/subprocess';
import { splitCommand } from 'bench-targets/catalogue/projects/words';
import { provideUv } from 'bench-targets/prepare/uv';
import { inheritedByUser, runCommand } from '../testing/user.ts';

/** A service: its folder if that has another name, the tool that makes its lock, the subjects of its changes by their folders, and what its user types. */
interface Service {
  from?: string;
  lock?: 'uv' | 'npm';
  changes: Record<string, string>;
  commands: string[];
}

const COMPARE = 'compare HEAD~1 HEAD --budget 1m';
/** For servers that start slowly. */
const LONGER = 'compare HEAD~1 HEAD --budget 2m';

const WHY = '--budget 2m --why';

const EACH = 'compare HEAD~5 HEAD~4 HEAD~3 HEAD~2 HEAD~1 HEAD --budget 3m';

/** The planted causes, and a commit that causes nothing. */
const CAUSES = {
  line: 'Refuse what is there twice',
  library: 'Call the library for each row',
  statements: 'Load rows when they are read',
  wait: 'Ask the archive',
  twin: 'Write the same in other words',
};

const SERVICES: Record<string, Service> = {
  'causes-node': { lock: 'npm', changes: CAUSES, commands: [EACH] },
  'causes-python': { from: 'lazy', changes: CAUSES, commands: ['init --python 3.13', EACH] },
  'causes-go': { changes: CAUSES, commands: [EACH] },
  fastapi: {
    lock: 'uv',
    changes: { change: 'Describe orders' },
    commands: ["init --get '/orders?limit=20'", COMPARE],
  },
  express: { lock: 'npm', changes: { change: 'Answer with copies' }, commands: ['init', LONGER] },
  go: { changes: { change: 'Answer with an ETag' }, commands: ['init', COMPARE] },
  django: { changes: { change: 'Count the books' }, commands: ['init', LONGER] },
  flask: { changes: { change: 'Log the answer' }, commands: ["init --run 'gunicorn app:app'", LONGER] },
  nestjs: { lock: 'npm', changes: { change: 'Add links' }, commands: ['init', LONGER] },
  java: { changes: { change: 'Format quotes' }, commands: ['init', LONGER] },
  monorepo: {
    lock: 'npm',
    changes: { change: 'Format prices' },
    commands: ['init services/api', `${COMPARE} --stack services/api/stack.json`],
  },
  'uv-workspace': {
    lock: 'uv',
    changes: { change: 'Round distances' },
    commands: ['init', `${COMPARE} --stack services/api/stack.json`],
  },
  middleware: {
    changes: {
      asgi: 'Add ASGI middleware that does nothing',
      change: 'Add HTTP middleware that does nothing',
    },
    commands: ['init', `compare HEAD~2 HEAD~1 HEAD --python 3.13 ${WHY}`],
  },
  startup: {
    changes: { change: 'Upgrade Pydantic' },
    commands: [
      'init --python 3.11 --get /part0',
      'compare HEAD~1 HEAD --python 3.11 --by startup --budget 2m',
    ],
  },
  abort: {
    changes: { change: 'Stop by either signal' },
    commands: ['init', 'compare HEAD~1 HEAD --node 22.6.0 --budget 1m'],
  },
  fetching: { changes: { change: 'Fetch with aiohttp' }, commands: [`compare HEAD~1 HEAD ${WHY}`] },
  json: { changes: { change: 'Write JSON with orjson' }, commands: ['init', `compare HEAD~1 HEAD ${WHY}`] },
  lazy: {
    changes: { statements: CAUSES.statements },
    commands: ['init', `compare HEAD~1 HEAD ${WHY}`],
  },
  recycled: { changes: { change: 'Recycle workers' }, commands: ["init --run 'gunicorn app:app'", LONGER] },
  loops: {
    changes: {},
    commands: [
      `compare . ${['asyncio', 'uvloop'].map((loop) => `--run 'uvicorn main:app --port {port} --no-access-log --loop ${loop}'`).join(' ')} --get /ping --budget 2m`,
    ],
  },
  'express-nodes': {
    from: 'express',
    lock: 'npm',
    changes: {},
    commands: ['init', 'compare --node 22,26 --budget 2m'],
  },
  job: { from: 'fastapi', lock: 'uv', changes: { change: 'Describe orders' }, commands: ['ci'] },
};

/** Lays a service out in a folder. */
async function layOut(
  name: string,
  { from: own = name, lock, changes, commands }: Service,
  folder: string,
): Promise<void> {
  const from = join(import.meta.dirname, own);
  const folders = ['change', ...Object.keys(changes)].map((one) => join(from, one));
  const run = (...argv: string[]): void => void runSync(argv, { cwd: folder });
  const commit = (subject: string): void => {
    run('git', 'add', '.');
    run('git', '-c', 'user.name=Ada', '-c', 'user.email=ada@localhost', 'commit', '--quiet', '-m', subject);
  };
  cpSync(from, folder, {
    recursive: true,
    filter: (file) => !folders.includes(file) && !file.endsWith('.patch'),
  });
  if (commands.includes('ci'))
    cpSync(join(HOME.root, 'docs/examples/bench.config.json'), join(folder, 'bench.config.json'));
  run('git', 'init', '--quiet', '--initial-branch=main');
  const makeLock = async (): Promise<void> => {
    if (lock === 'uv') run(await provideUv(HOME.cache), 'lock', '--quiet');
    if (lock === 'npm') run('npm', 'install', '--package-lock-only', '--no-audit', '--silent');
  };
  await makeLock();
  commit('The service');
  run('git', 'branch', 'base');
  for (const [change, subject] of Object.entries(changes)) {
    const [patch] = globSync(`${change}.patch`, { cwd: from });
    if (patch) {
      run('git', 'checkout', '--quiet', 'base', '.');
      run('git', 'apply', join(from, patch));
    } else cpSync(join(from, change), folder, { recursive: true });
    await makeLock();
    commit(subject);
  }
}

/** Copies the runs that a service was measured in: plans, machines, trials and profiles. Paths in them begin at the repository. */
function keepRuns(folder: string, place: string): void {
  for (const plan of globSync('**/.bench/results/*/run.json', { cwd: folder })) {
    const run = dirname(plan);
    mkdirSync(join(place, basename(run)), { recursive: true });
    for (const file of globSync(['{run,host,why}.json', 'trials.jsonl'], { cwd: join(folder, run) }))
      writeFileSync(
        join(place, basename(run), file),
        readFileSync(join(folder, run, file), 'utf8').replaceAll(`${HOME.root}/`, ''),
      );
  }
}

/** Records a service: what its commands print, and their runs. `folder` is where its user has it. */
export async function record(
  name: string,
  { folder, place }: Record<'folder' | 'place', string>,
): Promise<void> {
  const service = SERVICES[name];
  if (service === undefined) throw new Error(`${name} is none of ${Object.keys(SERVICES).join(', ')}`);
  mkdirSync(place, { recursive: true });
  mkdirSync(folder, { recursive: true });
  await layOut(name, service, folder);
  const parts = service.commands.map((line) => {
    const { words } = splitCommand(line, 'command');
    // Another run may be in progress.
    const wait = words[0] === 'init' ? [] : ['--wait'];
    const { status, stdout, stderr } = runCommand([...words, ...wait], folder, inheritedByUser());
    return `$ bench-http ${line}\n${stdout}${status === 0 ? '' : `${stderr}exit code ${status}\n`}`;
  });
  keepRuns(folder, place);
  writeFileSync(join(resolve(place), `${name}.txt`), parts.join(''));
  process.stdout.write(`${name}: recorded\n`);
}

if (process.argv[1] === import.meta.filename) {
  const [place = '', ...names] = process.argv.slice(2);
  for (const name of names) {
    const scratch = mkdtempSync(join(tmpdir(), 'bench-example-'));
    await record(name, { folder: join(scratch, name), place });
    rmSync(scratch, { recursive: true });
  }
}
