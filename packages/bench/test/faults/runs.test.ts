import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Ended } from '../../../bench-lab/testing/user.ts';
import { Place } from '../cli/cli.ts';
import { RUN_CASES } from './runs.ts';

const GOLDEN = fileURLToPath(new URL('../../../bench-lab/testing/fixtures/run/', import.meta.url));

/** Copies the committed run, spoils it, and returns what a command says of it. */
async function tell(
  spoil: (folder: string) => void,
  command = 'report',
  words: string[] = [],
): Promise<Ended> {
  await using place = new Place();
  const folder = join(place.folder, 'run');
  cpSync(GOLDEN, folder, { recursive: true });
  spoil(folder);
  const ended = await place.run(command, [...words, folder]);
  expect(existsSync(place.lock)).toBe(false);
  return ended;
}

let sound: Ended;
beforeAll(async () => {
  sound = await tell(() => {});
});

describe('a stored run that', () => {
  it.each(RUN_CASES.filter(({ says }) => says !== undefined))('$fault', async ({ spoil, says }) => {
    const ended = await tell(spoil);
    expect(ended.stderr).toMatch(says!);
    expect(ended.stderr).not.toMatch(/defect|bug in Bench/);
    expect(ended).toMatchObject({ status: 2, stdout: '' });
  });

  it.each(RUN_CASES.filter(({ says }) => says === undefined))('$fault', async ({ spoil }) => {
    expect(await tell(spoil)).toEqual(sound);
  });

  it('is spoilt is not resumed', async () => {
    const { spoil, says } = RUN_CASES[1]!;
    const { status, stderr } = await tell(spoil, 'bench', ['--resume']);
    expect(stderr).toMatch(says!);
    expect(status).toBe(2);
  });
});
