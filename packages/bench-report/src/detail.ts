import { seenOf } from 'bench-model/trial';
import { countAnswers, describeCount } from 'bench-model/counts';
import { growthOf, memoryByAnswers, type Growth } from 'bench-statistics/growth';
import type { FoundCapacity, Measured, ServerBudget, Step } from 'bench-model/measured';
import { describePromises } from 'bench-model/promise';
import type { CompanionRecords } from 'bench-model/companions';
import type { GeneratorUse, IdleCloses, LoadResult } from 'bench-model/load';
import type { Resources } from 'bench-model/figures';
import type { TimeReport, Trial } from 'bench-model/record';
import { describeUse } from './companions.ts';
import { describeBytes } from 'bench-model/units';
import {
  countOf,
  formatBytes,
  formatCores,
  formatCost,
  formatCount,
  formatShare,
  formatWhole,
} from './format.ts';
import { toLine } from './printable.ts';
import { describeRoutes } from './requests.ts';
import { listGiven, listLatencies } from './words.ts';

/** Describes every trial in full, with the figures that the table omits. */
export function describeDetail(trials: Trial[]): string {
  return trials
    .map((trial) =>
      [`${trial.id}: ${trial.status}`, ...describe(trial).map((line) => `  ${line}`), ''].join('\n'),
    )
    .join('\n');
}

function describe(trial: Trial): string[] {
  const measured = seenOf(trial);
  return [
    ...trial.reasons.map(({ code, text }) => `${code}: ${toLine(text)}`),
    ...(measured === undefined ? [] : describeMeasured(measured)),
    ...(measured?.load === undefined ? [] : describeRoutes(measured.load, trial)),
    ...(trial.time === undefined ? [] : [describeTime(trial.time)]),
    ...(trial.logTail ?? []).map((line) => `log: ${line}`),
  ];
}

function describeTime({ elapsedSeconds, userSeconds, systemSeconds, maxResidentBytes }: TimeReport): string {
  const [elapsed, user, system] = [elapsedSeconds, userSeconds, systemSeconds].map((one) => one ?? '—');
  return `time(1), whole life: ${elapsed} s elapsed, ${user} s user, ${system} s system, ${showBytes(maxResidentBytes)} largest process`;
}

function showBytes(bytes: number | undefined): string {
  return bytes === undefined ? '—' : formatBytes(bytes);
}

function describeBackgroundUse(use: CompanionRecords['background']): string {
  const { seconds, sent, statusCodes, lost, cancelled, durationUs } = use;
  const { mean, p50, max } = durationUs ?? {};
  const parts = listGiven([
    `${sent} sent`,
    ...Object.entries(statusCodes).map(([status, count]) => `${count} with status ${status}`),
    lost > 0 && `${lost} without a response`,
    cancelled > 0 && `${cancelled} unfinished and cancelled`,
  ]);
  const flow = listGiven([parts.join(', '), listLatencies({ p50, mean, max }).join(', ')]);
  return `background, ${seconds.toFixed(1)} s with the warm-up: ${flow.join('; ')}`;
}

function describeMeasured(measured: Partial<Measured>): string[] {
  const { load, server, companions, cpuUsPerRequest, limit, budget, shape, host, capacity, turns } = measured;
  const { background, ...others } = companions ?? {};
  const growth = load && server && growthOf(memoryByAnswers({ load, server, turns }));
  return listGiven([
    ...(load === undefined ? [] : describeLoad(load, turns)),
    ...(capacity === undefined ? [] : describeSearch(capacity)),
    background && describeBackgroundUse(background),
    server && describeServer(server, cpuUsPerRequest),
    growth && describeGrowth(growth),
    ...Object.entries(others).map(([name, use]) => `${name}: ${describeUse(name, use)}`),
    host?.otherProcessesCores !== undefined &&
      `other processes used ${host.otherProcessesCores.toFixed(2)} cores, Bench itself ${(host.harnessCores ?? 0).toFixed(2)}`,
    budget && budget.by !== 'cores' && describeBudget(budget),
    `limit: ${limit ?? 'unknown'}; goodput over the window: ${shape ?? 'unknown'}`,
  ]);
}

function describeServer(
  { scope, source, coresUsed, ...memory }: Resources,
  cpuUs: number | undefined,
): string {
  const cost = cpuUs === undefined ? '' : `, ${formatCost(cpuUs)} µs per request`;
  return `server (${scope}, ${source}): ${coresUsed.toFixed(2)} cores${cost}, ${showBytes(memory.idleBytes)} before the load, ${showBytes(memory.peakBytes)} peak in the window`;
}

/** Describes the load: its connections, the outcome of its requests, their latencies, and what sent them. */
function describeLoad(load: LoadResult, turns: Measured['turns']): string[] {
  const { counts, tls, idleCloses, latencyUs, generators } = load;
  const { atLeast, ...latencies } = latencyUs ?? {};
  const outcomes = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => describeCount(name, count, turns?.answers.length));
  return listGiven([
    describeConnect(load.connect),
    tls && `${tls.protocol}, ${tls.cipher}`,
    idleCloses && `closed by the server while idle: ${describeIdleCloses(idleCloses)}`,
    `${describeWindow(load, turns)}: ${outcomes.join(', ')}`,
    `goodput ${formatCount(load.goodputPerSecond)}/s`,
    describeChecked(load),
    latencyUs && `latency ${listLatencies(latencies, atLeast).join(', ')}`,
    `generators: ${generators.map(describeGenerator).join('; ')}`,
    ...describeCluster(load),
  ]);
}

/** `21 connections after 2.0 s of silence, 2 requests were sent again`. */
export function describeIdleCloses({ count, sentAgain, leastSeconds, mostSeconds }: IdleCloses): string {
  const [least, most] = [leastSeconds, mostSeconds].map((seconds) => seconds.toFixed(1));
  const silence = least === most ? least : `${least} to ${most}`;
  const again =
    sentAgain === 0
      ? ''
      : `, ${formatWhole(sentAgain)} ${sentAgain === 1 ? 'request was' : 'requests were'} sent again`;
  return `${countOf(count, 'connection')} after ${silence} s of silence${again}`;
}

/** Describes the steps of a search, by their rates. */
function describeSearch({ perSecond, bound, by, steps }: FoundCapacity): string[] {
  const found = `${bound === undefined ? '' : `${bound} `}${formatCount(perSecond)}/s at ${describePromises([by])}`;
  return [
    `capacity: ${found}, by ${countOf(steps.length, 'open loop')}`,
    ...steps.toSorted((a, b) => a.perSecond - b.perSecond).map((step) => `  ${describeStep(step)}`),
  ];
}

/** `offered 5,000/s for 2 s, served 4,100/s; p99 411 ms, …`. */
function describeStep({ perSecond, servedPerSecond, failedShare, brokenShare, ...step }: Step): string {
  const flow = [
    `offered ${formatCount(perSecond)}/s for ${step.seconds} s`,
    `served ${formatCount(servedPerSecond)}/s`,
  ];
  const { p50Us, p99Us, p99_9Us, maxUs, cpuUsPerRequest } = step;
  const figures = listGiven([
    ...listLatencies({ p50: p50Us, p99: p99Us, p99_9: p99_9Us, max: maxUs }),
    `${formatShare(brokenShare)} violated the SLO`,
    failedShare > 0 && `${formatShare(failedShare)} failed`,
    cpuUsPerRequest !== undefined && `${formatCost(cpuUsPerRequest)} µs per request`,
    `limit ${step.limit}`,
  ]);
  return `${flow.join(', ')}; ${figures.join(', ')}`;
}

function describeWindow({ windowSeconds }: LoadResult, turns: Measured['turns']): string {
  const seconds = `${windowSeconds.toFixed(3)} s`;
  return turns === undefined
    ? `window ${seconds}`
    : `${countOf(turns.answers.length, 'turn')}, ${seconds} together`;
}

/** Describes the cores that a server used and the most that it could use. */
export function describeBudget({ by, usedCores, usableCores }: ServerBudget): string {
  const used = `${usedCores.toFixed(2)} cores`;
  const most = `${formatCores(usableCores)} at most`;
  if (by === 'cores') return `the server used ${used} and can use ${most}`;
  if (by === 'gil') {
    const processes = usableCores === 1 ? 'its process' : `its ${usableCores} processes`;
    return `${processes} used ${used}; under a GIL, Python code can use ${most}`;
  }
  const [threads, they] = usableCores === 1 ? ['thread', 'it'] : [`${usableCores} threads`, 'they'];
  return `its busiest ${threads} used ${used}; ${they} can use ${most}`;
}

/** Says how many bodies were compared byte by byte; undefined if all of them were. */
function describeChecked({ lifetime, bodiesHashed = Infinity }: LoadResult): string | undefined {
  const answers = lifetime === undefined ? 0 : countAnswers(lifetime);
  return bodiesHashed < answers
    ? `${formatWhole(bodiesHashed)} of ${formatWhole(answers)} bodies checked byte by byte`
    : undefined;
}

function describeGrowth({ estimate, interval: { low, high }, isKept }: Growth): string {
  const figures = `${describeBytes(estimate)} per response (${describeBytes(low)} to ${describeBytes(high)})`;
  return `memory: ${figures}${isKept ? '' : ', no lasting growth'}`;
}

function describeConnect(connect: LoadResult['connect']): string | undefined {
  const { established, planned, seconds, refused, retried } = connect;
  return established === undefined || seconds === undefined
    ? undefined
    : `${established} of ${planned} connections established after ${seconds.toFixed(2)} s (${refused} refused, ${retried} retried)`;
}

/** The part of each generator of a cluster, and what is missing. */
function describeCluster({ cluster }: LoadResult): string[] {
  if (cluster === undefined) return [];
  const { hosts, parts, missing, overlapSeconds } = cluster;
  return [
    `the ${parts.length} generators sent load at the same time for ${overlapSeconds.toFixed(3)} s`,
    ...parts.map(({ host: name, connections, established, goodputPerSecond, skewMs }) => {
      const host = hosts.find((one) => one.name === name);
      const clock = host && `; clock ${formatMs(host.offsetMs)} ± ${host.clockErrorMs.toFixed(1)} ms`;
      return `${name}: ${established} of ${connections} connections, ${formatCount(goodputPerSecond)}/s, window ${formatMs(skewMs)} ms off the plan${clock ?? ''}`;
    }),
    ...missing.map(({ host, why }) => `${host}: no report: ${why}`),
  ];
}

/** `+0.4`, with its sign. */
function formatMs(milliseconds: number): string {
  return `${milliseconds < 0 ? '−' : '+'}${Math.abs(milliseconds).toFixed(1)}`;
}

function describeGenerator({ cpuUs, seconds, cores, utilisation }: GeneratorUse): string {
  const used = `${(cpuUs / 1e6 / seconds).toFixed(2)}${cores === undefined ? '' : ` of ${cores}`} cores`;
  return utilisation === undefined ? used : `${used}, event loop ${Math.round(utilisation * 100)} % busy`;
}
