/** The faults of the harness and of the machine, each planted around one command. */
import { cpSync, existsSync, mkdirSync, rmdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Trial } from 'bench-model/record';
import { readAllowedCores, readCores } from 'bench-machine/placement';
import { findFreePort } from 'bench-machine/ports';
import { runSync } from 'bench-machine/subprocess';
import type { Ended } from '../../../bench-lab/testing/user.ts';
import { flags, PLANTED, ROOT, type Place, type Running } from '../cli/cli.ts';
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
  /** What it needs of the machine. */
  needs?: keyof typeof NEEDS;
}

const FOLDER = 'packages/bench-lab/planted/unruly';
const load = (more: Record<string, string | number> = {}): string[] =>
  flags({ connections: 2, warmup: 0, duration: 0.5, rounds: 1, ...more });
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

/** The folder of a cgroup that limits memory, and the file that holds its limit: of v1, or of v2 below its root. */
const LIMITED = existsSync('/sys/fs/cgroup/memory')
  ? { folder: `/sys/fs/cgroup/memory/bench-test-${process.pid}`, limit: 'memory.limit_in_bytes' }
  : { folder: `/sys/fs/cgroup/bench-test-${process.pid}`, limit: 'memory.max' };

/** Makes that cgroup; disposing removes it. Throws if that is not allowed. */
function limitMemory(bytes: number): Disposable {
  mkdirSync(LIMITED.folder);
  const cgroup = { [Symbol.dispose]: () => rmdirSync(LIMITED.folder) };
  try {
    writeFileSync(join(LIMITED.folder, LIMITED.limit), String(bytes));
    return cgroup;
  } catch (error) {
    cgroup[Symbol.dispose]();
    throw error;
  }
}

/** What a machine may lack. Each throws why. */
export const NEEDS = {
  namespaces: () =>
    runSync(['unshare', '--user', '--map-root-user', '--mount', '--net', '--pid', '--fork', 'ip', 'link']),
  'a memory limit': () => limitMemory(2 ** 30)[Symbol.dispose](),
  'two cores': () => {
    if (availableParallelism() < 2) throw new Error('there is one');
  },
};

/** Runs with the results in a file system of this size. */
function inSmall(place: Place, size: string, more?: Record<string, string | number>): Promise<Ended> {
  mkdirSync(place.results);
  const prefix = apart(`mount -t tmpfs -o size=${size} none ${place.results}; ls ${place.results}`);
  return place.start('bench', unruly(more), {}, prefix).ended;
}

/** The time for which processes are stopped: longer than the window. */
const PAUSE_MS = 3500;

/** Starts a run with a long window, and waits until it is open. */
async function startWindow(
  place: Place,
  more: Record<string, string | number> = {},
  env: Record<string, string> = {},
): Promise<Running> {
  const words = ['planted/delays-5-ms', '--stack', PLANTED, ...load({ duration: 3, ...more })];
  const running = place.start('bench', words, env);
  await running.until(() => isLoaded(place), 'the window');
  return running;
}

async function isLoaded(place: Place): Promise<boolean> {
  return ((await place.readAccount())?.requests.read ?? 0) > 100;
}

/** Stops processes, and lets them go on. */
async function pause(pids: readonly number[]): Promise<void> {
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  await sleep(PAUSE_MS);
  for (const pid of pids) process.kill(pid, 'SIGCONT');
}

/** Answers after 5 ms: at full speed, its load would keep two cores busy. */
const SERVER = `require('node:http').createServer((_, answer) => setTimeout(() => answer.end('ok'), 5)).listen(process.env.PORT, '127.0.0.1');`;

/** A server that takes 16 MiB for each request from the 20th on, up to 2 GiB. */
const HUNGRY = `require('node:fs').writeFileSync('/proc/self/oom_score_adj', '0');
  let asked = 0; const kept = []; require('node:http').createServer((_, answer) => {
  if (++asked > 20 && kept.length < 128) kept.push(Buffer.alloc(2 ** 24, 1));
  answer.end('ok');
}).listen(process.env.PORT, '127.0.0.1');`;

/** Writes a project of a user, and returns the words that measure it. */
function writeApp(folder: string, server = SERVER, more?: Record<string, string | number>): string[] {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'server.js'), server);
  return [folder, '--run', 'node server.js', '--get', '/', ...load(more)];
}

/** Measures two trials. In the first window, the clock of the harness and its generators steps by these hours. */
async function stepClock(place: Place, hours: number): Promise<Ended> {
  const [file, step] = ['clock.cjs', 'step'].map((name) => join(place.folder, name)) as [string, string];
  writeFileSync(
    file,
    `const of = Date, { existsSync } = require('node:fs');
let offset = 0;
const timer = setInterval(() => {
  if (!existsSync(${JSON.stringify(step)})) return;
  offset = ${hours * 3_600_000};
  clearInterval(timer);
}, 10).unref();
const now = () => of.now() + offset;
globalThis.Date = new Proxy(of, {
  construct: (_, words, target) => Reflect.construct(of, words.length === 0 ? [now()] : words, target),
  get: (_, name) => (name === 'now' ? now : of[name]),
});`,
  );
  const running = await startWindow(place, { rounds: 2 }, { NODE_OPTIONS: `--require ${file}` });
  writeFileSync(step, '');
  const ended = await running.ended;
  const [before, after] = place.trials().map(({ startedAt }) => Date.parse(startedAt) / 3_600_000);
  const stepped = Math.round((after ?? 0) - (before ?? 0));
  if (stepped !== hours) throw new Error(`the clock stepped by ${stepped} h`);
  return ended;
}

/** A server that leaves its process group with a child, and never takes SIGTERM if that is `stubborn`. */
const LEAVING = `require('node:child_process').spawn('sleep', ['600'], { detached: true, stdio: 'ignore' }).unref(); ${SERVER}`;
const STUBBORN = `process.on('SIGTERM', () => {}); ${SERVER}`;

/** Writes a server and its manifest, and returns the path of that. */
function writeManifest(
  place: Place,
  { server = SERVER, command = ['node', 'server.js'], more = {} },
): string {
  writeFileSync(join(place.folder, 'server.js'), server);
  const file = join(place.folder, 'stack.json');
  const kind = { language: 'javascript', framework: 'none', class: 'raw', runtime: 'none' };
  const variants = { app: { command } };
  const stack = { name: 'shop', ...kind, default: 'app', variants, requests: ['GET /'], ...more };
  writeFileSync(file, JSON.stringify(stack));
  return file;
}

/** Starts `serve` for a server of a user, in a terminal or with a prefix, and waits until it says where that listens. */
async function startServe(
  place: Place,
  {
    prefix = [],
    isTyped = false,
    ...written
  }: { server?: string; command?: string[]; prefix?: string[]; isTyped?: boolean },
): Promise<Running> {
  const words = ['--stack', writeManifest(place, written), '--port', String(await findFreePort())];
  const running = isTyped
    ? place.startInTerminal(['node packages/bench/bench-http.mjs serve', ...words].join(' '))
    : place.start('serve', words, {}, prefix);
  await running.until(() => running.output.includes('Ctrl-C stops it'), 'the server');
  return running;
}

/** Ends a command by SIGKILL, waits until its watchdogs have ended all it started, and lets the next command tidy up. */
async function killAndPrune(place: Place, running: Running): Promise<Ended> {
  running.signal('SIGKILL');
  await running.ended;
  await place.untilGone();
  return place.run('prune', [], place.ownCache);
}

/** A command that is killed while its server has a child in a session of its own. */
const killed = (
  fault: string,
  phase: Phase,
  starts: (place: Place, server: string, prefix: string[]) => Promise<Running>,
  prefix: string[] = [],
): CommandCase => ({
  phase,
  fault,
  run: async (place) => killAndPrune(place, await starts(place, LEAVING, prefix)),
  status: 0,
  says: /had been killed and left \S+bench-\w+-\w+: removed it/,
  kept: [],
  ...(prefix.length > 0 && { needs: 'namespaces' }),
});

/** A command in a folder with this file, which is a link to nothing without a text. The folder may be spoiled. */
interface InProject {
  command: string;
  file?: string;
  text?: string;
  spoil?: string;
}

function inProject(place: Place, { command, file = 'stack.json', text, spoil }: InProject): Promise<Ended> {
  const folder = join(place.folder, 'shop');
  mkdirSync(folder);
  if (text === undefined) symlinkSync(`/nowhere/${file}`, join(folder, file));
  else writeFileSync(join(folder, file), text);
  writeFileSync(join(folder, 'server.js'), SERVER);
  const [name = '', ...words] = command.split(' ');
  if (spoil === undefined) return place.run(name, words, place.ownCache, folder);
  return place.start(name, words, place.ownCache, shell(`cd ${folder}; ${spoil}`)).ended;
}

/** A header that would begin another one. */
const SPLIT = { requests: [{ request: 'GET /', headers: { 'x-a': 'b\r\nx-c: d' } }] };

const NO_CGROUPS = apart('mount -t tmpfs none /sys/fs/cgroup');

const startLeaving = (place: Place, server: string, prefix: string[]): Promise<Running> =>
  startServe(place, { server, prefix });

const servingCases: CommandCase[] = [
  ...(['SIGTERM', 'SIGHUP'] as const).map((signal): CommandCase => ({
    phase: 'stop',
    fault: `serve gets ${signal}`,
    async run(place) {
      const running = await startServe(place, { server: LEAVING });
      running.signal(signal);
      return running.ended;
    },
    status: 130,
    says: /stopping shop/,
    kept: [],
  })),
  {
    phase: 'stop',
    fault: 'serve runs in a shell and a terminal',
    async run(place) {
      const running = await startServe(place, {
        command: ['sh', '-c', 'node server.js; true'],
        isTyped: true,
      });
      running.type('\u0003');
      return running.ended;
    },
    status: 130,
    says: /stopping shop/,
    kept: [],
  },
  {
    phase: 'stop',
    fault: 'serve has a server without SIGTERM',
    async run(place) {
      const running = await startServe(place, { server: STUBBORN });
      running.signal('SIGINT');
      return running.ended;
    },
    status: 130,
    says: /stopping shop\n.*the server ignored SIGTERM for 5 s and was killed/,
    kept: [],
  },
  {
    phase: 'prepare',
    fault: 'serve gets SIGTERM in a build',
    async run(place) {
      const file = writeManifest(place, {
        more: { build: [['sh', '-c', 'sleep 600 & sleep 601', '{build}']] },
      });
      const port = String(await findFreePort());
      const running = place.start('serve', ['--stack', file, '--port', port], place.ownCache);
      await running.until(() => place.pidsOf('sleep 601').length > 0, 'the build');
      running.signal('SIGTERM');
      return running.ended;
    },
    status: 130,
    says: /stopping/,
    kept: [],
  },
  killed('serve is killed', 'stop', startLeaving),
  killed(
    'bench is killed without cgroups',
    'stop',
    async (place, server, prefix) => {
      const words = writeApp(join(place.folder, 'app'), server, { duration: 60 });
      const running = place.start('bench', words, place.ownCache, prefix);
      await running.until(() => place.pidsOf('generator.ts').length > 0, 'the load');
      return running;
    },
    NO_CGROUPS,
  ),
];

export const COMMAND_CASES: CommandCase[] = [
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
    run: (place) => place.run('bench', unruly(), { BENCH_STATE: '/dev/null/state' }),
    status: 2,
    says: /\/dev\/null\/state cannot be created: ENOTDIR.*\n +set XDG_STATE_HOME to a folder of your own/,
    kept: [],
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
    needs: 'namespaces',
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
    run: (place) => place.start('bench', unruly(), {}, NO_CGROUPS).ended,
    status: 0,
    says: /saved in /,
    kept: ['measured'],
    needs: 'namespaces',
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
    fault: 'it gets SIGTERM while it waits for a response',
    async run(place) {
      const asked = join(place.folder, 'asked');
      const words = writeApp(
        join(place.folder, 'app'),
        `require('node:net').createServer((socket) => socket.once('data', () => require('node:fs').writeFileSync(${JSON.stringify(asked)}, ''))).listen(process.env.PORT, '127.0.0.1');`,
      );
      const patient = flags({ timeout: 3600 });
      const running = place.start('bench', [...words, ...patient], place.ownCache);
      await running.until(() => existsSync(asked), 'the first request');
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
    fault: 'all processes are stopped for 3.5 s',
    async run(place) {
      const running = await startWindow(place);
      await pause(place.pids());
      return running.ended;
    },
    status: 0,
    says: /CPU was read too late/,
    kept: ['suspect'],
  },
  {
    phase: 'window',
    fault: 'memory is short',
    async run(place) {
      using _ = limitMemory(2 ** 30);
      // The trial ends with its server.
      const words = writeApp(join(place.folder, 'app'), HUNGRY, { duration: 60 });
      // While a killed server still holds its memory, the kernel would kill another process too.
      const prefix = shell(`echo $$ > ${LIMITED.folder}/cgroup.procs; echo -1000 > /proc/$$/oom_score_adj`);
      const ended = await place.start('bench', words, place.ownCache, prefix).ended;
      await place.untilGone();
      return ended;
    },
    status: 1,
    says: /failed — the server died under load \(ended by signal 9\)/,
    kept: ['failed'],
    needs: 'a memory limit',
  },
  {
    phase: 'window',
    fault: 'the machine runs out of ports',
    run(place) {
      // Each request closes its connection, whose port waits in state 06, TIME_WAIT.
      const script = `until [ $(grep -c " 06 " /proc/net/tcp) -ge 200 ]; do sleep 0.02; done
        cd /proc/sys/net/ipv4; echo 0 > tcp_tw_reuse; echo "40000 40004" > ip_local_port_range`;
      const prefix = apart(`{ (${script}) & }`);
      const words = [...unruly({ connections: 20, duration: 3 }), '--new-connections'];
      return place.start('bench', words, {}, prefix).ended;
    },
    status: 1,
    says: /after the load: this machine has no free port for a connection/,
    kept: ['failed'],
    needs: 'namespaces',
  },
  {
    phase: 'window',
    fault: 'its cores are taken away',
    async run(place) {
      const running = await startWindow(place);
      const all = readCores().map(({ id }) => id);
      for (const pid of place.pidsOf('server.mjs')) {
        const own = readAllowedCores(pid) ?? [];
        const other = all.find((id) => !own.includes(id)) ?? all[0];
        runSync(['taskset', '--all-tasks', '--cpu-list', '--pid', String(other), String(pid)]);
      }
      return running.ended;
    },
    status: 0,
    says: /the server did not stay on its cores/,
    kept: ['suspect'],
    needs: 'two cores',
  },
  {
    phase: 'window',
    fault: 'the clock steps ahead by 5 h',
    run: (place) => stepClock(place, 5),
    status: 0,
    says: /saved in /,
    kept: ['measured', 'measured'],
  },
  {
    phase: 'window',
    fault: 'its terminal closes',
    async run(place) {
      const words = [
        'node',
        'packages/bench/bench-http.mjs',
        'bench',
        'planted/delays-5-ms',
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
    says: /planted/,
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
    says: /error: .*file\/results cannot be created: ENOTDIR.*\n +name another folder/,
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
    needs: 'namespaces',
  },
  {
    phase: 'report',
    fault: 'the disk is full at its end',
    run: (place) => inSmall(place, '120k'),
    status: 0,
    says: /warning: there is no report with charts: .*ENOSPC.*; free some disk space/,
    kept: [],
    needs: 'namespaces',
  },
  {
    phase: 'prepare',
    fault: 'stack.json is a link to nothing',
    run: (place) => inProject(place, { command: 'bench' }),
    status: 2,
    says: /error: stack\.json: cannot be read\n +name the path of a stack\.json/,
    kept: [],
  },
  {
    phase: 'prepare',
    fault: 'stack.json is nested deep',
    run: (place) => inProject(place, { command: 'bench', text: `${'['.repeat(2e5)}${']'.repeat(2e5)}` }),
    status: 2,
    says: /error: stack\.json:1: not JSON: it is nested too deeply/,
    kept: [],
  },
  {
    phase: 'prepare',
    fault: 'its folder is removed',
    run: (place) => inProject(place, { command: 'bench', text: '{}', spoil: 'rm -r "$PWD"' }),
    status: 2,
    says: /error: the current folder no longer exists\n +go to another one/,
    kept: [],
  },
  {
    phase: 'prepare',
    fault: 'a header has a line break',
    run: (place) =>
      inProject(place, {
        command: 'bench http://127.0.0.1:9/ --requests-file requests.json --dry-run',
        file: 'requests.json',
        text: JSON.stringify(SPLIT),
      }),
    status: 2,
    says: /error: GET \/: the value of a header contains a control character/,
    kept: [],
  },
  {
    phase: 'record',
    fault: 'the disk is full after a trial',
    run(place) {
      mkdirSync(place.results);
      const fill = `until ls */trials.jsonl 2>/dev/null; do sleep 0.05; done; dd if=/dev/zero of=filling`;
      const report = `"$1" "$2" report latest`;
      const script = `cd ${place.results}; (${fill}) & cd -; "$@"; code=$?; wait; rm ${place.results}/filling; ${report}; exit $code`;
      const words = ['unshare', '--user', '--map-root-user', '--mount', '--net', 'sh', '-c'];
      const prefix = [`ip link set lo up; mount -t tmpfs -o size=1m none ${place.results}; ${script}`, 'sh'];
      return place.start('bench', unruly({ rounds: 3 }), {}, [...words, ...prefix]).ended;
    },
    status: 2,
    says: /ENOSPC.*\n +free some disk space; what was stored before is kept[^]*devices, 1 of 3 rounds/,
    kept: [],
    needs: 'namespaces',
  },
  {
    phase: 'report',
    fault: 'its output is on a full disk',
    run: (place) => place.start('bench', unruly(), {}, shell('exec >/dev/full')).ended,
    status: 2,
    says: /error: the standard output cannot be written: ENOSPC.*\n +free some disk space; what was stored before is kept/,
    kept: ['measured'],
  },
  ...servingCases,
];
