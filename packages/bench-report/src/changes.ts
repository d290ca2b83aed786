import { coresOf } from 'bench-model/planned';
import { describeUnknown } from 'bench-analysis/unlike';
import { nameRequest } from 'bench-targets/catalogue/workloads/requests/sent';
import type { StoredRun } from 'bench-analysis/results/store';
import { explainBuildsBetween } from './interpreters.ts';
import { listGiven } from './words.ts';

/** Lists the differences of two runs besides their figures: unlike builds of interpreters, facts that no record shows, and changes. */
export function describeDifferences(old: StoredRun, now: StoredRun): string[] {
  return [...explainBuildsBetween(old, now), ...describeUnknown(old, now), ...describeChanges(old, now)];
}

/** Lists the changes between two runs, one per line, then the unknown properties. */
export function describeChanges(old: StoredRun, now: StoredRun): string[] {
  const [then, here] = [environmentOf(old), environmentOf(now)];
  const changes = [...new Set([...then.keys(), ...here.keys()])]
    .filter((name) => then.get(name) !== here.get(name))
    .map((name) => `changed: ${name} ${then.get(name) ?? 'absent'} → ${here.get(name) ?? 'absent'}`);
  const unknown = [...new Set([...unknownOf(old), ...unknownOf(now)])];
  const none =
    unknown.length > 0
      ? 'no known changes'
      : 'no changes in processes, versions, runtimes, frameworks or servers';
  return [...(changes.length > 0 ? changes : [none]), ...unknown.map((what) => `unknown: ${what}`)];
}

/** Lists the unknown properties of servers that were already running. */
function unknownOf({ plan, trials }: StoredRun): string[] {
  if (plan.attached === undefined) return [];
  return plan.targets.map(({ id }) => {
    const own = trials.filter(({ target }) => target.id === id);
    const unknown = listGiven([
      own.every(({ process }) => process === undefined) && 'process',
      own.every(({ process }) => process?.version === undefined) && 'runtime and its version',
      'framework, workers, source code',
    ]);
    return `${unknown.join(', ')} of ${id}`;
  });
}

const ATTESTED = 'version implementation framework server loop http jit gil mypyc v8'.split(' ');

/**
 * Returns what the servers of a run were launched with, and its versions by name: those of the harness and its companions,
 * and those that servers attested (`fastapi framework`).
 */
function environmentOf({ plan, versions, trials }: StoredRun): Map<string, string> {
  const launched = {
    workers: String(plan.workers),
    threads: String(plan.threads ?? 'default of the stack'),
    cores: String(coresOf(plan)),
    background: plan.background === undefined ? 'none' : nameRequest(plan.background),
  };
  const found = new Map(Object.entries({ ...(plan.attached === undefined && launched), ...versions }));
  for (const { target, attested } of trials) {
    for (const [name, value] of Object.entries(attested[0] ?? {})) {
      if (ATTESTED.includes(name)) found.set(`${target.id} ${name}`, String(value));
    }
  }
  return found;
}
