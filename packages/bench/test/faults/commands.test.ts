import { readdirSync, existsSync, globSync } from 'node:fs';
import { describe, it, type ExpectStatic } from 'vitest';
import { runSync } from 'bench-machine/subprocess';
import { hasProc, Place } from '../cli/cli.ts';
import { COMMAND_CASES, type CommandCase } from './commands.ts';

/** Generous: a busy machine may pause. */
const MOST_MS = 90_000;

/** Why cases apart cannot run here; undefined if they can. */
const why = findWhy();

function findWhy(): string | undefined {
  try {
    runSync(['unshare', '--user', '--map-root-user', '--mount', '--net', '--pid', '--fork', 'true']);
    return undefined;
  } catch (error) {
    return `user namespaces: ${(error as Error).message}`;
  }
}

/** Lists what a command has left outside of its results. */
function listLeft(place: Place): string[] {
  return [
    ...place.pids().map(String),
    ...readdirSync(place.state),
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
  const statuses = place.trials().map((trial) => trial.status);
  expect(statuses.map((one, at) => (kept[at] === 'measured' && one !== 'failed' ? 'measured' : one))).toEqual(
    kept,
  );
  await place.untilGone();
  expect(existsSync(place.lock)).toBe(false);
  expect(listLeft(place)).toEqual([]);
}

describe.skipIf(!hasProc)('a command while', () => {
  it.concurrent.for(COMMAND_CASES.map((one) => ({ name: `${one.fault} (${one.phase})`, one })))(
    '$name',
    { timeout: MOST_MS },
    async ({ one }, { expect, skip }) => {
      skip(one.isApart === true && why !== undefined, why);
      await expect(runCase(one, expect)).resolves.toBeUndefined();
    },
  );
});
