import type { StoredRun } from '../results/store.ts';

/** What changed in the environment between two runs, one change a line: versions, runtimes, frameworks, servers. */
export function describeChanges(old: StoredRun, now: StoredRun): string[] {
  const [then, here] = [environmentOf(old), environmentOf(now)];
  return [...new Set([...then.keys(), ...here.keys()])]
    .filter((name) => then.get(name) !== here.get(name))
    .map((name) => `changed: ${name} ${then.get(name) ?? 'absent'} → ${here.get(name) ?? 'absent'}`);
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

function environmentOf({ versions, trials }: StoredRun): Map<string, string> {
  const found = new Map(Object.entries(versions));
  for (const { target, attested } of trials) {
    for (const [name, value] of Object.entries(attested[0] ?? {})) {
      if (TOLD.includes(name)) found.set(`${target.id} ${name}`, String(value));
    }
  }
  return found;
}
