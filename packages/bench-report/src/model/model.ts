/** The step between analysis and text: every value that a report shows, with its type, and the notes on them. */
import { measuredOf, seenOf } from 'bench-model/trial';
import { cellOf, groupByCell } from 'bench-analysis/cells';
import { placeOf } from 'bench-model/planned';
import { contestRun, type ComparedRun, type Contest } from 'bench-analysis/compare';
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
import { median, medianOf, sum, sumByKey } from 'bench-statistics/numbers';
import { countCompletions, joinIdleCloses } from 'bench-model/counts';
import { thresholdFor } from 'bench-model/options';
import type { Plan } from 'bench-model/plan';
import { isFatal, meaningOf, REASON_CODES } from 'bench-model/reasons';
import { typeBench } from '../printable.ts';
import type { LoadResult } from 'bench-model/load';
import type { Placement, Trial } from 'bench-model/record';
import type { StoredRun } from 'bench-analysis/results/store';
import type {
  LoadHost,
  Model,
  ModelFigure,
  ModelRow,
  ModelServer,
  Point,
  Problem,
  Range,
  RoundHost,
} from './definition.ts';

export type { Model } from './definition.ts';

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
  const summary = summarise(trials);
  const contests = contestAll(source, summary);
  const facts: Omit<Model, 'notes' | 'outcome'> = {
    run: plan.run,
    repeat: source.typed && typeBench(source.typed, plan),
    plan,
    host,
    versions,
    leftOut,
    rounds: { measured: tracker.countRounds(trials), planned: plan.rounds },
    ending: endingOf(source, interrupted, tracker),
    metrics: METRIC_IDS.map((id) => METRICS[id]).map(({ id, label, unit, better }) => ({
      id,
      label,
      unit,
      better,
    })),
    servers: serversOf(plan, trials),
    // In a scaled run, the others use some of its cores.
    placement: trials.map(({ placement }) => placement).toSorted((a, b) => coresOf(b) - coresOf(a))[0],
    companions: trials[0]?.companions,
    sent: sentBy(trials),
    age: ageOf(trials),
    hosts: orAbsent(hostsOf(trials)),
    roundHosts: roundHostsOf(source),
    rows: rankRows(summary, groupByCell(trials), contests, distributions),
    comparisons: contests.map(({ table }) => table),
    scalings: orAbsent(toScalings(summary, plan.targets, trials)),
    problems: problemsOf(summary),
    times: usageOf(trials),
  };
  const noted = { ...facts, notes: notesOf(facts) };
  return { ...noted, outcome: describeOutcome(noted) };
}

/** Returns a list that is not empty; undefined for any other. */
function orAbsent<Item>(list: Item[]): Item[] | undefined {
  return list.length > 0 ? list : undefined;
}

/** Returns the rows with their ranks, their trials and the findings of these about the server. */
function rankRows(
  rows: Row[],
  groups: Map<string, Trial[]>,
  contests: readonly Contest[],
  distributions: boolean,
): ModelRow[] {
  return rows.map((row) => {
    const trials = (groups.get(cellOf(row)) ?? []).toSorted((a, b) => a.round - b.round);
    const measured = trials.flatMap((trial) => measuredOf(trial) ?? []);
    const loads = measured.map(({ load }) => load);
    const ranks = new Map(contests.map(({ table: { by }, ranks: all }) => [by, all.get(cellOf(row))]));
    return {
      ...row,
      figures: figuresOf(row, ranks),
      answered: answersOf(trials),
      idle: measured.flatMap((one) => explainIdle(one) ?? [])[0],
      budget: measured.find(({ limit, budget }) => limit === 'server' && budget && budget.by !== 'cores')
        ?.budget,
      deferredShare: medianOf(trials.map((trial) => seenOf(trial)?.turns?.deferred)),
      background: backgroundOf(trials),
      opened: openedIn(loads),
      idleCloses: joinIdleCloses(loads.flatMap(({ idleCloses }) => idleCloses ?? [])),
      turnover: turnoverOf(trials),
      routes: orAbsent(summariseRoutes(trials)),
      curve: orAbsent(summariseCurve(trials)),
      trials: trials.map(toPoint),
      distribution: distributions ? distributionOf(trials) : undefined,
    };
  });
}

function figuresOf(
  { figures, reasons }: Row,
  ranks: ReadonlyMap<MetricId, number | undefined>,
): ModelRow['figures'] {
  const entries = METRIC_IDS.flatMap((id): [MetricId, ModelFigure][] => {
    const figure = figures[id];
    const against = reasons.flatMap(({ reason }) => (reason.invalidates.includes(id) ? reason.code : []));
    return figure === undefined ? [] : [[id, { ...figure, rank: ranks.get(id), reasons: against }]];
  });
  return Object.fromEntries(entries);
}

/** Counts the responses to the requests of a user by their status; undefined if all were 200. */
function answersOf(trials: Trial[]): ModelRow['answered'] {
  const asked = trials.filter(({ requests }) => requests !== undefined);
  const answered = sumByKey(asked.map((trial) => seenOf(trial)?.load?.statusCodes ?? {}));
  return Object.keys(answered).some((status) => status !== '200') ? answered : undefined;
}

function backgroundOf(trials: Trial[]): ModelRow['background'] {
  const uses = trials.flatMap((trial) => seenOf(trial)?.companions?.background ?? []);
  if (uses.length === 0) return undefined;
  return {
    answered: sum(uses.map(({ statusCodes }) => sum(Object.values(statusCodes)))),
    cancelled: sum(uses.map(({ cancelled }) => cancelled)),
    longestUs: Math.max(0, ...uses.map(({ durationUs }) => durationUs?.max ?? 0)),
  };
}

/** Returns the medians of the connections that were opened in the windows; undefined if no trial counted them. */
function openedIn(loads: LoadResult[]): ModelRow['opened'] {
  const rates = loads.flatMap(({ opened, windowSeconds }) => (opened ? opened.count / windowSeconds : []));
  if (rates.length === 0) return undefined;
  const times = loads.flatMap(({ opened }) => opened?.connectUs ?? []);
  return {
    perSecond: median(rates),
    share: median(loads.flatMap((load) => openedShare(load) ?? [])),
    p50: medianOf(times.map(({ p50 }) => p50)),
    p99: medianOf(times.map(({ p99 }) => p99)),
  };
}

/** Counts the processes that came and went, and the requests that were lost in these trials; undefined if none did. */
function turnoverOf(trials: Trial[]): ModelRow['turnover'] {
  const found = trials.flatMap((trial) => {
    const { load, server } = seenOf(trial) ?? {};
    return load && server?.turnover ? [{ counts: load.counts, ...server.turnover }] : [];
  });
  if (found.length === 0) return undefined;
  const failed = sum(
    found.map(({ counts: { timeout = 0, reset = 0, closedEarly = 0, failed: other = 0 } }) =>
      sum([timeout, reset, closedEarly, other]),
    ),
  );
  return {
    began: sum(found.map(({ began }) => began)),
    ended: sum(found.map(({ ended }) => ended)),
    trials: found.length,
    failed,
    share: failed / Math.max(1, sum(found.map(({ counts }) => countCompletions(counts)))),
  };
}

function toPoint(trial: Trial): Point {
  const { id, round, order, seed, startedAt, status, reasons, logTail, files } = trial;
  const measured = measuredOf(trial);
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
    limit: measured?.limit,
    reasons: [...reasons],
    figures: Object.fromEntries(figures),
    counts: seenOf(trial)?.load?.counts,
    goodputOverTime: goodput.length > 1 ? goodput : undefined,
    memoryOverTime: memory.length > 1 ? memory : undefined,
    logTail: reasons.length > 0 ? logTail : undefined,
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
  const collected = rangeOf(trials.flatMap((trial) => measuredOf(trial)?.age?.collected ?? []));
  return {
    // A record contains more than the plan, such as what --with installed.
    target: first.target,
    runtime: first.runtime,
    interpreter: trials.find((trial) => trial.interpreter)?.interpreter,
    attested: trials.flatMap((trial) => trial.attested)[0],
    collected: collected?.least,
    processes: [...processes.values()],
  };
}

function coresOf({ server = [] }: Placement): number {
  return server.length;
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
  return seconds && { seconds, answers };
}

/** The hosts that sent the load, over all trials that count; none if this machine did. */
function hostsOf(trials: Trial[]): LoadHost[] {
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
      cpuModel,
      cores,
      share: sum(sent.map(({ counts }) => counts.ok)) / all,
      skewMs: Math.max(...sent.map(({ skewMs }) => Math.abs(skewMs))),
      clockErrorMs: Math.max(...own.map(({ clockErrorMs }) => clockErrorMs)),
    };
  });
  return hosts.toSorted((a, b) => (a.name < b.name ? -1 : 1));
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

/** Compares the targets of a run by every metric that one of them has. */
function contestAll(run: ComparedRun, rows: Row[]): Contest[] {
  const { plan } = run;
  const measured = plan.targets.filter(({ id }) => rows.some(({ target }) => target === id));
  if (plan.quick || measured.length < 2) return [];
  return METRIC_IDS.filter((id) => rows.some(({ figures }) => figures[id] !== undefined)).map((by) => {
    const { threshold = thresholdFor(by) } = plan.sequentialTest ?? {};
    return contestRun(run, { by, threshold });
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
