/** Merges the reports of generators on several hosts, whose clocks differ. Pure. */
import { countCompletions } from 'bench-model/counts';
import { sum } from 'bench-statistics/numbers';
import type { ClusterLoad, Connect, HostPart, HostUse, OwnLoadResult } from 'bench-model/load';
import { mergeReports } from 'bench-load/merge';
import type { LoadReport } from 'bench-load/protocol';

const SLICE_MS = 100;

/** The report of one generator, with its host and the connections that it was asked for. */
export interface HostReport {
  host: HostUse;
  connections: number;
  report: LoadReport;
}

/** The circumstances of a load by several hosts. */
interface ClusterFacts {
  /** Counts of the connections of all generators, and the time to establish them. */
  connect: Connect;
  timeoutSeconds: number;
  /** The planned opening of all windows, in ms since the epoch on the clock of this host. */
  opensAtMs: number;
  planned: number;
  missing: ClusterLoad['missing'];
  allowedSkewMs: number;
}

/** A span of time in ms. */
interface Span {
  fromMs: number;
  toMs: number;
}

/**
 * Merges the reports that arrived, at least one. Counts and histograms are those of all windows. Goodput and slices are
 * those of the overlap, on the clock of this host.
 */
export function mergeHosts(parts: readonly HostReport[], facts: ClusterFacts): OwnLoadResult {
  const { connect, timeoutSeconds, opensAtMs, planned, missing, allowedSkewMs } = facts;
  const aligned = parts.map(align);
  const overlap = intersect(aligned.map(spanOf));
  const overlapMs = overlap.toMs - overlap.fromMs;
  // Missing generators are judged as such, not as connections that nobody answered.
  const arrived = { ...connect, planned: sum(parts.map((part) => part.connections)) };
  const merged = mergeReports(aligned, arrived, timeoutSeconds, 'autocannon');
  const ok = sum(aligned.map((report) => countWithin(report, overlap)));
  return {
    ...merged,
    goodputPerSecond: overlapMs === 0 ? 0 : (ok / overlapMs) * 1000,
    slices: { milliseconds: SLICE_MS, ok: sliceAgain(aligned, overlap) },
    cluster: {
      planned,
      hosts: [...new Map(parts.map(({ host }) => [host.name, host])).values()],
      parts: aligned.map((report, index) => describePart(parts[index] as HostReport, report, opensAtMs)),
      missing,
      overlapSeconds: overlapMs / 1000,
      allowedSkewMs,
    },
  };
}

/** Returns a report on the clock of this host. */
function align({ report, host }: HostReport): LoadReport {
  return {
    ...report,
    openedAtMs: report.openedAtMs - host.offsetMs,
    closedAtMs: report.closedAtMs - host.offsetMs,
  };
}

function describePart({ host, connections }: HostReport, report: LoadReport, opensAtMs: number): HostPart {
  const { counts, cycleUs, windowSeconds } = report;
  return {
    host: host.name,
    connections,
    established: report.connect.established,
    counts,
    goodputPerSecond: counts.ok / windowSeconds,
    completionsPerSecond: countCompletions(counts) / windowSeconds,
    ...(cycleUs.count === 0 ? {} : { meanCycleUs: cycleUs.sum / cycleUs.count }),
    silentConnections: report.silentConnections,
    skewMs: report.openedAtMs - opensAtMs,
  };
}

function spanOf({ openedAtMs, windowSeconds }: LoadReport): Span {
  return { fromMs: openedAtMs, toMs: openedAtMs + windowSeconds * 1000 };
}

/** The span that all of them share; of length 0 if there is none. */
function intersect(spans: readonly Span[]): Span {
  const fromMs = Math.max(...spans.map((span) => span.fromMs));
  return { fromMs, toMs: Math.max(fromMs, Math.min(...spans.map((span) => span.toMs))) };
}

/** Returns the correct responses of a report in a span. A slice at its edge counts in proportion. */
function countWithin(report: LoadReport, within: Span): number {
  const { milliseconds, ok } = report.slices;
  const window = spanOf(report);
  return sum(
    ok.map((count, index) => {
      const fromMs = window.fromMs + index * milliseconds;
      // The last slice ends with the window.
      const toMs = Math.min(fromMs + milliseconds, Math.max(window.toMs, fromMs));
      if (toMs === fromMs) return fromMs >= within.fromMs && fromMs <= within.toMs ? count : 0;
      const common = Math.min(toMs, within.toMs) - Math.max(fromMs, within.fromMs);
      return (count * Math.max(0, common)) / (toMs - fromMs);
    }),
  );
}

/** Cuts the overlap into slices of equal length; an incomplete last one is dropped. Their sum is rounded once, not in each. */
function sliceAgain(reports: readonly LoadReport[], { fromMs, toMs }: Span): number[] {
  const slices = Math.floor((toMs - fromMs) / SLICE_MS + 1e-6);
  const until = (slice: number): number => {
    const span = { fromMs, toMs: fromMs + slice * SLICE_MS };
    return Math.round(sum(reports.map((report) => countWithin(report, span))));
  };
  const edges = Array.from({ length: slices + 1 }, (_, slice) => until(slice));
  return edges.slice(1).map((edge, index) => edge - (edges[index] ?? 0));
}
