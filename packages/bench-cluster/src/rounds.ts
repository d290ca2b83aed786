/** A run on several hosts: rounds side by side, each complete on one host, so that its trials stay paired. */
import type { Plan, PlannedTrial } from 'bench-model/plan';
import { sum } from 'bench-statistics/numbers';
import { makeReason } from 'bench-model/reasons';
import type { FailedTrial, Placement, Trial } from 'bench-model/record';
import { plannedHead } from 'bench-http/measure/trial';
import { failTrial, type RunEffects } from 'bench-http/measure/run';

/** A host that measures one round after the other. */
export interface RoundHost {
  /** Unique in the run. */
  readonly name: string;
  /** The cores of its servers and of their load. */
  readonly placement: Placement;
  /** Measures the trials of a round in this order. Never throws. */
  measure(planned: readonly PlannedTrial[]): Promise<HostRound>;
}

export interface HostRound {
  /** Those that arrived. */
  trials: Trial[];
  /** The reason why the host did not complete the round and measures no other; undefined if it completed it. */
  lost?: string | undefined;
}

interface PreparedHosts {
  hosts: readonly RoundHost[];
  /** The ids of the targets that every host can launch. */
  targets: ReadonlySet<string>;
  /** Trials that an interrupted run has already stored. */
  before: readonly Trial[];
}

/** The effects of a run on several hosts. `record` stores the trials of a whole round together. */
export interface SpreadEffects extends Required<
  Pick<RunEffects, 'record' | 'decide' | 'due' | 'interrupted' | 'on'>
> {
  /** Returns the round of the first look at or after this round; Infinity if none follows. */
  nextLook(round: number): number;
  /** Called when a host begins a round. */
  begun(host: string, round: number): void;
  now(): number;
}

/** The trials of a run on several hosts. */
export interface SpreadTrials {
  trials: Trial[];
  /** The number of rounds that no host was left for. */
  left: number;
}

/** A round that has ended on a host. */
interface Ended extends HostRound {
  host: RoundHost;
  planned: readonly PlannedTrial[];
  /** Its start, in ms since the epoch. */
  atMs: number;
}

/**
 * Measures the open rounds of a plan, each on the next free host. All rounds before a look end
 * before a round after it begins, because a look decides which targets are still due. If a host is lost, all trials of
 * its round have failed, and the other hosts go on. No round is repeated.
 */
export async function runSpread(
  plan: Plan,
  { hosts, targets, before }: PreparedHosts,
  effects: SpreadEffects,
): Promise<SpreadTrials> {
  const trials = [...before];
  const open = listOpenRounds(plan, targets, before);
  const free = [...hosts];
  const busy = new Map<number, { planned: readonly PlannedTrial[]; ended: Promise<Ended> }>();
  const countBusy = (): number => sum([...busy.values()].map(({ planned }) => planned.length));
  /** The number of trials that the run will have, as far as is known. */
  const countAll = (): number => trials.length + countBusy() + open.flat().filter(effects.due(trials)).length;

  /** Returns the due trials of the next round, and removes it; undefined if none may begin yet. */
  const next = (): PlannedTrial[] | undefined => {
    for (let [round] = open; round !== undefined; [round] = open) {
      const number = round[0]?.round ?? 0;
      if (number > effects.nextLook(Math.min(number, ...busy.keys()))) return undefined;
      open.shift();
      const due = round.filter(effects.due(trials));
      if (due.length > 0) return due;
    }
    return undefined;
  };
  const begin = (host: RoundHost, planned: PlannedTrial[]): void => {
    const [first] = planned as [PlannedTrial];
    const done = trials.length + countBusy();
    const atMs = effects.now();
    effects.begun(host.name, first.round);
    const ended = host.measure(planned).then((round) => ({ ...round, host, planned, atMs }));
    busy.set(first.round, { planned, ended });
    effects.on({ kind: 'started', planned: first, done, of: countAll() });
  };
  const take = async ({ host, planned, lost, ...ended }: Ended): Promise<void> => {
    const round = planned[0]?.round ?? 0;
    busy.delete(round);
    const isComplete = lost === undefined && ended.trials.length === planned.length;
    if (isComplete) free.push(host);
    // An interrupted round is not stored: --resume measures it again, complete on one host.
    else if (effects.interrupted()) return;
    const arrived = ended.trials.map((trial) => ({ ...trial, host: host.name }));
    const measured = isComplete
      ? arrived
      : failRound(plan, { planned, arrived, host, atMs: ended.atMs }, lost ?? 'trials are missing');
    await effects.record(measured);
    const done = trials.length;
    trials.push(...measured);
    for (const [index, trial] of measured.entries())
      effects.on({ kind: 'ended', trial, done: done + index + 1, of: countAll() });
  };

  for (;;) {
    while (free.length > 0 && !effects.interrupted() && effects.decide(trials) === 'continue') {
      const planned = next();
      if (planned === undefined) break;
      begin(free.shift() as RoundHost, planned);
    }
    if (busy.size === 0) return { trials, left: free.length === 0 ? open.length : 0 };
    await take(await Promise.race([...busy.values()].map(({ ended }) => ended)));
  }
}

/**
 * Returns the rounds of which nothing is stored yet. If only a part of a round was stored before a kill, the rest of it
 * is lost: on another host, it would not be paired.
 */
function listOpenRounds(
  plan: Plan,
  targets: ReadonlySet<string>,
  before: readonly Trial[],
): PlannedTrial[][] {
  const kept = new Set(before.map(({ round }) => round));
  const open = plan.trials.filter(({ target, round }) => targets.has(target) && !kept.has(round));
  return [...Map.groupBy(open, ({ round }) => round).values()];
}

/** Returns all trials of a round as failed: those that arrived with their figures as partial, the others without. */
function failRound(
  plan: Plan,
  { planned, arrived, host, atMs }: Omit<Ended, keyof HostRound> & { arrived: readonly Trial[] },
  why: string,
): FailedTrial[] {
  const reason = makeReason('host-lost', {
    lost: [{ host: host.name, why }],
    task: 'complete the round of this trial',
  });
  return planned.map((one): FailedTrial => {
    const there = arrived.find(({ id }) => id === one.id);
    if (there !== undefined) return failTrial(there, reason);
    const target = plan.targets.find(({ id }) => id === one.target);
    if (target === undefined) throw new Error(`no target ${one.target}`);
    const head = plannedHead(one, { plan, target, placement: host.placement, atMs });
    return { ...head, host: host.name, status: 'failed', reasons: [reason], files: [] };
  });
}
