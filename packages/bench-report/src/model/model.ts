/** The step between analysis and text: every value that a report shows, with its type, and the notes on them. */
import { measuredOf, seenOf } from 'bench-model/trial';
import { cellOf, groupByCell } from 'bench-analysis/cells';
import { keyOfPlace, placeOf, placesOf } from 'bench-model/planned';
import { compareWithin, contestRun, rankPlace, type ComparedRun } from 'bench-analysis/compare';
import { endingOf, trackRun } from 'bench-analysis/due';
import { summariseCurve } from 'bench-analysis/curve';
import { describeOutcome } from '../closing.ts';
import { notesOf } from '../notes.ts';
import { distributionOf } from 'bench-analysis/distribution';
import { explainIdle } from 'bench-analysis/idle';
import { openedShare } from 'bench-analysis/judge/judge';
import { figureOf } from 'bench-analysis/metrics';
import { goodputOverTime, memoryOverTime } from 'bench-analysis/over-time';
import { summariseRoutes } from 'bench-analysis/routes';
import { toScalings } from 'bench-analysis/scaling';
import { summarise, type Row } from 'bench-analysis/summary';
import { usageOf } from 'bench-analysis/times';
import { METRIC_IDS, METRICS, type MetricId } from 'bench-model/metrics';
import { median, sum, sumByKey } from 'bench-statistics/numbers';
import { countCompletions, joinIdleCloses } from 'bench-model/counts';
import { present, thresholdFor } from 'bench-model/options';
import type { Plan } from 'bench-model/plan';
import { isFatal, meaningOf, REASON_CODES } from 'bench-model/reasons';
import { typeBench } from '../printable.ts';
import type { Trial } from 'bench-model/record';
import type { StoredRun } from 'bench-analysis/results/store';
import type {
  LoadHost,
  Model,
  ModelComparisons,
  ModelFigure,
  ModelRow,
  ModelServer,
  Point,
  Problem,
  Range,
  RoundHost,
} from './definition.ts';

export type { Model, ModelFigure, ModelRow, ModelServer, Point, Problem } from './definition.ts';

/** The stored run that a report shows. */
export type Source = Pick<
  StoredRun,
  'plan' | 'stops' | 'host' | 'versions' | 'typed' | 'leftOut' | 'hosts' | 'trials'
> & {
  /** True if the run was interrupted; absent if nobody knows. */
  interrupted?: boolean;
};

/** The parts of a model that take long to compute. */
export interface Parts {
  /** Merges the latency histograms of every row: about 1 ms per trial. */
  distributions?: boolean;
}

/** Builds the model of a run. */
export function toModel(source: Source, { distributions = false }: Parts = {}): Model {
  const { plan, host, versions, leftOut, trials, interrupted } = source;
  const tracker = trackRun(plan, source.stops);
  const ending = endingOf(source, interrupted, tracker);
  const summary = summarise(trials);
  const contests = contestAll(source, summary);
  const rows = rankRows(summary, groupByCell(trials), contests, distributions);
  const [first] = trials;
  const age = ageOf(trials);
  const hosts = hostsOf(trials);
  const roundHosts = roundHostsOf(source);
  const sent = sentBy(trials);
  const scalings = toScalings(summary, plan.targets, trials);
  const facts: Omit<Model, 'notes' | 'outcome'> = {
    run: plan.run,
    ...(source.typed && { repeat: typeBench(source.typed, plan) }),
    plan,
    host,
    versions,
    leftOut,
    ...(plan.quick && { quick: true }),
    rounds: { measured: tracker.countRounds(trials), planned: plan.rounds },
    ...(ending && { ending }),
    metrics: METRIC_IDS.map((id) => ({
      id,
      label: METRICS[id].label,
      unit: METRICS[id].unit,
      better: METRICS[id].better,
    })),
    servers: serversOf(plan, trials),
    ...(first && { placement: largestPlacement(trials) }),
    ...(first?.companions && { companions: first.companions }),
    ...(sent && { sent }),
    ...(age && { age }),
    ...(hosts && { hosts }),
    ...(roundHosts && { roundHosts }),
    rows,
    comparisons: contests.map(({ table }) => table),
    ...(scalings.length > 0 && { scalings }),
    problems: problemsOf(summary),
    times: usageOf(trials),
  };
  const noted = { ...facts, notes: notesOf(facts) };
  const outcome = describeOutcome(noted);
  return { ...noted, ...(outcome && { outcome }) };
}

/** Returns the rows with their ranks, their trials and the findings of these about the server. */
function rankRows(
  rows: Row[],
  groups: Map<string, Trial[]>,
  contests: readonly Contest[],
  distributions: boolean,
): ModelRow[] {
  const ranks = new Map<string, Partial<Record<MetricId, number>>>();
  for (const { by, ranksAt } of contests) {
    for (const row of rows) {
      const rank = ranksAt.get(keyOfPlace(row))?.get(row.target);
      if (rank === undefined) continue;
      ranks.set(cellOf(row), { ...ranks.get(cellOf(row)), [by]: rank });
    }
  }
  return rows.map((row) => {
    const trials = (groups.get(cellOf(row)) ?? []).toSorted((a, b) => a.round - b.round);
    const distribution = distributions ? distributionOf(trials) : undefined;
    const routes = summariseRoutes(trials);
    const curve = summariseCurve(trials);
    return {
      ...row,
      figures: figuresOf(row, ranks.get(cellOf(row)) ?? {}),
      ...describeServers(trials),
      ...describeOpened(trials),
      ...describeIdleCloses(trials),
      ...describeTurnover(trials),
      ...(routes.length > 0 && { routes }),
      ...(curve.length > 0 && { curve }),
      trials: trials.map(toPoint),
      ...(distribution && { distribution }),
    };
  });
}

function figuresOf(row: Row, ranks: Partial<Record<MetricId, number>>): ModelRow['figures'] {
  const entries = METRIC_IDS.flatMap((id): [MetricId, ModelFigure][] => {
    const figure = row.figures[id];
    if (figure === undefined) return [];
    const rank = ranks[id];
    const reasons = row.reasons.filter(({ reason }) => reason.invalidates.includes(id));
    return [
      [
        id,
        { ...figure, ...(rank !== undefined && { rank }), reasons: reasons.map(({ reason }) => reason.code) },
      ],
    ];
  });
  return Object.fromEntries(entries);
}

/** Returns what the trials of a row say of the server itself: its responses, its saturation, its deferred work, its background requests. */
function describeServers(
  trials: Trial[],
): Pick<ModelRow, 'answered' | 'idle' | 'budget' | 'deferredShare' | 'background'> {
  const parts = trials.map((trial) => seenOf(trial) ?? {});
  const saturated = trials.flatMap((trial) => {
    const { limit, budget } = measuredOf(trial) ?? {};
    return limit === 'server' && budget !== undefined && budget.by !== 'cores' ? [budget] : [];
  });
  const uses = parts.flatMap(({ companions }) => companions?.background ?? []);
  const deferred = parts.flatMap(({ turns }) => turns?.deferred ?? []);
  const [budget] = saturated;
  const [idle] = trials.flatMap(
    (trial) => (trial.status === 'failed' ? undefined : explainIdle(trial.measured)) ?? [],
  );
  const answered = sumByKey(
    trials.flatMap((trial, index): Record<string, number>[] => {
      const { statusCodes } = parts[index]?.load ?? {};
      return trial.requests === undefined || statusCodes === undefined ? [] : [statusCodes];
    }),
  );
  return {
    ...(Object.keys(answered).some((status) => status !== '200') && { answered }),
    ...(idle && { idle }),
    ...(budget && { budget }),
    ...(deferred.length > 0 && { deferredShare: median(deferred) }),
    ...(uses.length > 0 && {
      background: {
        answered: sum(uses.map(({ statusCodes }) => sum(Object.values(statusCodes)))),
        cancelled: sum(uses.map(({ cancelled }) => cancelled)),
        longestUs: Math.max(0, ...uses.map(({ durationUs }) => durationUs?.max ?? 0)),
      },
    }),
  };
}

/** Returns the medians of the connections that were opened in the windows; empty if no trial counted them. */
function describeOpened(trials: Trial[]): Pick<ModelRow, 'opened'> {
  const loads = trials.flatMap((trial) => measuredOf(trial)?.load ?? []);
  const counted = loads.flatMap(({ opened, windowSeconds }) =>
    opened ? [{ ...opened, windowSeconds }] : [],
  );
  if (counted.length === 0) return {};
  const times = counted.flatMap(({ connectUs }) => connectUs ?? []);
  const [p50, p99] = (['p50', 'p99'] as const).map((name) => {
    const values = times.flatMap((one) => one[name] ?? []);
    return values.length === 0 ? undefined : median(values);
  });
  return {
    opened: {
      perSecond: median(counted.map(({ count, windowSeconds }) => count / windowSeconds)),
      share: median(loads.flatMap((load) => openedShare(load) ?? [])),
      ...present({ p50, p99 }),
    },
  };
}

/** Joins the idle closes of the trials; empty without any. */
function describeIdleCloses(trials: Trial[]): Pick<ModelRow, 'idleCloses'> {
  const loads = trials.flatMap((trial) => measuredOf(trial)?.load ?? []);
  const idleCloses = joinIdleCloses(loads.flatMap((load) => load.idleCloses ?? []));
  return idleCloses === undefined ? {} : { idleCloses };
}

/** Counts the processes that came and went, and the requests that were lost in these trials; empty if none did. */
function describeTurnover(trials: Trial[]): Pick<ModelRow, 'turnover'> {
  const found = trials.flatMap((trial) => {
    const { load, server } = seenOf(trial) ?? {};
    return load === undefined || server?.turnover === undefined
      ? []
      : [{ counts: load.counts, ...server.turnover }];
  });
  if (found.length === 0) return {};
  const failed = sum(
    found.map(({ counts: { timeout = 0, reset = 0, closedEarly = 0, failed: other = 0 } }) =>
      sum([timeout, reset, closedEarly, other]),
    ),
  );
  return {
    turnover: {
      began: sum(found.map(({ began }) => began)),
      ended: sum(found.map(({ ended }) => ended)),
      trials: found.length,
      failed,
      share: failed / Math.max(1, sum(found.map(({ counts }) => countCompletions(counts)))),
    },
  };
}

function toPoint(trial: Trial): Point {
  const { id, round, order, seed, startedAt, status, reasons, logTail, files } = trial;
  const measured = measuredOf(trial);
  const { counts } = seenOf(trial)?.load ?? {};
  const goodput = measured === undefined ? [] : goodputOverTime(measured.load);
  const memory = memoryOverTime(measured?.server?.memoryOverTime ?? []);
  const figures = METRIC_IDS.flatMap((metric) => {
    const figure = figureOf(trial, METRICS[metric]);
    return figure === undefined ? [] : [[metric, figure] as const];
  });
  return {
    id,
    round,
    order,
    seed,
    startedAt,
    status,
    ...(measured && { limit: measured.limit }),
    reasons: [...reasons],
    figures: Object.fromEntries(figures),
    ...(counts && { counts }),
    ...(goodput.length > 1 && { goodputOverTime: goodput }),
    ...(memory.length > 1 && { memoryOverTime: memory }),
    ...(reasons.length > 0 && logTail && { logTail }),
    files,
  };
}

/** Returns the measured targets in the order of the plan. */
export function serversOf({ targets }: Plan, trials: Trial[]): ModelServer[] {
  const ids = targets.map(({ id }) => id);
  return [...Map.groupBy(trials, ({ target }) => target.id).values()]
    .map(toServer)
    .toSorted((a, b) => ids.indexOf(a.target.id) - ids.indexOf(b.target.id));
}

function toServer(trials: Trial[]): ModelServer {
  const [first] = trials as [Trial];
  const processes = new Map(
    trials.flatMap(({ process }) => (process === undefined ? [] : [[process.pid, process]])),
  );
  const [attested] = trials.flatMap((trial) => trial.attested);
  const [interpreter] = trials.flatMap((trial) => trial.interpreter ?? []);
  const collected = rangeOf(trials.flatMap((trial) => measuredOf(trial)?.age?.collected ?? []));
  return {
    // A record contains more than the plan, such as what --with installed.
    target: first.target,
    ...(first.runtime && { runtime: first.runtime }),
    ...(interpreter && { interpreter }),
    ...(attested && { attested }),
    ...(collected && { collected: collected.least }),
    processes: [...processes.values()],
  };
}

/** Returns the placement of the server with the most cores: in a scaled run, the others use some of these. */
function largestPlacement([first, ...others]: Trial[]): Trial['placement'] {
  return others.reduce(
    (largest, { placement }) =>
      (placement.server?.length ?? 0) > (largest.server?.length ?? 0) ? placement : largest,
    (first as Trial).placement,
  );
}

/** Returns the requests of the first trial; a request whose check differed between trials has the weakest. */
function sentBy(trials: Trial[]): Model['sent'] {
  const all = trials.flatMap(({ requests }) => requests ?? []);
  const [first] = all;
  if (first === undefined) return undefined;
  const byStatus = new Set(
    all.flatMap(({ requests }) =>
      requests.filter(({ check }) => check === 'status').map(({ method, path }) => `${method} ${path}`),
    ),
  );
  // Each trial of requests that are measured one at a time sent another one.
  const distinct = new Map(
    all.flatMap(({ requests }) => requests.map((one) => [JSON.stringify({ ...one, check: undefined }), one])),
  );
  return {
    ...first,
    requests: [...distinct.values()].map((one) =>
      byStatus.has(`${one.method} ${one.path}`) ? { ...one, check: 'status' } : one,
    ),
  };
}

function ageOf(trials: Trial[]): Model['age'] {
  const ages = trials.flatMap((trial) => measuredOf(trial)?.age ?? []);
  const seconds = rangeOf(ages.map(({ secondsSinceStart }) => secondsSinceStart));
  const answers = rangeOf(ages.flatMap((age) => age.answers ?? []));
  return seconds && { seconds, ...(answers && { answers }) };
}

/** The hosts that sent the load, over all trials that count; undefined if this machine did. */
function hostsOf(trials: Trial[]): LoadHost[] | undefined {
  const loads = trials.flatMap((trial) => measuredOf(trial)?.load.cluster ?? []);
  const parts = loads.flatMap((load) => load.parts);
  const all = sum(parts.map(({ counts }) => counts.ok));
  const uses = Map.groupBy(
    loads.flatMap((load) => load.hosts),
    ({ name }) => name,
  );
  const hosts = [...uses].map(([name, own]): LoadHost => {
    const { cpuModel, cores } = own[0] ?? {};
    const sent = parts.filter(({ host }) => host === name);
    return {
      name,
      ...(cpuModel === undefined ? {} : { cpuModel }),
      ...(cores === undefined ? {} : { cores }),
      share: sum(sent.map(({ counts }) => counts.ok)) / all,
      skewMs: Math.max(...sent.map(({ skewMs }) => Math.abs(skewMs))),
      clockErrorMs: Math.max(...own.map(({ clockErrorMs }) => clockErrorMs)),
    };
  });
  return hosts.length === 0 ? undefined : hosts.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** The hosts that the rounds were spread over. One that joined when the run was resumed was not compared with the others. */
function roundHostsOf({ hosts, trials }: Source): RoundHost[] | undefined {
  if (hosts === undefined) return undefined;
  const own = Map.groupBy(trials, ({ host }) => host);
  const known = new Set(hosts.map(({ name }) => name));
  const joined = [...own.keys()].flatMap((name) =>
    name === undefined || known.has(name)
      ? []
      : [{ name, verdict: 'unknown' as const, why: 'which joined when the run was resumed' }],
  );
  return [...hosts, ...joined].map((host) => {
    const rounds = new Set((own.get(host.name) ?? []).map(({ round }) => round));
    return { ...host, rounds: [...rounds].toSorted((a, b) => a - b) };
  });
}

function rangeOf(values: number[]): Range | undefined {
  return values.length === 0 ? undefined : { least: Math.min(...values), most: Math.max(...values) };
}

/** The comparison of all targets by one metric, and what comes from it. */
interface Contest {
  by: MetricId;
  /** The ranks of targets, by the keys of places. */
  ranksAt: Map<string, Map<string, number>>;
  table: ModelComparisons;
}

/** Compares the targets of a run by every metric that one of them has. */
function contestAll(run: ComparedRun, rows: Row[]): Contest[] {
  const { plan } = run;
  const measured = plan.targets.filter(({ id }) => rows.some(({ target }) => target === id));
  if (plan.quick || measured.length < 2) return [];
  return METRIC_IDS.filter((id) => rows.some(({ figures }) => figures[id] !== undefined)).map((by) => {
    const { threshold = thresholdFor(by) } = plan.sequentialTest ?? {};
    const contested = contestRun(run, { by, threshold });
    const { baseline = '', rows: compared } = compareWithin(run, { by, threshold }, contested);
    return {
      by,
      ranksAt: new Map(
        placesOf(plan).map(
          (place) => [keyOfPlace(place), rankPlace(plan, contested, place, threshold)] as const,
        ),
      ),
      table: { by, threshold, baseline, rows: compared },
    };
  });
}

/** Returns each kind of reason with its rows: in the order of the codes, but disturbances by the number of their trials. */
function problemsOf(rows: Row[]): Problem[] {
  const seen = rows.flatMap((row) => row.reasons.map((one) => ({ row, ...one })));
  const problems = [...Map.groupBy(seen, ({ reason }) => reason.code).values()].map((all): Problem => {
    const [{ reason }] = all as [(typeof all)[number]];
    const places = all.map(({ row, rounds }) => ({
      target: row.target,
      ...placeOf(row),
      rounds,
      of: row.rounds,
    }));
    return { reason, isFatal: isFatal(reason), places };
  });
  return problems.toSorted((a, b) => placeAmong(a) - placeAmong(b) || countTrials(b) - countTrials(a));
}

/** The place of a problem among the reasons; all disturbances share the last. */
function placeAmong({ reason }: Problem): number {
  return meaningOf(reason).kind === 'disturbance' ? REASON_CODES.length : REASON_CODES.indexOf(reason.code);
}

function countTrials({ places }: Problem): number {
  return sum(places.map(({ rounds }) => rounds));
}
