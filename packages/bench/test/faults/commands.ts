/** The faults of the harness and of the machine, each planted around one command. */
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Trial } from 'bench-model/record';
import type { Ended } from '../../../bench-lab/testing/user.ts';
import { flags, PLANTED, ROOT, USERS, type Place, type Running } from '../cli/cli.ts';
import type { Phase } from './servers.ts';

/** One command with one fault, and how it must end. */
export interface CommandCase {
  phase: Phase;
  fault: string;
  run: (place: Place) => Promise<Ended>;
  /** Null if its terminal has ended, and not the command. */
  status: number | null;
  says: RegExp;
  /** The status of each record that is kept; `measured` for one with figures. */
  kept: (Trial['status'] | 'measured')[];
  /** Set if it needs user namespaces. */
  isApart?: true;
}

const FOLDER = 'packages/bench-lab/planted/unruly';
const load = (more: Record<string, string | number> = {}): string[] =>
  flags({ connections: 2, warmup: 0, duration: 1, rounds: 1, ...more });
const unruly = (more?: Record<string, string | number>): string[] => [
  'unruly',
  '--stack',
  `${FOLDER}/stack.json`,
  ...load(more),
];

/** The start of a command line that makes its own file systems and network, after these shell commands. */
const apart = (script: string): string[] => {
  const words = ['unshare', '--user', '--map-root-user', '--mount', '--net'];
  return [...words, ...shell(`ip link set lo up; ${script}`)];
};
const shell = (script: string): string[] => ['sh', '-c', `${script}; exec "$@"`, 'sh'];

/** Runs with the results in a file system of this size. */
function inSmall(place: Place, size: string, more?: Record<string, string | number>): Promise<Ended> {
  mkdirSync(place.results);
  const prefix = apart(`mount -t tmpfs -o size=${size} none ${place.results}; ls ${place.results}`);
  return place.start('bench', unruly(more), {}, prefix).ended;
}

/** Starts a run with a long window, and waits until it is open. */
async function startWindow(place: Place, more: Record<string, string | number> = {}): Promise<Running> {
  const words = ['planted/delays-1-ms', '--stack', PLANTED, ...load({ duration: 2, ...more })];
  const running = place.start('bench', words);
  await running.until(() => isLoaded(place), 'the window');
  return running;
}

async function isLoaded(place: Place): Promise<boolean> {
  return ((await place.readAccount())?.requests.read ?? 0) > 100;
}

/** Stops processes for longer than the window, and lets them go on. */
async function pause(pids: readonly number[]): Promise<void> {
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  await sleep(2500);
  for (const pid of pids) process.kill(pid, 'SIGCONT');
}

const SERVER = `require('node:http').createServer((_, answer) => answer.end('ok')).listen(process.env.PORT, '127.0.0.1');`;

/** Writes a project of a user, and returns the words that measure it. */
function writeApp(folder: string): string[] {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'server.js'), SERVER);
  return ['--app', folder, '--run', 'node server.js', '--get', '/', ...load()];
}

const EVERY_WORD = /./;

export const COMMAND_CASES: CommandCase[] = [
  {
    phase: 'prepare',
    fault: 'HOME is missing',
    run: (place) => place.start('bench', unruly(), {}, ['env', '-u', 'HOME']).ended,
    status: 0,
    says: /saved in /,
    kept: ['measured'],
  },
  {
    phase: 'prepare',
    fault: 'HOME is not a folder',
    run(place) {
      const own = ['BENCH_STATE', 'BENCH_CACHE', 'XDG_STATE_HOME', 'XDG_CACHE_HOME'];
      const prefix = ['env', ...own.flatMap((name) => ['-u', name])];
      return place.start('bench', unruly(), { HOME: '/dev/null/home' }, prefix).ended;
    },
    status: 2,
    says: /\/dev\/null\/home\/\S+ cannot be created: ENOTDIR.*\n +set XDG_STATE_HOME/,
    kept: [],
  },
  {
    phase: 'prepare',
    fault: 'the state folder cannot be created',
    run: (place) => place.start('bench', unruly(), { BENCH_STATE: '/dev/null/state' }).ended,
    status: 2,
    says: /\/dev\/null\/state cannot be created: ENOTDIR.*\n +set XDG_STATE_HOME to a folder of your own/,
    kept: [],
  },
  {
    phase: 'prepare',
    fault: 'the cache folder cannot be created',
    run: (place) => place.start('bench', unruly(), { BENCH_CACHE: '/dev/null/cache' }).ended,
    status: 0,
    says: /warning: --resume and --again will ask about this run: ENOTDIR/,
    kept: ['measured'],
  },
  {
    phase: 'prepare',
    fault: 'TMPDIR is not a folder',
    run: (place) =>
      place.start('bench', writeApp(join(place.folder, 'app')), { ...place.ownCache, TMPDIR: '/dev/null' })
        .ended,
    status: 2,
    says: /error: \/dev\/null\/bench-try-\S+ cannot be created: ENOTDIR.*\n +set TMPDIR/,
    kept: [],
  },
  {
    phase: 'prepare',
    fault: 'TMPDIR is not a folder for a database',
    run: (place) =>
      place.start('bench', ['users', '--stack', USERS, '--workload', 'users', ...load()], {
        TMPDIR: '/dev/null',
      }).ended,
    status: 2,
    says: /error: \/dev\/null\/bench-database-\S+ cannot be created: ENOTDIR.*\n +set TMPDIR/,
    kept: [],
  },
  {
    phase: 'prepare',
    fault: 'the machine has few descriptors',
    run: (place) => place.start('bench', unruly({ connections: 300 }), {}, shell('ulimit -n 200')).ended,
    status: 2,
    says: /error: open files: 200 allowed, but server and generator each need 500 for 300 connections/,
    kept: [],
  },
  {
    phase: 'prepare',
    fault: 'the machine has few ports',
    run(place) {
      const prefix = apart('echo "40000 40020" > /proc/sys/net/ipv4/ip_local_port_range');
      return place.start('bench', unruly({ connections: 50 }), {}, prefix).ended;
    },
    status: 2,
    says: /error: ephemeral ports: 21 for 50 connections/,
    kept: [],
    isApart: true,
  },
  {
    phase: 'prepare',
    fault: 'the machine has one core',
    run: (place) => place.start('bench', unruly(), {}, ['taskset', '-c', '0']).ended,
    status: 0,
    says: /1 core for a server on 1 and its load: both share them/,
    kept: ['measured'],
  },
  {
    phase: 'prepare',
    fault: 'there are no cgroups',
    run: (place) => place.start('bench', unruly(), {}, apart('mount -t tmpfs none /sys/fs/cgroup')).ended,
    status: 0,
    says: /saved in /,
    kept: ['measured'],
    isApart: true,
  },
  {
    phase: 'prepare',
    fault: 'other processes are hidden',
    run(place) {
      const prefix = ['unshare', '--user', '--map-root-user', '--pid', '--fork', '--mount-proc'];
      return place.start('bench', unruly(), {}, prefix).ended;
    },
    status: 0,
    says: /saved in /,
    kept: ['measured'],
    isApart: true,
  },
  {
    phase: 'prepare',
    fault: 'the paths have blanks, quotes and other letters',
    run(place) {
      const odd = join(place.folder, `it's "ü" $HOME; `);
      cpSync(join(ROOT, FOLDER), odd, { recursive: true });
      const words = ['unruly', '--stack', join(odd, 'stack.json'), ...load()];
      return place.start('bench', words, { TMPDIR: odd }).ended;
    },
    status: 0,
    says: /saved in /,
    kept: ['measured'],
  },
  {
    phase: 'start',
    fault: 'it gets SIGTERM while it waits for an answer',
    async run(place) {
      const folder = join(place.folder, 'app');
      const words = writeApp(folder);
      writeFileSync(
        join(folder, 'server.js'),
        `require('node:net').createServer((socket) => socket.once('data', () => require('node:fs').writeFileSync(${JSON.stringify(join(place.folder, 'asked'))}, ''))).listen(process.env.PORT, '127.0.0.1');`,
      );
      const patient = flags({ 'start-timeout': 3600, timeout: 3600 });
      const running = place.start('bench', [...words, ...patient], place.ownCache);
      await running.until(() => existsSync(join(place.folder, 'asked')), 'the first request');
      running.signal('SIGTERM');
      return running.ended;
    },
    status: 130,
    says: /stopping: nothing has been measured yet/,
    kept: [],
  },
  {
    phase: 'window',
    fault: 'the load generator is killed',
    async run(place) {
      const running = await startWindow(place, { duration: 5, rounds: 2 });
      for (const pid of place.pidsOf('generator.ts')) process.kill(pid, 'SIGKILL');
      return running.ended;
    },
    status: 1,
    says: /\[1\/2\] .*: failed — the load generator failed: it ended \(SIGKILL\)/,
    kept: ['failed', 'measured'],
  },
  {
    phase: 'window',
    fault: 'all processes are stopped for 2.5 s',
    async run(place) {
      const running = await startWindow(place);
      await pause(place.pids());
      return running.ended;
    },
    status: 0,
    says: EVERY_WORD,
    kept: ['suspect'],
  },
  {
    phase: 'window',
    fault: 'it is stopped alone for 2.5 s',
    async run(place) {
      const running = await startWindow(place, { duration: 1 });
      await pause([running.pid]);
      return running.ended;
    },
    status: 0,
    says: /./,
    kept: ['suspect'],
  },
  {
    phase: 'window',
    fault: 'its terminal closes',
    async run(place) {
      const words = [
        'node',
        'packages/bench/bench-http.mjs',
        'bench',
        'planted/delays-1-ms',
        '--stack',
        PLANTED,
      ];
      const running = place.startInTerminal([...words, ...load({ duration: 60 })].join(' '));
      await running.until(() => isLoaded(place), 'the window');
      running.signal('SIGKILL');
      const ended = await running.ended;
      await place.untilGone();
      return ended;
    },
    status: null,
    says: EVERY_WORD,
    kept: [],
  },
  {
    phase: 'record',
    fault: 'the results folder is not a folder',
    run(place) {
      const file = join(place.folder, 'file');
      writeFileSync(file, '');
      return place.start('bench', unruly(), { BENCH_RESULTS: join(file, 'results') }).ended;
    },
    status: 2,
    says: /error: .*file\/results\/\S+-devices cannot be written: ENOTDIR.*\n +make .*file\/results a writable folder/,
    kept: [],
  },
  {
    phase: 'record',
    fault: 'the results folder is removed',
    async run(place) {
      const running = await startWindow(place);
      rmSync(place.results, { recursive: true });
      return running.ended;
    },
    status: 2,
    says: /error: .*trials\.jsonl cannot be written: ENOENT.*\n +make .* a writable folder/,
    kept: [],
  },
  {
    phase: 'record',
    fault: 'the disk is full at its start',
    run: (place) => inSmall(place, '4k'),
    status: 2,
    says: /error: .*\.json\S* cannot be written: ENOSPC.*\n +free some disk space/,
    kept: [],
    isApart: true,
  },
  {
    phase: 'report',
    fault: 'the disk is full at its end',
    run: (place) => inSmall(place, '120k'),
    status: 0,
    says: /warning: there is no report with charts: .*ENOSPC.*; free some disk space/,
    kept: [],
    isApart: true,
  },
];
