import { seenOf } from 'bench-model/trial';
import { describeIdleCloses } from './idle.ts';
import { countAnswers, describeCount } from 'bench-model/counts';
import { growthOf, memoryByAnswers, type Growth } from 'bench-statistics/growth';
import type { FoundCapacity, Measured, ServerBudget, Step } from 'bench-model/measured';
import { describePromises } from 'bench-model/promise';
import type { CompanionName, CompanionRecords } from 'bench-model/companions';
import type { GeneratorUse, LoadResult } from 'bench-model/load';
import type { Trial } from 'bench-model/record';
import { describeUse } from './companions.ts';
import { describeBytes } from 'bench-model/units';
import {
  countOf,
  formatBytes,
  formatCores,
  formatCost,
  formatCount,
  formatShare,
  formatUs,
  formatWhole,
} from './format.ts';
import { toLine } from './printable.ts';
import { describeRoutes } from './requests.ts';

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
  const { time } = trial;
  return [
    ...trial.reasons.map(({ code, text }) => `${code}: ${toLine(text)}`),
    ...(measured === undefined ? [] : describeMeasured(measured)),
    ...(measured?.load === undefined ? [] : describeRoutes(measured.load, trial)),
    ...(time === undefined
      ? []
      : [
          `time(1), whole life: ${time.elapsedSeconds ?? '—'} s elapsed, ${time.userSeconds ?? '—'} s user, ${time.systemSeconds ?? '—'} s system, ${time.maxResidentBytes === undefined ? '—' : formatBytes(time.maxResidentBytes)} largest process`,
        ]),
    ...(trial.logTail ?? []).map((line) => `log: ${line}`),
  ];
}

function describeBackgroundUse({
  seconds,
  sent,
  statusCodes,
  lost,
  cancelled,
  durationUs,
}: CompanionRecords['background']): string {
  const parts = [
    ...Object.entries(statusCodes).map(([status, count]) => `${count} with status ${status}`),
    ...(lost > 0 ? [`${lost} without a response`] : []),
    ...(cancelled > 0 ? [`${cancelled} unfinished and cancelled`] : []),
  ];
  const { mean, p50, max } = durationUs ?? {};
  const took = [
    ...(p50 === undefined ? [] : [`p50 ${formatUs(p50)}`]),
    ...(mean === undefined ? [] : [`mean ${formatUs(mean)}`]),
    ...(max === undefined ? [] : [`max ${formatUs(max)}`]),
  ];
  return `background, ${seconds.toFixed(1)} s with the warm-up: ${sent} sent, ${parts.join(', ')}${took.length > 0 ? `; ${took.join(', ')}` : ''}`;
}

function describeMeasured({
  load,
  server,
  companions,
  cpuUsPerRequest,
  limit,
  budget,
  shape,
  host,
  capacity,
  turns,
}: Partial<Measured>): string[] {
  const { background, ...others } = companions ?? {};
  const lines: string[] = [];
  if (load !== undefined) {
    const { counts, connect, latencyUs } = load;
    const classes = Object.entries(counts).filter(([, count]) => count > 0);
    lines.push(
      ...describeConnect(connect),
      ...(load.tls === undefined ? [] : [`${load.tls.protocol}, ${load.tls.cipher}`]),
      ...(load.idleCloses === undefined
        ? []
        : [`closed by the server while idle: ${describeIdleCloses(load.idleCloses)}`]),
      `${describeWindow(load, turns)}: ${classes.map(([name, count]) => describeCount(name, count, turns === undefined ? 1 : turns.answers.length)).join(', ')}`,
      `goodput ${formatCount(load.goodputPerSecond)}/s`,
    );
    lines.push(...describeChecked(load));
    if (latencyUs !== undefined) {
      const named = Object.entries(latencyUs).filter(
        (entry): entry is [string, number] => typeof entry[1] === 'number',
      );
      lines.push(
        `latency ${named.map(([name, us]) => `${name.replace('_', '.')} ${latencyUs.atLeast?.includes(name) ? '≥ ' : ''}${formatUs(us)}`).join(', ')}`,
      );
    }
    lines.push(`generators: ${load.generators.map(describeGenerator).join('; ')}`, ...describeCluster(load));
  }
  if (capacity !== undefined) lines.push(...describeSearch(capacity));
  if (background !== undefined) lines.push(describeBackgroundUse(background));
  if (server !== undefined) {
    lines.push(
      `server (${server.scope}, ${server.source}): ${server.coresUsed.toFixed(2)} cores${cpuUsPerRequest === undefined ? '' : `, ${formatCost(cpuUsPerRequest)} µs per request`}, ${server.idleBytes === undefined ? '—' : formatBytes(server.idleBytes)} before the load, ${server.peakBytes === undefined ? '—' : formatBytes(server.peakBytes)} peak in the window`,
    );
    const growth = load && growthOf(memoryByAnswers({ load, server, turns }));
    if (growth !== undefined) lines.push(describeGrowth(growth));
  }
  for (const [name, use] of Object.entries(others))
    lines.push(`${name}: ${describeUse(name as CompanionName, use)}`);
  if (host?.otherProcessesCores !== undefined)
    lines.push(
      `other processes used ${host.otherProcessesCores.toFixed(2)} cores, Bench itself ${(host.harnessCores ?? 0).toFixed(2)}`,
    );
  if (budget !== undefined && budget.by !== 'cores') lines.push(describeBudget(budget));
  lines.push(`limit: ${limit ?? 'unknown'}; goodput over the window: ${shape ?? 'unknown'}`);
  return lines;
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
  const latencies = [
    ['p50', step.p50Us],
    ['p99', step.p99Us],
    ['p99.9', step.p99_9Us],
    ['max', step.maxUs],
  ] as const;
  const figures = [
    ...latencies.flatMap(([name, us]) => (us === undefined ? [] : [`${name} ${formatUs(us)}`])),
    `${formatShare(brokenShare)} violated the SLO`,
    ...(failedShare > 0 ? [`${formatShare(failedShare)} failed`] : []),
    ...(step.cpuUsPerRequest === undefined ? [] : [`${formatCost(step.cpuUsPerRequest)} µs per request`]),
    `limit ${step.limit}`,
  ];
  return `${flow.join(', ')}; ${figures.join(', ')}`;
}

/** The window, or the turns that it consists of. */
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

/** Says how many bodies were compared byte by byte, if not all of them. */
function describeChecked({ lifetime, bodiesHashed }: LoadResult): string[] {
  if (lifetime === undefined || bodiesHashed === undefined) return [];
  const answers = countAnswers(lifetime);
  if (bodiesHashed >= answers) return [];
  return [`${formatWhole(bodiesHashed)} of ${formatWhole(answers)} bodies checked byte by byte`];
}

function describeGrowth({ estimate, interval: { low, high }, isKept }: Growth): string {
  const figures = `${describeBytes(estimate)} per response (${describeBytes(low)} to ${describeBytes(high)})`;
  return `memory: ${figures}${isKept ? '' : ', no lasting growth'}`;
}

function describeConnect({
  established,
  planned,
  seconds,
  refused,
  retried,
}: LoadResult['connect']): string[] {
  if (established === undefined || seconds === undefined) return [];
  return [
    `${established} of ${planned} connections established after ${seconds.toFixed(2)} s (${refused} refused, ${retried} retried)`,
  ];
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
