import { readdirSync, existsSync, globSync } from 'node:fs';
import { describe, it, type ExpectStatic } from 'vitest';
import { hasProc, Place } from '../cli/cli.ts';
import { COMMAND_CASES, NEEDS, type CommandCase } from './commands.ts';

/** Generous: a busy machine may pause. */
const MOST_MS = 180_000;

/** What this machine lacks, each with the reason. */
const lacking = new Map(
  Object.entries(NEEDS).flatMap(([name, find]) => {
    try {
      find();
      return [];
    } catch (error) {
      return [[name, `${name}: ${(error as Error).message}`] as const];
    }
  }),
);

/** Lists what a command has left outside of its results. */
function listLeft(place: Place): string[] {
  return [
    ...place.pids().map(String),
    ...place.stateLeft(),
    ...readdirSync(place.temporary).filter(
      (name) => !/^(tsx-|node-compile-cache$|v8-compile-cache)/.test(name),
    ),
    ...globSync('**/.*.[0-9]*', { cwd: place.results }),
  ];
}

async function runCase({ run, status, says, kept }: CommandCase, expect: ExpectStatic): Promise<void> {
  await using place = new Place({ hasTemporary: true });
  const ended = await run(place);
  const printed = `${ended.stderr}${ended.stdout}`;
  expect(printed).toMatch(says);
  expect(printed).not.toMatch(/bug in Bench|defect|\n\s+at /);
  expect(ended.status, printed).toBe(status);
  const trials = place.trials();
  expect(
    trials.map(({ status: one }, at) => (kept[at] === 'measured' && one !== 'failed' ? 'measured' : one)),
  ).toEqual(kept);
  for (const trial of trials)
    if (trial.status !== 'failed') expect(trial.measured.load.windowSeconds).toBeLessThan(MOST_MS / 1000);
  await place.untilGone();
  expect(existsSync(place.lock)).toBe(false);
  expect(listLeft(place)).toEqual([]);
}

describe.skipIf(!hasProc)('a command while', () => {
  it.concurrent.for(COMMAND_CASES.map((one) => ({ name: `${one.fault} (${one.phase})`, one })))(
    '$name',
    { timeout: MOST_MS },
    async ({ one }, { expect, skip }) => {
      const why = lacking.get(one.needs ?? '');
      skip(why !== undefined, why);
      await expect(runCase(one, expect)).resolves.toBeUndefined();
    },
  );
});
