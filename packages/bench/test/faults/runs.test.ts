import { cpSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RunFile } from 'bench-model/run';
import type { Ended } from '../../../bench-lab/testing/user.ts';
import { Place } from '../cli/cli.ts';
import { RUN_CASES } from './runs.ts';

const GOLDEN = fileURLToPath(new URL('../../../bench-lab/testing/fixtures/run/', import.meta.url));

/** Copies the committed run, spoils it, and returns what a command says of it. */
async function tell(
  spoil: (folder: string) => void,
  command = 'report',
  words: string[] = [],
  look: (folder: string) => void = () => {},
): Promise<Ended> {
  await using place = new Place();
  const folder = join(place.folder, 'run');
  cpSync(GOLDEN, folder, { recursive: true });
  spoil(folder);
  const ended = await place.run(command, [...words, folder]);
  expect(existsSync(place.lock)).toBe(false);
  look(folder);
  return ended;
}

const sentFiles = readdirSync(GOLDEN);

let sound: Ended;
beforeAll(async () => {
  sound = await tell(() => {});
});

/** Has a plan whose servers would leave a trace, and their command as it was typed. */
function plant(folder: string): void {
  const file = join(folder, 'run.json');
  const run = JSON.parse(readFileSync(file, 'utf8')) as RunFile;
  const command = ['sh', '-c', `touch ${join(folder, 'OWNED')}`];
  const plan = { ...run.plan, apps: [{ name: 'vanilla', folder, command }] };
  writeFileSync(
    file,
    JSON.stringify({ ...run, plan, typed: ['--run', command.join(' '), '--body', 'a\nb'] }),
  );
}

describe('a run that somebody sent', () => {
  it.each([
    ['bench', ['--resume']],
    ['bench', ['--again']],
    ['bench', ['--dry-run', '--again']],
    ['why', []],
  ])('is not executed by %s %j, which says what to type instead', async (command, words) => {
    let files: string[] = [];
    const { status, stdout, stderr } = await tell(plant, command, words, (folder) => {
      files = readdirSync(folder);
    });
    expect(stderr).toMatch(
      /is not a run that you began here, or its plan has changed since\. \S+ does not execute it\n/,
    );
    expect(stderr).toMatch(/to measure the same: pnpm bench --run 'sh -c touch \S+OWNED' --body 'a b'\n/);
    expect({ status, stdout, files }).toEqual({ status: 2, stdout: '', files: sentFiles });
  });

  it('is reported, with the command that measures the same', async () => {
    const { status, stdout } = await tell(plant);
    expect(stdout).toMatch(/To measure the same:\s+pnpm bench --run 'sh -c touch \S+OWNED' --body 'a b'\n/);
    expect(status).toBe(0);
  });
});

describe('a stored run that', () => {
  it.each(RUN_CASES.filter(({ says }) => says !== undefined))('$fault', async ({ spoil, format, says }) => {
    const ended = await tell(spoil, 'report', format === undefined ? [] : [`--${format}`]);
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
