import { countCompletions, joinIdleCloses } from 'bench-model/counts';
import type { Connect, LoadResult, OwnLoadResult, Warmup } from 'bench-model/load';
import type { Counts } from 'bench-model/figures';
import { present } from 'bench-model/options';
import {
  censoredBeyond,
  encodeHistogram,
  histogramOf,
  mergeHistograms,
  summariseLatency,
  timeoutsOf,
  type Wait,
} from 'bench-statistics/histogram';
import type { LoadReport, ScheduleCounts, TurnResult } from './protocol.ts';
import { sum, sumByKey } from 'bench-statistics/numbers';

/** Splits `total` into `parts` whole shares that differ by at most one and add up to it exactly. */
export function splitShares(total: number, parts: number): number[] {
  const base = Math.floor(total / parts);
  return Array.from({ length: parts }, (_, index) => base + (index < total % parts ? 1 : 0));
}

/** Joins the connections of several processes: sums, and the time of the last to be ready. */
export function mergeConnects(connects: Connect[]): Connect {
  return { ...sumByKey<keyof Connect>(connects), seconds: Math.max(...connects.map((one) => one.seconds)) };
}

/**
 * Merges the reports of all generator processes into one result. Rates are summed over the windows of the processes,
 * which start and end slightly apart. Histograms are merged count by count.
 */
export function mergeReports(
  reports: LoadReport[],
  connect: Connect,
  timeoutSeconds: number,
  engine: string,
): OwnLoadResult {
  const total = (of: (report: LoadReport) => number): number => sum(reports.map(of));
  const known = <T>(of: (report: LoadReport) => T | undefined): T[] =>
    reports.map(of).filter((one) => one !== undefined);
  const counts = mergeCounts(reports.map((report) => report.counts));
  const histogram = mergeHistograms(reports.map((report) => report.latencyHistogram));
  const shortest = known(({ shortestHistogram }) => shortestHistogram);
  const censored = censoredBeyond(histogram, mergeHistograms(known(({ openAges }) => openAges)));
  const unanswered = censoredBeyond(histogram, mergeHistograms(known((report) => report.unansweredAges)));
  const waits = [...censored, ...timeoutsOf(counts.timeout, timeoutSeconds)];
  const cycles = total((report) => report.cycleUs.count);
  const crossed = known((report) => report.crossed);
  const warmups = known(({ warmup }) => warmup);
  const opened = known((report) => report.opened);
  const cpus = known(({ slices }) => slices.cpuUs);
  const unsolicited = known((report) => report.unsolicited);
  const { planned, seconds } = connect;
  return {
    engine,
    connect: { ...mergeConnects(reports.map((report) => report.connect)), planned, seconds },
    windowSeconds: total((report) => report.windowSeconds) / reports.length,
    openedAtMs: Math.min(...reports.map((report) => report.openedAtMs)),
    closedAtMs: Math.max(...reports.map((report) => report.closedAtMs)),
    counts,
    lifetime: mergeCounts(reports.map((report) => report.lifetime)),
    statusCodes: sumByKey(reports.map((report) => report.statusCodes)),
    goodputPerSecond: total((report) => report.counts.ok / report.windowSeconds),
    completionsPerSecond: total((report) => countCompletions(report.counts) / report.windowSeconds),
    latencyUs: summariseLatency(histogram, waits),
    latencyHistogram: histogram.totalCount > 0 ? encodeHistogram(histogram) : undefined,
    ...(shortest.length === reports.length && {
      latencyAtLeastUs: summariseLatency(mergeHistograms(shortest), waits),
    }),
    meanCycleUs: cycles > 0 ? total((report) => report.cycleUs.sum) / cycles : undefined,
    silentConnections: total((report) => report.silentConnections),
    slices: {
      milliseconds: reports[0]?.slices.milliseconds ?? 0,
      ok: addColumns(reports.map((report) => report.slices.ok)),
      ...(cpus.length === reports.length && { cpuUs: addColumns(cpus) }),
    },
    bodyBytes: known((report) => report.bodyBytes)[0],
    bodiesHashed: total((report) => report.bodiesHashed),
    generators: reports.map((report) => report.use),
    ...present({
      censoredHistogram: censored.length > 0 ? encodeHistogram(histogramOf(censored)) : undefined,
      unanswered: countUnanswered(unanswered),
      timing: mergeTimings(known(({ timing }) => timing)),
      opened: opened.length < reports.length ? undefined : mergeOpened(opened),
      tls: known(({ tls }) => tls)[0],
      idleCloses: joinIdleCloses(known(({ idleCloses }) => idleCloses).flat()),
      warmup: warmups.length === reports.length ? mergeWarmups(warmups) : undefined,
      routes: mergeRoutes(reports, timeoutSeconds),
      firstWrong: known((report) => report.firstWrong).toSorted((a, b) => a.seconds - b.seconds)[0],
      crossed: crossed.length > 0 ? sum(crossed) : undefined,
      unsolicited: unsolicited.length > 0 ? sum(unsolicited) : undefined,
      schedule: mergeSchedules(reports, waits),
    }),
  };
}

/** Merges the schedules of an open loop, with the latencies since the requests were sent; undefined in a closed loop. */
function mergeSchedules(reports: LoadReport[], waits: readonly Wait[]): LoadResult['schedule'] {
  const schedules = reports.flatMap(({ schedule }) => schedule ?? []);
  if (schedules.length === 0) return undefined;
  const counts = sumByKey<keyof ScheduleCounts>(schedules);
  const sinceSent = mergeHistograms(reports.flatMap((report) => report.sinceSentHistogram ?? []));
  if (sinceSent.totalCount === 0) return counts;
  const sinceSentUs = summariseLatency(sinceSent, waits);
  return { ...counts, ...(sinceSentUs && { sinceSentUs }) };
}

/** Counts the requests that were never answered, by their waits with the shortest first; undefined without any. */
function countUnanswered(waits: readonly Wait[]): LoadResult['unanswered'] {
  const [shortest] = waits;
  return shortest && { count: sum(waits.map(({ count }) => count)), leastUs: shortest.us };
}

/** Merges the accounts of one turn by all generator processes. */
export function mergeTurns(turns: readonly TurnResult[]): TurnResult {
  return {
    seconds: Math.max(...turns.map(({ seconds }) => seconds)),
    answers: sum(turns.map(({ answers }) => answers)),
    goodputPerSecond: sum(turns.map(({ goodputPerSecond }) => goodputPerSecond)),
  };
}

/** Merges the connections that were opened in the windows. */
function mergeOpened(all: NonNullable<LoadReport['opened']>[]): LoadResult['opened'] {
  const connectUs = summariseLatency(mergeHistograms(all.flatMap(({ connects }) => connects ?? [])));
  return { count: sum(all.map(({ count }) => count)), ...(connectUs && { connectUs }) };
}

function mergeWarmups(warmups: Warmup[]): Warmup {
  return {
    milliseconds: warmups[0]?.milliseconds ?? 0,
    ok: addColumns(warmups.map(({ ok }) => ok)),
    answers: sum(warmups.map(({ answers }) => answers)),
  };
}

/** Merges the accounts of each route; undefined if the requests have one route only. */
function mergeRoutes(reports: LoadReport[], timeoutSeconds: number): LoadResult['routes'] {
  return reports[0]?.routes?.map((_, route) => {
    const parts = reports.flatMap((report) => report.routes?.[route] ?? []);
    const counts = mergeCounts(parts.map((part) => part.counts));
    const histogram = mergeHistograms(parts.map((part) => part.latencyHistogram));
    const ages = mergeHistograms(parts.flatMap(({ openAges = [] }) => openAges));
    const latencyUs = summariseLatency(histogram, [
      ...censoredBeyond(histogram, ages),
      ...timeoutsOf(counts.timeout, timeoutSeconds),
    ]);
    return {
      counts,
      lifetime: mergeCounts(parts.map((part) => part.lifetime)),
      ...(latencyUs === undefined ? {} : { latencyUs }),
    };
  });
}

/** Merges the times that answers reported; undefined if none did. */
function mergeTimings(timings: NonNullable<LoadReport['timing']>[]): LoadResult['timing'] {
  const [first] = timings;
  const toldUs = summariseLatency(mergeHistograms(timings.map(({ told }) => told)));
  const restUs = summariseLatency(mergeHistograms(timings.map(({ rest }) => rest)));
  return first && toldUs && restUs && { metric: first.metric, toldUs, restUs };
}

/** Adds up the counts of all processes. */
export function mergeCounts(all: Counts[]): Counts {
  return sumByKey(all) as Counts;
}

function addColumns(rows: number[][]): number[] {
  const length = Math.max(0, ...rows.map((row) => row.length));
  return Array.from({ length }, (_, column) => sum(rows.map((row) => row[column] ?? 0)));
}
