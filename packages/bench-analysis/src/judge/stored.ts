/**
 * Judges stored trials by the rules in force, so that a record never shows a figure that would not count today. A reason
 * whose evidence is not in the record stays as it was found. Pure.
 */
import { warmupOf } from 'bench-model/planned';
import { memoryByAnswers } from 'bench-statistics/growth';
import { isFatal, renewReason, type ReasonCode } from 'bench-model/reasons';
import type { CompanionName } from 'bench-model/companions';
import type { Measured } from 'bench-model/measured';
import type { OkTrial, SuspectTrial, Trial, TrialHead } from 'bench-model/record';
import type { Reason } from 'bench-model/reasons';
import type { Plan } from 'bench-model/plan';
import type { Host } from 'bench-model/host';
import { COMPANION_JUDGES } from './companions.ts';
import { isJvm, judgeWarmup, type Witness } from './judge.ts';
import { judgeTurns } from './trend.ts';
import { judgeTrial } from './trial.ts';

/** A run as its files hold it. */
interface Stored {
  plan: Plan;
  host: Host;
  trials: Trial[];
}

/** A trial that was measured to its end, and its run. */
interface Recorded {
  trial: TrialHead;
  measured: Measured;
  plan: Stored['plan'];
}

/** Older records do not say how many turns a server had. */
const hasTurns = ({ trial, measured }: Recorded): boolean =>
  trial.duel === undefined || measured.turns !== undefined;
const hasPace = (recorded: Recorded): boolean =>
  recorded.measured.load.slices !== undefined && hasTurns(recorded);
const hasUse = (name: CompanionName, { trial, measured }: Recorded): boolean =>
  trial.companions?.[name] === undefined || measured.companions?.[name] !== undefined;
const hasResources = (name: 'upstream' | 'database', { trial, measured }: Recorded): boolean =>
  trial.companions?.[name] === undefined || measured.companions?.[name]?.resources !== undefined;

/**
 * The evidence of reasons: whether a record has it. A code that is missing here rests on what only the running trial could
 * see.
 */
export const EVIDENCE: readonly [codes: ReasonCode[], isStored: (recorded: Recorded) => boolean][] = [
  [['generators-missing', 'skew', 'accounting', 'errors', 'stall', 'generator-bound'], () => true],
  // Only idle servers are asked without a load.
  [['delayed-ack'], () => true],
  [['crossed-answers', 'wrong-body', 'no-answers'], () => true],
  [['unsolicited'], ({ measured: { load } }) => load.unsolicited !== undefined],
  [['not-all-established'], ({ measured: { load } }) => load.connect.established !== undefined],
  // Older records count the requests that were still open after the drain, without their ages.
  [
    ['unanswered', 'few-unanswered'],
    ({ measured: { load } }) => load.unanswered !== undefined || load.lifetime?.inFlight === 0,
  ],
  [
    ['little', 'pairing'],
    (recorded) =>
      recorded.trial.load.mode === 'open'
        ? recorded.measured.load.schedule?.meanOpen !== undefined
        : hasTurns(recorded),
  ],
  [
    ['late-starts', 'late-starts-tail'],
    ({ trial, measured: { load } }) => trial.load.mode !== 'open' || load.schedule?.sinceSentUs !== undefined,
  ],
  [
    ['late-reads', 'late-tail'],
    ({ measured: { load } }) => load.latencyUs === undefined || load.latencyAtLeastUs !== undefined,
  ],
  [
    ['overrun'],
    ({ trial, measured: { load } }) => trial.load.mode !== 'open' || load.schedule?.started !== undefined,
  ],
  [['late-sample'], ({ measured: { server } }) => server !== undefined],
  [['upstream-bound'], (recorded) => hasResources('upstream', recorded)],
  [['database-bound'], (recorded) => hasResources('database', recorded)],
  [['upstream-failed'], ({ measured: { load } }) => load.statusCodes !== undefined],
  [['upstream-slow'], (recorded) => hasUse('upstream', recorded)],
  [['background', 'background-failed'], (recorded) => hasUse('background', recorded)],
  [['not-warm', 'never-warm'], ({ plan }) => plan.warmups !== undefined],
  [['cold-jvm'], ({ trial, measured }) => !isJvm(trial.interpreter) || measured.age?.answers !== undefined],
  [['ratio-trend'], ({ trial, measured }) => trial.duel === undefined || measured.turns?.cpuUs !== undefined],
  [['trend', 'unsteady'], hasPace],
  [['memory-grows'], ({ measured }) => memoryByAnswers(measured).length > 0],
  [
    ['server-unknown', 'other-processes'],
    ({ measured: { host } }) =>
      host.otherProcessesCores !== undefined || host.unattributedCores !== undefined,
  ],
  [['steal'], ({ measured: { host } }) => host.stealCores !== undefined],
  [['listen-overflows'], ({ measured: { host } }) => host.listenOverflows !== undefined],
  [['retransmits'], ({ measured: { host } }) => (host.lostSegments ?? host.retransmits) !== undefined],
  [['throttled'], ({ measured: { host } }) => host.throttled !== undefined],
];

/**
 * Returns the trials of a run with the status, the reasons and the findings of today's rules. A failed trial stays as it
 * is.
 */
export function judgeStored({ plan, host, trials }: Stored): Trial[] {
  const byTurns = judgeRounds(trials);
  return trials.map((trial) => {
    if (trial.status === 'failed') return trial;
    const { measured, reasons: before } = trial;
    // The machine and the cores of another host are not stored.
    if (isElsewhere(trial)) return withReasons(trial, measured, before.map(renewReason));
    const recorded = { trial, measured, plan };
    const { reasons, findings } = judgeTrial(trial, measured, {
      machineCores: host.cores,
      companions: witnessesOf(recorded),
    });
    const judged = [
      ...(byTurns.get(trial.id) ?? []),
      ...reasons,
      ...judgeWarmup(warmupOf(plan, { target: trial.target.id, connections: trial.connections }), {
        interpreter: trial.interpreter,
        answers: measured.age?.answers,
      }),
    ];
    const { shape: shapeNow, ...found } = findings;
    const { shape: shapeBefore, ...others } = measured;
    const shape = hasPace(recorded) ? shapeNow : shapeBefore;
    // The order of the fields stays.
    const now = shape === undefined ? { ...others, ...found } : { ...measured, ...found, shape };
    return withReasons(trial, now, mergeReasons(before, judged, recorded));
  });
}

/** The reasons that their turns give against the servers of each round at each request, by the ids of their trials. */
function judgeRounds(trials: readonly Trial[]): Map<string, Reason[]> {
  const rounds = Map.groupBy(
    trials.filter(({ duel }) => duel !== undefined),
    ({ duel, route }) => JSON.stringify([duel, route]),
  );
  return new Map(
    [...rounds.values()].flatMap((all) => {
      const servers = all.flatMap((trial) => {
        const { turns: taken, host } = (trial.status === 'failed' ? trial.partial : trial.measured) ?? {};
        const hosts = host === undefined ? [] : [host];
        return taken === undefined ? [] : [{ id: trial.id, target: trial.target.id, turns: taken, hosts }];
      });
      const found = judgeTurns(servers);
      return servers.map(({ id }, index) => [id, found[index] ?? []] as const);
    }),
  );
}

function isElsewhere({ companions = {} }: TrialHead): boolean {
  return Object.values(companions).some((head) => 'host' in head && head.host !== undefined);
}

function witnessesOf({ trial, measured }: Recorded): Witness[] {
  const { load, companions = {} } = measured;
  const besideRequests = companions.background?.sent ?? 0;
  return (Object.keys(COMPANION_JUDGES) as CompanionName[]).flatMap((name) => {
    const use = companions[name];
    if (use === undefined) return [];
    return {
      name,
      companion: COMPANION_JUDGES[name](() => use as never),
      evidence: {
        load,
        resources: 'resources' in use ? use.resources : undefined,
        placement: trial.placement,
        besideRequests,
      },
    };
  });
}

/** Replaces each stored reason by that of today, or keeps it where the evidence is missing. New ones come last. */
function mergeReasons(stored: readonly Reason[], judged: readonly Reason[], recorded: Recorded): Reason[] {
  const codes = new Set([...stored, ...judged].map(({ code }) => code));
  return [...codes].flatMap((code) => {
    const isKnown = EVIDENCE.find(([own]) => own.includes(code))?.[1](recorded);
    const kept = stored.filter((reason) => reason.code === code).map(renewReason);
    const found = judged.filter((reason) => reason.code === code);
    if (isKnown === true) return found;
    return isKnown === false || found.length === 0 ? kept : found;
  });
}

function withReasons(trial: OkTrial | SuspectTrial, measured: Measured, reasons: Reason[]): Trial {
  const doubts = reasons.filter((reason) => !isFatal(reason));
  if (doubts.length < reasons.length) {
    const { measured: _, ...rest } = trial;
    const sorted = [...reasons.filter(isFatal), ...doubts];
    return { ...rest, status: 'failed', reasons: sorted, partial: measured };
  }
  if (doubts.length > 0) return { ...trial, status: 'suspect', reasons: doubts, measured };
  return { ...trial, status: 'ok', reasons: [], measured };
}
