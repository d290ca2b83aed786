/** The reports of time(1) of a run: the resources that each server used in its whole life. */
import { countAnswers } from 'bench-model/counts';
import { present } from 'bench-model/options';
import { medianOf } from 'bench-statistics/numbers';
import type { TimeReport, Trial } from 'bench-model/record';
import { TIME_FIELD_NAMES, type TimeField } from 'bench-model/time-fields';
import { cellOf } from './cells.ts';

/** The resources that a target used at a rung: the median of each field over its rounds. */
export interface TargetUsage {
  target: string;
  connections: number;
  rounds: number;
  /** A field that the platform does not keep is absent. */
  fields: Partial<Record<TimeField, number>>;
  /** Answers in its whole life, right or wrong. */
  answers?: number;
  /** User and system CPU for each of these responses, start-up included. */
  cpuUsPerAnswer?: number;
}

/** Returns the usage of every target at every rung, by rung. Trials that failed, or that have no report, do not count. */
export function usageOf(trials: readonly Trial[]): TargetUsage[] {
  // Requests that share a server share its report, and the warm-up that they share is in no account of theirs.
  const lives = new Set<string>();
  const timed = trials.flatMap((trial) => {
    const { time, status, target, connections, life } = trial;
    if (time === undefined || status === 'failed' || (life !== undefined && lives.has(life))) return [];
    if (life !== undefined) lives.add(life);
    const { lifetime } = trial.measured.load;
    const answers = life === undefined && lifetime ? countAnswers(lifetime) : undefined;
    return [{ target: target.id, connections, time, answers }];
  });
  const groups = Map.groupBy(timed, cellOf);
  return [...groups.values()]
    .map((rounds): TargetUsage => {
      const [{ target, connections }] = rounds as [(typeof rounds)[number]];
      return {
        target,
        connections,
        rounds: rounds.length,
        fields: present(
          Object.fromEntries(
            TIME_FIELD_NAMES.map((name) => [name, medianOf(rounds.map(({ time }) => time[name]))]),
          ),
        ),
        answers: medianOf(rounds.map((one) => one.answers)),
        cpuUsPerAnswer: medianOf(rounds.map((one) => costOf(one.time, one.answers))),
      };
    })
    .toSorted((a, b) => a.connections - b.connections);
}

function costOf({ userSeconds, systemSeconds }: TimeReport, answers = 0): number | undefined {
  if (userSeconds === undefined || systemSeconds === undefined || answers === 0) return undefined;
  return ((userSeconds + systemSeconds) * 1e6) / answers;
}
