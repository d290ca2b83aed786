/** Preflight: checks if this machine can carry a plan, and says what to change if not. Pure: facts in, findings out. */

import { UsageError } from 'bench-model/errors';
import { present } from 'bench-model/options';
import { SPARE_FILES, type MachineFacts } from './facts.ts';

/** The demands of a plan on the machine. */
interface PreflightNeeds {
  /** The highest number of connections in any trial. */
  connections: number;
  /** The generator processes, which share the connections. */
  generators: number;
  serverCores: number;
  /** Client addresses of the generators, 1 by default: each has its own range of ephemeral ports. */
  addresses?: number;
}

/** One finding. `stop`: the plan cannot be measured. `warn`: figures will be worse or noisier. */
export interface Finding {
  level: 'ok' | 'warn' | 'stop';
  what: string;
  advice?: string;
}

/** CPU of other processes above which a trial is suspect, in cores. */
const BUSY_CORES = 0.1;

/** Returns the number of connections to one port of a server that the ephemeral ports of one address allow. */
function countPorts({ first, last }: NonNullable<MachineFacts['ephemeralPorts']>): number {
  return last - first + 1;
}

type Check = (facts: MachineFacts, needs: PreflightNeeds) => Finding | undefined;

/** Checks all known facts and returns one finding each, the worst first. */
export function preflight(facts: MachineFacts, needs: PreflightNeeds): Finding[] {
  const order = { stop: 0, warn: 1, ok: 2 };
  return CHECKS.map((check) => check(facts, needs))
    .filter((finding) => finding !== undefined)
    .toSorted((a, b) => order[a.level] - order[b.level]);
}

/** Throws a usage error if `--cores` asks for more cores than this machine has. */
export function refuseCores(wanted: number | undefined, cores: number): void {
  if (wanted === undefined || wanted <= cores) return;
  throw new UsageError(
    `this machine has ${coresOf(cores)}; --cores ${wanted} is not possible`,
    cores > 1 ? `--cores ${cores - 1} leaves one core for the load` : 'omit --cores',
  );
}

const ok = (what: string): Finding => ({ level: 'ok', what });
const warn = (what: string, advice?: string): Finding => ({ level: 'warn', what, ...present({ advice }) });
const stop = (what: string, advice: string): Finding => ({ level: 'stop', what, advice });

const checkOpenFiles: Check = ({ openFiles, platform }, { connections }) => {
  if (openFiles === undefined) return undefined;
  const need = connections + SPARE_FILES;
  const { soft, hard } = openFiles;
  const allowed = `open files: ${figure(hard)} allowed`;
  if (hard >= need) {
    const lifted = soft >= need ? '' : `, the soft limit of ${figure(soft)} is raised`;
    return ok(`${allowed}, ${figure(need)} needed${lifted}`);
  }
  return stop(
    `${allowed}, but server and generator each need ${figure(need)} for ${figure(connections)} connections`,
    platform === 'darwin'
      ? `sudo launchctl limit maxfiles ${need} ${need}, then a new terminal`
      : `raise the hard limit: sudo prlimit --nofile=${need}:${need} --pid $$`,
  );
};

const checkPorts: Check = ({ ephemeralPorts, platform }, { connections, addresses = 1 }) => {
  if (ephemeralPorts === undefined) return undefined;
  const ports = countPorts(ephemeralPorts) * addresses;
  const what = `ephemeral ports: ${figure(ports)} for ${figure(connections)} connections`;
  if (ports >= connections) return ok(what);
  return stop(
    what,
    platform === 'darwin'
      ? 'sudo sysctl -w net.inet.ip.portrange.first=32768'
      : 'sudo sysctl -w net.ipv4.ip_local_port_range="1024 65535", or more client addresses (any 127.x.y.z)',
  );
};

const checkTimeWait: Check = (facts, { connections, addresses = 1 }) => {
  const { ephemeralPorts, timeWaitReused, timeWaitSeconds, platform } = facts;
  if (ephemeralPorts === undefined || timeWaitSeconds === undefined) return undefined;
  const ports = countPorts(ephemeralPorts) * addresses;
  const stays = `TIME_WAIT: ports stay taken for ${timeWaitSeconds} s`;
  if (platform === 'darwin') {
    if (ports >= 2 * connections) return undefined;
    return warn(
      `${stays}; two trials of ${figure(connections)} connections within that exhaust ${figure(ports)}`,
      'sudo sysctl -w net.inet.tcp.msl=1000, or pause between trials',
    );
  }
  if (timeWaitReused === undefined) return undefined;
  if (timeWaitReused) return ok('TIME_WAIT: ports can be reused after one second');
  const most = figure(Math.floor(ports / timeWaitSeconds));
  return warn(
    `${stays} (tcp_tw_reuse is 0), so a server that closes each connection gets at most ${most} requests per second`,
    'sudo sysctl -w net.ipv4.tcp_tw_reuse=2',
  );
};

/** The queue sets the pace of the connects, so a short one only takes longer. */
const checkAcceptQueue: Check = ({ somaxconn }) =>
  somaxconn === undefined
    ? undefined
    : ok(`accept queue: up to ${figure(somaxconn)}, if the server requests it`);

const checkOtherProcesses: Check = ({ otherProcessesCores, load, cores }) => {
  const advice = 'stop other programs; above 10 % of a core a trial is suspect';
  if (otherProcessesCores !== undefined) {
    const what = `other processes use ${otherProcessesCores.toFixed(2)} cores`;
    return otherProcessesCores > BUSY_CORES ? warn(what, advice) : ok(what);
  }
  if (load === undefined) return undefined;
  const what = `load average ${load.toFixed(2)} on ${cores} cores`;
  return load > Math.max(0.5, cores / 4) ? warn(what, advice) : ok(what);
};

const checkGovernor: Check = ({ governor }) => {
  if (governor === undefined) return undefined;
  const what = `frequency governor: ${governor}`;
  return governor === 'performance' ? ok(what) : warn(what, 'sudo cpupower frequency-set -g performance');
};

const checkPower: Check = ({ onBattery }) => {
  if (onBattery === undefined) return undefined;
  return onBattery
    ? warn('on battery: the CPU may save power', 'connect the power supply')
    : ok('on mains power');
};

const checkThrottling: Check = ({ throttled = 0 }) =>
  throttled === 0
    ? undefined
    : warn(
        `the CPU was throttled ${figure(throttled)} times during this check`,
        'let it cool down, or raise the CPU quota of this container',
      );

const checkCores: Check = ({ cores }, { serverCores, generators }) => {
  const all = coresOf(cores);
  if (cores >= serverCores + generators) return ok(all);
  return cores < serverCores + 1
    ? warn(
        `${all} for a server on ${serverCores} and its load: they compete for CPU time`,
        'read CPU per request rather than goodput',
      )
    : warn(
        `${all} for a server on ${serverCores} and ${generators} generators: the generators share`,
        `use ${cores - serverCores} generators`,
      );
};

const checkPinning: Check = ({ unpinned, platform }) => {
  if (unpinned === undefined) return ok('server and generator can be pinned to separate cores');
  const advice = platform === 'linux' ? 'install util-linux' : undefined;
  return warn(`not pinned to cores: ${unpinned}`, advice);
};

const checkTime: Check = ({ time, platform }) => {
  if (time) return ok('/usr/bin/time works');
  const advice = platform === 'linux' ? 'apt install time' : undefined;
  return warn('/usr/bin/time is missing: reports lack the totals of each server', advice);
};

const CHECKS: readonly Check[] = [
  checkOpenFiles,
  checkPorts,
  checkTimeWait,
  checkAcceptQueue,
  checkOtherProcesses,
  checkGovernor,
  checkPower,
  checkThrottling,
  checkCores,
  checkPinning,
  checkTime,
];

function coresOf(cores: number): string {
  return cores === 1 ? '1 core' : `${figure(cores)} cores`;
}

function figure(value: number): string {
  return Number.isFinite(value) ? value.toLocaleString('en') : 'any number';
}
