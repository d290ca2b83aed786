/** Plans the warm-up of each target of a run: from known warm-ups, or from studies within a fifth of its time. */
import {
  estimateSeconds,
  leastWarmupSeconds,
  longestSeconds,
  takesTurns,
  LONGEST_WARMUP_SECONDS,
} from 'bench-model/planned';
import { commandLine } from 'bench-machine/home';
import { spareSeconds } from 'bench-analysis/time-budget';
import { workloadOf } from 'bench-targets/catalogue/workloads/index';
import { planAlone } from '../plan/alone.ts';
import { fitTurns } from '../plan/by-turns.ts';
import type { Plan, PlannedWarmup } from 'bench-model/plan';
import {
  fewestBusy,
  isUncertain,
  kindOfRung,
  planTogether,
  planWarmup,
  rungOfStudy,
  tellsNothing,
  type KnownWarmup,
  type RungKind,
} from '../plan/warmup.ts';
import type { Launchable, Prepared } from 'bench-targets/prepare/prepare';
import { factsOf, findWarmup, type TargetFacts } from './known.ts';
import { observeTargets, PROCESS_SECONDS, whyNoStudy, type StudyMachine } from './study.ts';

/** The part of the time of a run that it may spend on studies. */
const STUDY_SHARE = 1 / 5;
/** A process is observed for at least this time: default warm-ups end in it, and a level after them shows. */
const SHORTEST_SECONDS = 8;
/** No process is observed for longer: a warm-up that a plan may choose ends in half of it. */
const LONGEST_SECONDS = 2 * LONGEST_WARMUP_SECONDS;

/** A plan with the warm-up of each target. */
interface Learned {
  plan: Plan;
  interrupted: boolean;
}

/** Returns the plan with the warm-ups that are known, after studies of targets that are not. */
export async function planWarmups(
  plan: Plan,
  prepared: readonly Launchable[],
  machine: StudyMachine,
): Promise<Learned> {
  if (plan.warmups !== undefined || plan.quick || plan.attached !== undefined)
    return { plan, interrupted: false };
  const own = prepared.flatMap((one) => ('attached' in one ? [] : [one]));
  const all = own.map((one) => ({ one, facts: factsOf(one, plan, machine) }));
  if (plan.autoWarmup !== true)
    return { plan: { ...plan, warmups: planTargets(plan, all) }, interrupted: false };
  // A study loads by short turns, which cannot hold the answers of slow servers.
  const interrupted = fitTurns(plan.answerSeconds) ? await study(plan, all, machine) : false;
  const unsettled = all.filter(({ facts }) => {
    const known = findWarmup(facts, kindOfRung(fewestBusy(plan.rungs)));
    return known !== undefined && tellsNothing(known, plan.warmupSeconds);
  });
  if (unsettled.length > 0) machine.voice.log(describeUnsettled(unsettled.map(({ one }) => one.target.id)));
  return { plan: { ...plan, warmups: planTargets(plan, all) }, interrupted };
}

/** A target and the facts of its warm-up. */
interface Candidate {
  one: Prepared;
  facts: TargetFacts;
}

/** Studies the targets of which too little is known. Returns true if it was interrupted. */
async function study(plan: Plan, all: readonly Candidate[], machine: StudyMachine): Promise<boolean> {
  const { voice, session } = machine;
  const kind = kindOfRung(fewestBusy(plan.rungs));
  // Repeated targets share everything that their warm-up depends on.
  const distinct = [...Map.groupBy(all, (one) => keyOf(one, plan, kind)).values()].flatMap((alike) => {
    const known = knownAmong(alike, kind);
    return known === undefined || isUncertain(known) ? (alike[0] ?? []) : [];
  });
  if (distinct.length === 0) return false;
  const { routes = [] } = workloadOf(plan).draw(() => 0.5, plan.params ?? {});
  if (routes.some(({ once }) => once !== undefined)) {
    voice.log('the warm-up is not studied, because a study would use up rows: each is sent once');
    return false;
  }
  const { count, seconds } = whyNoStudy() === undefined ? planStudies(plan, distinct.length) : NO_STUDIES;
  const due = distinct.slice(0, count);
  const left = distinct.slice(count).map(({ one }) => one.target.id);
  if (due.length === 0) {
    voice.log(describeUnknown(left, plan));
    return false;
  }
  const names = due.map(({ one }) => one.target.id).join(', ');
  voice.log(
    `studying the warm-up of ${names} for ${seconds} s${due.length > 1 ? ' each' : ''}: it is not known on this machine yet. Later runs use the result`,
  );
  if (left.length > 0)
    voice.log(`warning: this run has no time to study the warm-up of ${left.join(', ')} too`);
  const alone = planAlone(
    { ...plan, rungs: [rungOfStudy(plan.rungs)] },
    `${plan.run}-warmup`,
    due.map(({ one }) => one.target),
  );
  const measured = await observeTargets(
    { plan: alone, seconds, spare: 0, prepared: due.map(({ one }) => one) },
    machine,
  );
  session.expect(estimateSeconds(plan));
  return measured.interrupted;
}

/**
 * Returns what the warm-up of a target depends on. Copies of one project differ little, so those that take turns share a study: if
 * one of them needs longer, their ratio changes during the warm-up, which then goes on.
 */
function keyOf({ one, facts }: Candidate, plan: Plan, kind: RungKind): string {
  const { sources, ...others } = facts.facts[kind];
  const isShared = one.target.copy !== undefined && takesTurns(plan, fewestBusy(plan.rungs));
  return JSON.stringify(isShared ? others : { ...others, sources });
}

/** Returns what is known of the first of these targets that was studied. */
function knownAmong(alike: readonly Candidate[], kind: RungKind): KnownWarmup | undefined {
  for (const { facts } of alike) {
    const known = findWarmup(facts, kind);
    if (known !== undefined) return known;
  }
  return undefined;
}

/** The studies that a run can afford: the number of targets, and the time for each. */
interface AffordableStudies {
  count: number;
  seconds: number;
}

const NO_STUDIES: AffordableStudies = { count: 0, seconds: 0 };

/**
 * Plans the studies of a run that knows nothing of this many targets: together at most a fifth of its time. A budget leaves them the time
 * beside the rounds to its first look, or, if that is too short for all of them, beside the rounds that a comparison needs.
 */
export function planStudies(plan: Plan, unknown: number): AffordableStudies {
  const shortest = SHORTEST_SECONDS + PROCESS_SECONDS;
  const { toLook, toStop } = spareSeconds(plan);
  const spare = toLook >= unknown * shortest ? toLook : Math.max(0, toStop);
  const budget = Math.min(STUDY_SHARE * longestSeconds(plan), spare);
  const count = Math.min(unknown, Math.floor(budget / shortest));
  if (count === 0) return NO_STUDIES;
  return { count, seconds: Math.min(LONGEST_SECONDS, Math.floor(budget / count) - PROCESS_SECONDS) };
}

function describeUnknown(
  targets: readonly string[],
  { workload, userRequests, sequentialTest }: Plan,
): string {
  const words = workload === 'devices' ? targets : [...targets, `--workload ${workload}`];
  // A study sends the requests of a workload, so only a run can study those of a user.
  const longer = sequentialTest?.budgetSeconds === undefined ? 'a run of more --rounds' : 'a longer --budget';
  const way = userRequests === undefined ? commandLine(`warmup ${words.join(' ')}`) : longer;
  return `warning: too little is known about the warm-up of ${targets.join(', ')}, and this run is too short to study it: ${way} does`;
}

function describeUnsettled(targets: readonly string[]): string {
  return `warning: the studied process of ${targets.join(', ')} took unusually long to settle. A later run studies another`;
}

/** Plans the warm-ups of all targets: one for each target and kind of rung. */
function planTargets(plan: Plan, all: readonly Candidate[]): PlannedWarmup[] {
  const kinds = Map.groupBy(plan.rungs, (rung) => `${kindOfRung(rung)} ${takesTurns(plan, rung)}`);
  return [...kinds.values()].flatMap((rungs) => {
    const first = rungs[0] as number;
    const kind = kindOfRung(first);
    const alike = Map.groupBy(all, (one) => keyOf(one, plan, kind));
    const due = all.map((candidate) => {
      const known = knownAmong([candidate, ...(alike.get(keyOf(candidate, plan, kind)) ?? [])], kind);
      const settles = known?.processes.every(({ warm }) => warm !== undefined) === true;
      const isAuto = plan.autoWarmup === true;
      const seconds = isAuto && settles ? leastWarmupSeconds(plan) : plan.warmupSeconds;
      const { target } = candidate.facts;
      return { needs: { target, rungs, seconds, isAuto }, language: candidate.one.target.language, known };
    });
    // A difference between two versions of a program must not be one of their warm-ups.
    return takesTurns(plan, first) || all.every(({ one }) => one.target.copy !== undefined)
      ? planTogether(due)
      : due.map(({ needs, known }) => planWarmup(needs, known));
  });
}
