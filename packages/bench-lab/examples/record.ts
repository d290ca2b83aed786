/**
 * Records the services of docs/findings/nine-services.md: lays each out as a user has it, in a repository with its lock file and two commits, runs
 * its commands, and keeps what they print. The second commit overlays the files of `change`.
 *
 * `pnpm exec node packages/bench-lab/examples/record.ts results/published/<date>-examples fastapi express`
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { HOME } from 'bench-machine/home';
import { runSync } from 'bench-machine/subprocess';
import { splitCommand } from 'bench-targets/catalogue/apps/words';
import { provideUv } from 'bench-targets/prepare/uv';
import { inheritedByUser, runCommand } from '../testing/user.ts';

/** A service: the tool that makes its lock, the subject of its change, and what its user types. */
interface Service {
  lock?: 'uv' | 'npm';
  change: string;
  commands: string[];
}

const COMPARE = '--rev HEAD~1,HEAD --until-decided --budget 1m';
/** For servers that start slowly. */
const LONGER = '--rev HEAD~1,HEAD --until-decided --budget 2m';

const SERVICES: Record<string, Service> = {
  fastapi: {
    lock: 'uv',
    change: 'Describe orders',
    commands: ["init --get '/orders?limit=20'", COMPARE],
  },
  express: { lock: 'npm', change: 'Answer with copies', commands: ['init', COMPARE] },
  go: { change: 'Answer with an ETag', commands: ['init', COMPARE] },
  django: { change: 'Count the books', commands: ['init', LONGER] },
  flask: {
    change: 'Log the answer',
    commands: [
      "init --run 'gunicorn app:app'",
      "init --run 'gunicorn -k gevent app:app' --output gevent.json",
      "init --run 'waitress-serve app:app' --output waitress.json",
      '--stack stack.json,gevent.json,waitress.json --rev HEAD~1,HEAD --until-decided --budget 3m',
    ],
  },
  nestjs: { lock: 'npm', change: 'Add links', commands: ['init', LONGER] },
  java: { change: 'Format quotes', commands: ['init', LONGER] },
  monorepo: {
    lock: 'npm',
    change: 'Format prices',
    commands: ['init services/api', `--stack services/api/stack.json ${COMPARE}`],
  },
  'uv-workspace': {
    lock: 'uv',
    change: 'Round distances',
    commands: ['init', `--stack services/api/stack.json ${COMPARE}`],
  },
};

/** Lays a service out in a folder. */
async function layOut(name: string, { lock, change }: Service, folder: string): Promise<void> {
  const from = join(import.meta.dirname, name);
  const changed = join(from, 'change');
  const run = (...argv: string[]): void => void runSync(argv, { cwd: folder });
  const commit = (subject: string): void => {
    run('git', 'add', '.');
    run('git', '-c', 'user.name=Ada', '-c', 'user.email=ada@localhost', 'commit', '--quiet', '-m', subject);
  };
  cpSync(from, folder, { recursive: true, filter: (file) => file !== changed });
  if (lock === 'uv') run(await provideUv(HOME.cache), 'lock', '--quiet');
  if (lock === 'npm') run('npm', 'install', '--package-lock-only', '--no-audit', '--silent');
  run('git', 'init', '--quiet', '--initial-branch=main');
  commit('The service');
  cpSync(changed, folder, { recursive: true });
  commit(change);
}

const [place = '', ...names] = process.argv.slice(2);
mkdirSync(place, { recursive: true });
for (const name of names) {
  const service = SERVICES[name];
  if (service === undefined) throw new Error(`${name} is none of ${Object.keys(SERVICES).join(', ')}`);
  const scratch = mkdtempSync(join(tmpdir(), 'bench-example-'));
  const folder = join(scratch, name);
  mkdirSync(folder);
  await layOut(name, service, folder);
  const parts = service.commands.map((line) => {
    const { words } = splitCommand(line, 'command');
    // Another run may be in progress.
    const wait = words[0] === 'init' ? [] : ['--wait'];
    const { status, stdout, stderr } = runCommand([...words, ...wait], folder, inheritedByUser());
    return `$ bench-http ${line}\n${stdout}${status === 0 ? '' : `${stderr}exit code ${status}\n`}`;
  });
  rmSync(scratch, { recursive: true });
  writeFileSync(join(resolve(place), `${name}.txt`), parts.join(''));
  process.stdout.write(`${name}: recorded\n`);
}
