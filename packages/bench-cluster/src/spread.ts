/** A run whose rounds are spread over identical hosts: prepares and compares them, and sends them whole rounds. */
import { measuredOf } from 'bench-model/trial';
import { wholeWaits } from 'bench-http/plan/turns';
import { planAlone } from 'bench-http/plan/alone';
import type { Job, MeasuredRun } from 'bench-http/conduct/job';
import { noteRun } from 'bench-http/conduct/begun';
import { estimateSeconds } from 'bench-model/planned';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { trackRun } from 'bench-analysis/due';
import { judgeHosts, keepHosts, type HostFigures } from 'bench-analysis/hosts';
import { keepTime } from 'bench-analysis/time-budget';
import { unlikeHosts } from 'bench-analysis/unlike';
import type { Spread } from 'bench-model/cluster';
import { DisposableStack } from '@whatwg-node/disposablestack';
import { BenchError, TrialError, UsageError } from 'bench-model/errors';
import { present } from 'bench-model/options';
import { commandLine } from 'bench-machine/home';
import type { HostMessage, HostOrder, PreparedHost } from './host-protocol.ts';
import { openHosts, type OpenHosts, type ProgramHost } from './hosts.ts';
import { runSpread, type HostRound, type RoundHost } from './rounds.ts';
import type { Plan } from 'bench-model/plan';
import { describeJudged } from 'bench-report/hosts';
import { countOf } from 'bench-report/format';
import { showProgress } from 'bench-report/progress';
import type { Trial } from 'bench-model/record';
import type { JudgedHost, Versions } from 'bench-model/run';
import { appendTrials, createRun, keepStops, mendRun } from 'bench-analysis/results/store';
import { RUN_SCHEMA } from 'bench-model/versions';
import { refuseOtherHost, refuseOtherVersions, stopsOf } from 'bench-http/conduct/measure';
import { NOTHING_YET, SAVED } from 'bench-http/terminal/voice';

/** The A/A trials of each host: enough for a 95 % interval, and short. */
const AA = { servers: 5, windowSeconds: 1, warmupSeconds: 1 };

/** The longest that a host may take to prepare: its targets may have to be built. */
const PREPARE_SECONDS = 3600;

/**
 * Measures a plan on its hosts, and stores the run on this machine. Throws a usage or toolchain error before the first round
 * if the hosts are not alike. `open` joins them.
 */
export async function measureSpread(
  { request, session, voice }: Job,
  open: (spec: Spread, log: (line: string) => void) => Promise<OpenHosts> = openHosts,
): Promise<MeasuredRun> {
  const { resumed, isNamed, typed } = request;
  // Nobody tries its targets: they are on other hosts.
  const plan = request.outline;
  const { spread, ...alone } = plan;
  if (spread === undefined) throw new Error('a plan without hosts');
  const known = [...(resumed?.trials ?? [])];
  const describeStop = (): string => (known.length > 0 ? SAVED : NOTHING_YET);
  using interrupts = new DisposableStack();
  interrupts.use(voice.onInterrupt(() => voice.quit(() => session[Symbol.dispose]()), describeStop));
  await using cluster = await open(spread, voice.log);
  const all = cluster.hosts;
  const ready = await prepareAll(all, { plan: alone, isNamed });
  const [{ host, placement, versions, targets, leftOut }] = ready;
  if (resumed !== undefined) {
    refuseOtherHost(resumed, host, placement);
    refuseOtherVersions(resumed, versions);
  }
  const judged = await judgeAll(all, alone, { isNamed, targets, threshold: spread.threshold });
  for (const line of describeJudged(judged, spread.threshold)) voice.log(line);
  const kept = keepHosts(judged);
  if (kept.length === 0) throw refuseHosts(judged, spread.threshold);
  const made = { schema: RUN_SCHEMA, plan, versions, leftOut, hosts: judged, ...present({ typed }) };
  const folder = resumed?.folder ?? createRun(made, host);
  const stopped = stopsOf(resumed);
  if (resumed === undefined) noteRun(folder);
  else {
    mendRun(folder);
    keepStops(folder, stopped, resumed.stops);
  }

  let isStopped = false;
  const stop = (): void => {
    isStopped = true;
    for (const one of all) one.stop();
  };
  interrupts.use(voice.onInterrupt(stop, describeStop));
  const tracker = trackRun(plan, stopped);
  const { sequentialTest } = plan;
  const looks = sequentialTest === undefined ? [] : tracker.foreseen.schedule;
  const hosts = all
    .filter(({ name }) => kept.includes(name))
    .map((one): RoundHost => ({
      name: one.name,
      placement,
      measure: (planned) => measureOn(one, { plan: { ...alone, trials: [...planned] }, isNamed, folder }),
    }));
  const before = known.slice();
  const mayBegin = keepTime(plan, tracker, { before, atOnce: hosts.length });
  const { trials, left } = await runSpread(
    plan,
    { hosts, targets: new Set(targets), before },
    {
      async record(measured) {
        appendTrials(folder, measured);
        known.push(...measured);
      },
      decide: (so) => (mayBegin(so) && request.goesOn?.(plan, so) !== false ? 'continue' : 'stop'),
      due: tracker.due,
      nextLook: (round) => looks.find(({ rounds }) => rounds >= round)?.rounds ?? Infinity,
      begun: (name, round) => voice.log(`${name} begins round ${round}`),
      interrupted: () => isStopped,
      now: () => Date.now(),
      on: showProgress(plan, voice.screen, { tracker, before }),
    },
  );
  if (left > 0) {
    voice.log(
      `no host is left, and ${countOf(left, 'round')} were not measured; to continue: ${commandLine(`bench --resume ${plan.run}`)}`,
    );
  }
  const stops = tracker.stopsAfter(trials);
  keepStops(folder, stops, stopped);
  const run = { schema: RUN_SCHEMA, plan, stops, versions, leftOut, hosts: resumed?.hosts ?? judged };
  return { run: { ...run, folder, host, trials }, interrupted: isStopped };
}

/** Makes the targets of a plan ready on a host. Throws a trial error that names it. */
async function prepareOn(host: ProgramHost, order: Omit<HostOrder, 'do'>): Promise<PreparedHost> {
  let found: PreparedHost | undefined;
  await host
    .ask({ do: 'prepare', ...order }, PREPARE_SECONDS, (message) => {
      if (message.event === 'prepared') found = message.prepared;
    })
    .catch((error: Error) => {
      throw new TrialError(`${host.name}: ${error.message}`);
    });
  if (found === undefined) throw new TrialError(`${host.name} did not say what it has prepared`);
  return found;
}

/** Measures the trials of a plan on a host, in order. Files of a trial are written into the folder. Never throws. */
async function measureOn(
  host: ProgramHost,
  { plan, isNamed, folder }: Omit<HostOrder, 'do'> & { folder?: string },
): Promise<HostRound> {
  const trials: Trial[] = [];
  try {
    await host.ask({ do: 'measure', plan, isNamed }, longestRound(plan), (message) => {
      if (message.event !== 'trial') return;
      trials.push(message.trial);
      if (folder !== undefined) writeFiles(folder, message);
    });
    return { trials };
  } catch (error) {
    return { trials, lost: (error as Error).message };
  }
}

/** The longest time that a round may take: twice its estimate, and all that a server or its connections may take to be ready. */
function longestRound(plan: Plan): number {
  const { trials, startSeconds, barrierSeconds } = plan;
  return 2 * estimateSeconds(plan) + (trials.length + 1) * (startSeconds + barrierSeconds);
}

function writeFiles(folder: string, { trial, files }: Extract<HostMessage, { event: 'trial' }>): void {
  for (const name of trial.files) {
    const text = files[name];
    if (text === undefined) continue;
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

/** Prepares all hosts at the same time. Throws a usage error if they are not alike. */
async function prepareAll(
  hosts: readonly ProgramHost[],
  order: Omit<HostOrder, 'do'>,
): Promise<[PreparedHost, ...PreparedHost[]]> {
  const ready = await Promise.all(hosts.map((host) => prepareOn(host, order)));
  const [first, ...others] = ready as [PreparedHost, ...PreparedHost[]];
  const names = hosts.map(({ name }) => name);
  const found = others.flatMap((other, index) =>
    describeUnlike(first, other).map((text) => `${names[index + 1]}, unlike ${names[0]}: ${text}`),
  );
  if (found.length > 0) {
    throw new UsageError(
      `rounds can only be spread over equal hosts: ${found.join('; ')}`,
      'give the role to equal hosts only, with the same toolchains',
    );
  }
  return [first, ...others];
}

function describeUnlike(one: PreparedHost, other: PreparedHost): string[] {
  const [here, there] = [describeConditions(one), describeConditions(other)];
  const names = [...new Set([...Object.keys(here), ...Object.keys(there)])];
  return [
    ...unlikeHosts(one.host, other.host),
    ...names
      .filter((name) => here[name] !== there[name])
      .map((name) => `${name}: ${here[name] ?? 'absent'} and ${there[name] ?? 'absent'}`),
  ];
}

function describeConditions({ versions, placement }: PreparedHost): Versions {
  return { ...versions, placement: JSON.stringify(placement) };
}

/** Measures A/A trials on all hosts at the same time: fresh servers of the first target. */
async function judgeAll(
  hosts: readonly ProgramHost[],
  plan: Plan,
  { isNamed, targets, threshold }: { isNamed: boolean; targets: readonly string[]; threshold: number },
): Promise<JudgedHost[]> {
  const first = plan.targets.filter(({ id }) => targets.includes(id)).slice(0, 1);
  const aa: Plan = {
    ...planAlone(plan, `${plan.run}-aa`, first, AA.servers),
    windowSeconds: wholeWaits(Math.min(AA.windowSeconds, plan.windowSeconds), plan.waitSeconds),
    warmupSeconds: Math.max(Math.min(AA.warmupSeconds, plan.warmupSeconds), plan.waitSeconds ?? 0),
  };
  const figures = await Promise.all(
    hosts.map(async (host): Promise<HostFigures> => {
      const { trials, lost } = await measureOn(host, { plan: aa, isNamed });
      const cpuUs = trials.flatMap((trial) => measuredOf(trial)?.cpuUsPerRequest ?? []);
      const why = lost ?? trials[0]?.reasons[0]?.text ?? 'its trials have no CPU per request';
      // A host that is lost has fewer figures than its interval needs.
      return lost === undefined && cpuUs.length > 0
        ? { name: host.name, cpuUs }
        : { name: host.name, cpuUs: [], why };
    }),
  );
  return judgeHosts(figures, threshold);
}

function refuseHosts(judged: readonly JudgedHost[], threshold: number): BenchError {
  return new TrialError(
    `no more than half of the hosts agree: ${describeJudged(judged, threshold).join('; ')}`,
    'find out which of them are slow, or raise "threshold" of "spread"',
  );
}
