import { describeBackground } from '../catalogue/background.ts';
import { coresOf } from '../plan.ts';
import type { StoredRun } from '../results/store.ts';

/** What changed between two runs, one change a line: processes and threads, versions, runtimes, frameworks, servers; or that nothing of these did. */
export function describeChanges(old: StoredRun, now: StoredRun): string[] {
  const [then, here] = [environmentOf(old), environmentOf(now)];
  const changes = [...new Set([...then.keys(), ...here.keys()])]
    .filter((name) => then.get(name) !== here.get(name))
    .map((name) => `changed: ${name} ${then.get(name) ?? 'absent'} → ${here.get(name) ?? 'absent'}`);
  return changes.length > 0
    ? changes
    : ['nothing changed of processes, versions, runtimes, frameworks and servers'];
}

const TOLD = [
  'version',
  'implementation',
  'framework',
  'server',
  'loop',
  'http',
  'jit',
  'gil',
  'mypyc',
  'v8',
];

function environmentOf({ plan, versions, trials }: StoredRun): Map<string, string> {
  const found = new Map([
    ['workers', String(plan.workers)],
    ['threads', String(plan.threads ?? 'as the stack has it')],
    ['cores', String(coresOf(plan))],
    ['background', describeBackground(plan.background) ?? 'none'],
    ...Object.entries(versions),
  ]);
  for (const { target, attested } of trials) {
    for (const [name, value] of Object.entries(attested[0] ?? {})) {
      if (TOLD.includes(name)) found.set(`${target.id} ${name}`, String(value));
    }
  }
  return found;
}
