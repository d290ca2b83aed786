import { keyOfPlace, takesTurns } from 'bench-model/planned';
import { describeRoundHosts } from './hosts.ts';
import { describeLoad, engineNamed, isUsualLoad } from 'bench-model/engines';
import { closeReport, type Circumstances } from './closing.ts';
import type { View } from './content.ts';
import { toCurveView } from './curve.ts';
import { describeAsking } from './requests.ts';
import type { Placement } from 'bench-model/record';
import { describeInterpreters } from './interpreters.ts';
import { commandLine } from 'bench-machine/home';
import { joinWords } from 'bench-targets/catalogue/projects/words';
import { describeHead } from './companions.ts';
import type { Plan } from 'bench-model/plan';
import type { Host } from 'bench-model/host';
import { countOf, formatRange, formatWhole } from './format.ts';
import type { Model, Range } from './model/definition.ts';
import { listNotes } from './notes.ts';
import { toScalingView } from './scaling.ts';
import {
  describeCopies,
  describeDisturbance,
  describeSpan,
  describeMix,
  describeTurns,
  describeWorkers,
  describeWorkload,
} from './plan.ts';
import { decidingMetric } from './leaders.ts';
import { toTable } from './table.ts';
import { listGiven } from './words.ts';

/** The parts of a view that can be longer. */
export interface Extent extends Circumstances {
  /** Lists the rows that each failed check affects, instead of counting trials. */
  detail?: boolean;
}

/** Builds the view of a run: rows grouped by rung, with notes that explain each status. */
export function toView(
  model: Model,
  { detail = false, isExplained = false, isForeign = false }: Extent = {},
): View {
  const { rows } = model;
  const brief = {
    setting: describeBriefly(model),
    notes: describeAsking(model.plan.userRequests, model.sent),
  };
  return {
    title: titleOf(model),
    setting: describeSetting(model),
    brief: detail ? undefined : brief,
    ...toTable(rows, decidingMetric(model), model),
    ...(detail && { shareable: [] }),
    beside: [toScalingView(model), toCurveView(rows)].flatMap((table) => table ?? []),
    notes: [...listNotes(model, detail ? 'full' : 'brief'), ...(detail ? [] : nameDetail(model))],
    closing: closeReport(model, { isExplained, isForeign }),
  };
}

/** Names the command that shows the trials with a problem; empty without any. */
function nameDetail({ problems, run }: Model): string[] {
  return problems.length === 0
    ? []
    : [`Which trials, and why: ${commandLine(joinWords(['report', run, '--detail']))}`];
}

/** `devices, 3 rounds`: the workload of a run and its extent. */
export function titleOf({ plan, rounds }: Pick<Model, 'plan' | 'rounds'>): string {
  return `${describeWorkload(plan)}, ${describeRounds(plan, rounds)}${plan.quick ? ' — quick run (--quick): too short for comparisons' : ''}`;
}

/** `3 rounds`; `11 of 24 rounds` if the run was stopped. One until decided has had as many as it needed. */
function describeRounds({ sequentialTest }: Plan, { measured, planned }: Model['rounds']): string {
  const isStopped = sequentialTest === undefined && measured < planned;
  return isStopped ? `${formatWhole(measured)} of ${countOf(planned, 'round')}` : countOf(measured, 'round');
}

/** The machine, the time and an unusual load in one line, and what is compared in another. */
function describeBriefly({ plan, host }: Pick<Model, 'plan' | 'host'>): string[] {
  const load = isUsualLoad(plan.load) ? undefined : describeLoad(plan.load);
  const facts = listGiven([`run ${plan.run}`, describeMachine(host), load]);
  return listGiven([facts.join(', '), [...describeApps(plan), ...describeCopies(plan)].join('; ')]);
}

/** The conditions of the measurement, one fact per line. */
export function describeSetting(model: Model): string[] {
  const { plan, host, placement } = model;
  return [
    `run ${plan.run}, seed ${plan.seed}, ${describeSpan(plan)}, timeout ${plan.timeoutSeconds} s`,
    describeMachine(host),
    ...(placement === undefined
      ? []
      : [
          [
            describeSender(plan),
            ...(plan.attached === undefined ? [describeWorkers(plan, ' per server')] : []),
            describePlacement(placement),
          ].join(', '),
          ...describeHosts(model),
          ...describeRoundHosts(model.roundHosts ?? [], plan.spread?.threshold ?? 0),
          ...describeApps(plan),
          ...describeCopies(plan),
          ...describeAttached(model),
          ...describeMix(plan),
          ...describeTurns(plan, serversAtOnce(model)),
          ...describeInterpreters(model.servers),
          ...describeAge(model),
          ...describeCollected(model),
          ...describeAsking(plan.userRequests, model.sent),
          ...describeEngine(plan),
          ...describeCompanions(model),
          ...describeDisturbance(plan),
        ]),
  ];
}

/** The servers that took turns in a round: fewer than planned if some were skipped, failed to start or were decided early. */
function serversAtOnce({ plan, rows }: Model): Range {
  const rounds = rows
    .filter(({ connections }) => takesTurns(plan, connections))
    .flatMap((row) => row.trials.map(({ round }) => `${keyOfPlace(row)} ${round}`));
  const counts = [...Map.groupBy(rounds, (round) => round).values()].map(({ length }) => length);
  return { least: Math.min(...counts), most: Math.max(0, ...counts) };
}

/** One line for each host of a cluster that sent load: its hardware, its share, its clock. */
function describeHosts({ hosts = [] }: Model): string[] {
  return hosts.map(({ name, cpuModel, cores, share, skewMs, clockErrorMs }) =>
    [
      `load from ${[name, cpuModel, cores && countOf(cores, 'core')].filter(Boolean).join(', ')}: ${Math.round(share * 100)} % of the responses`,
      `windows within ${skewMs.toFixed(1)} ms of the plan`,
      `clock ± ${clockErrorMs.toFixed(1)} ms`,
    ].join(', '),
  );
}

/** The commands of the apps, as they were typed. */
function describeApps({ apps = [] }: Plan): string[] {
  return apps.map(({ name, command, folder }) => `${name}: ${joinWords(command)} in ${folder}`);
}

/** Describes the process of each server that was already running, and the processes that replaced it. */
function describeAttached({ plan: { attached = [] }, servers }: Model): string[] {
  return attached.map(({ target }) => {
    const name = attached.length === 1 ? 'server' : target;
    const own = servers.filter((server) => attached.length === 1 || server.target.id === target);
    const [first, ...others] = own.flatMap(({ processes }) => processes);
    if (first === undefined)
      return `${name}: already running, its process is unknown, so its CPU and memory are not measured`;
    const { pid, version, executable, command } = first;
    const restarts = others.length === 0 ? '' : `; restarted as ${others.map((one) => one.pid).join(', ')}`;
    const words = [`process ${pid}`, version ?? executable, command?.join(' ')];
    return `${name}: already running, ${words.filter((word) => word !== undefined).join(', ')}${restarts}`;
  });
}

/** The range of the ages of the servers when their windows opened; empty if no record has them. */
function describeAge({ age }: Model): string[] {
  if (age === undefined) return [];
  const given = age.answers === undefined ? '' : `, ${formatRange(age.answers, formatWhole)} responses`;
  return [`process age at the window: ${formatRange(age.seconds, (value) => value.toFixed(1))} s${given}`];
}

/** Says which Node servers collected garbage before the load; empty without a Node server. */
function describeCollected({ servers }: Model): string[] {
  const missed = servers.filter(({ collected }) => collected === 0);
  return listGiven([
    servers.some(({ collected = 0 }) => collected > 0) &&
      'Node servers ran one full garbage collection before the load',
    ...missed.map(
      ({ target }) =>
        `${target.id}: no garbage collection before the load, because the server could not be asked for it`,
    ),
  ]);
}

/** The engine with its load mode and its generators; a closed loop is the default and is not mentioned. */
function describeSender({ engine, load, generators }: Plan): string {
  const isThreaded = engineNamed(engine)?.generators === 'threads';
  const mode = isUsualLoad(load) ? '' : `, ${describeLoad(load)},`;
  return `${engine}${mode} in ${countOf(generators, isThreaded ? 'thread' : 'process')}`;
}

/** The note on an engine other than the default. */
function describeEngine({ engine: name }: Plan): string[] {
  const engine = engineNamed(name);
  return engine === undefined || name === 'autocannon' ? [] : [`${name}: ${engine.note}`];
}

/** One line for each companion of the servers. */
function describeCompanions({ companions = {}, placement }: Model): string[] {
  const where = (name: string): string => {
    const cores = Object.entries(placement?.beside ?? {}).find(([one]) => one === name)?.[1];
    return cores === undefined || placement?.kind !== 'separate' ? '' : ` on core ${cores.join(',')}`;
  };
  return Object.entries(companions).flatMap(([name, head]) => {
    const words = describeHead(name, head);
    return words === undefined ? [] : [`${name}: ${words}${where(name)}`];
  });
}

/** The machine in one line. */
export function describeMachine({ virtualised, cpuModel, cores, platform, release }: Host): string {
  return listGiven([virtualised && 'VM', cpuModel, `${cores} cores`, `${platform} ${release}`]).join(', ');
}

function describePlacement({ kind, server, generator }: Placement): string {
  if (kind === 'separate')
    return `server on core ${server?.join(',')}, generator on core ${generator?.join(',')}`;
  if (generator === undefined) return 'nothing pinned to cores';
  const load = `generator on core ${generator.join(',')}`;
  if (kind === 'unpinned') return `the server’s cores are unknown, ${load}`;
  return server?.join() === generator.join()
    ? 'server and generator share the cores'
    : `the server is not pinned (cores ${server?.join(',')}), ${load}`;
}
