/** Plans the warm-up of each target of a run: from what is known, or from studies within a fifth of its time. */
import { estimateSeconds } from '../plan/plan.ts';
import type { Plan, PlannedTrial } from '../plan/definition.ts';
import { kindOfRung, LONGEST_WARMUP_SECONDS, planWarmup, type RungKind } from '../plan/warmup.ts';
import type { Launchable, Prepared } from '../prepare/prepare.ts';
import { factsOf, findWarmup, type TargetFacts } from './known.ts';
import { observeTargets, PROCESS_SECONDS, whyNoStudy, type StudyMachine } from './study.ts';

/** The part of the time of a run that it may spend on studies. */
const STUDY_SHARE = 1 / 5;
/** A process is observed for at least this time: default warm-ups end in it, and a level after them shows. */
const SHORTEST_SECONDS = 8;
/** No process is observed for longer: a warm-up that a plan may choose ends in half of it. */
const LONGEST_SECONDS = 2 * LONGEST_WARMUP_SECONDS;

/** A plan with the warm-up of each target. */
export interface Learned {
  plan: Plan;
  interrupted: boolean;
}

/**
 * Returns the plan with the warm-ups that are known, after studies of targets that are not. `onStudy` is called before
 * the first process of a study.
 */
export async function planWarmups(
  plan: Plan,
  prepared: readonly Launchable[],
  machine: StudyMachine,
  onStudy: () => void,
): Promise<Learned> {
  if (plan.warmups !== undefined || plan.quick || plan.attached !== undefined)
    return { plan, interrupted: false };
  const own = prepared.flatMap((one) => ('attached' in one ? [] : [one]));
  const all = own.map((one) => ({ one, facts: factsOf(one, plan, machine) }));
  const interrupted = plan.autoWarmup === true && (await study(plan, all, machine, onStudy));
  const warmups = all.flatMap(({ facts }) => planTarget(plan, facts));
  return { plan: { ...plan, warmups }, interrupted };
}

/** A target and the facts of its warm-up. */
interface Candidate {
  one: Prepared;
  facts: TargetFacts;
}

/** Studies the targets of which too little is known. Returns true if it was interrupted. */
async function study(
  plan: Plan,
  all: readonly Candidate[],
  machine: StudyMachine,
  onStudy: () => void,
): Promise<boolean> {
  const { voice, session } = machine;
  const connections = studiedRung(plan.rungs);
  const kind = kindOfRung(connections);
  const unknown = all.filter(({ facts }) => findWarmup(facts, kind)?.isUncertain ?? true);
  // Repeated targets share everything that their warm-up depends on.
  const distinct = [
    ...new Map(unknown.map((one) => [JSON.stringify(one.facts.facts[kind]), one] as const)).values(),
  ];
  if (distinct.length === 0) return false;
  const budget = STUDY_SHARE * estimateSeconds(plan);
  const affordable =
    whyNoStudy() === undefined ? Math.floor(budget / (SHORTEST_SECONDS + PROCESS_SECONDS)) : 0;
  const due = distinct.slice(0, affordable);
  const left = distinct.slice(due.length).map(({ one }) => one.target.id);
  if (left.length > 0) voice.log(describeUnknown(left, plan));
  if (due.length === 0) return false;
  const seconds = Math.min(LONGEST_SECONDS, Math.floor(budget / due.length) - PROCESS_SECONDS);
  const names = due.map(({ one }) => one.target.id).join(', ');
  voice.log(
    `studying the warm-up of ${names} for ${seconds} s each, because it is not known yet on this machine. Later runs use the result`,
  );
  const asked = studyPlan(plan, due, connections);
  const measured = await observeTargets(
    { plan: asked, seconds, prepared: due.map(({ one }) => one) },
    machine,
    onStudy,
  );
  session.expect(estimateSeconds(plan));
  return measured.interrupted;
}

/** The rung to study: the fewest connections that keep a server busy, or else the most. */
function studiedRung(rungs: readonly number[]): number {
  const busy = rungs.filter((rung) => kindOfRung(rung) === 'many');
  return busy.length > 0 ? Math.min(...busy) : Math.max(...rungs);
}

function describeUnknown(targets: readonly string[], { workload }: Plan): string {
  const asked = workload === 'devices' ? '' : ` --workload ${workload}`;
  return `warning: the warm-up of ${targets.join(', ')} is not known, and this run is too short to find out: pnpm warm ${targets.join(' ')}${asked} does`;
}

/** Plans a study of one fresh process of each target. */
function studyPlan(plan: Plan, due: readonly Candidate[], connections: number): Plan {
  const {
    duel: _duel,
    sequentialTest: _test,
    autoWarmup: _auto,
    background: _background,
    targets: _targets,
    ...rest
  } = plan;
  const targets = due.map(({ one }) => withoutEngine(one.target));
  return {
    ...rest,
    run: `${plan.run}-warm`,
    targets,
    rungs: [connections],
    rounds: 1,
    load: { mode: 'closed' },
    engine: 'autocannon',
    proveLimit: false,
    trials: targets.map(({ id }, order): PlannedTrial => ({
      id: `${String(order + 1).padStart(3, '0')}-${id.replaceAll(/[^\w.+-]+/g, '_')}`,
      target: id,
      connections,
      round: 1,
      order,
      seed: (plan.seed + order) % 2 ** 32,
    })),
  };
}

/** A study takes turns, which only the load driver of Bench can. */
function withoutEngine({ engine: _engine, ...target }: Prepared['target']): Prepared['target'] {
  return target;
}

/** Plans the warm-ups of one target: one for each kind of rung. */
function planTarget(plan: Plan, facts: TargetFacts): NonNullable<Plan['warmups']> {
  const kinds = Map.groupBy(plan.rungs, kindOfRung);
  return [...kinds].map(([kind, rungs]: [RungKind, number[]]) =>
    planWarmup(
      { target: facts.target, rungs, seconds: plan.warmupSeconds, isAuto: plan.autoWarmup === true },
      findWarmup(facts, kind)?.known,
    ),
  );
}
