import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it, type ExpectStatic } from 'vitest';
import { COMMAND } from '../../../bench-lab/testing/user.ts';
import { hasProc, Place } from '../cli/cli.ts';
import { PROJECT_CASES, TOUCH, writeProject, type ProjectCase } from './projects.ts';

const MOST_MS = 180_000;
const QUESTION = 'Run this, with your rights?';
/** The questions before that, each with an answer filled in. */
const BEFORE = ['How does the server start?', 'Before each start?', 'What does it need?'];
/** The questions after that, with the keys for them: Enter, or Ctrl-C where a server of these tests cannot start. */
const AFTER = { 'Which requests?': '\r', 'What to change?': '\u0003' };

/** Writes the project of a case, whose script touches the second of these files. */
function writeIn(place: Place, one: ProjectCase): [folder: string, mark: string] {
  const [folder, mark] = [join(place.folder, 'shop'), join(place.folder, 'touched')] as const;
  writeProject(folder, one, mark);
  return [folder, mark];
}

/** Looks at a project on a terminal, with the responses that are filled in. Says yes if its script then runs or never does, otherwise no. */
async function look(one: ProjectCase, expect: ExpectStatic): Promise<void> {
  await using place = new Place({ hasTemporary: true });
  const [folder, mark] = writeIn(place, one);
  const running = place.startInTerminal(
    `stty cols 100 rows 40; '${process.execPath}' '${COMMAND}' init '${folder}'`,
  );
  for (const question of [...BEFORE, QUESTION]) {
    await running.until(() => running.output.includes(question), question);
    if (question !== QUESTION) running.type('\r');
  }
  for (const words of one.shows ?? []) expect(running.output).toContain(words);
  expect(existsSync(mark), running.output).toBe(false);
  running.type(one.runs === undefined ? 'n' : '\r');
  const keys = Object.entries({ ...AFTER, ...one.answers });
  const end = { isSeen: false };
  void running.ended.then(() => (end.isSeen = true));
  let answered = running.output.length;
  while (one.runs !== undefined && !end.isSeen) {
    const asked = keys.find(([question]) => running.output.slice(answered).includes(`◆  ${question}`));
    if (asked === undefined) {
      await sleep(20);
      continue;
    }
    answered = running.output.length;
    running.type(asked[1]);
  }
  const { status } = await running.ended;
  const { output } = running;
  expect(output).not.toContain('bug in Bench');
  expect(existsSync(mark), output).toBe(one.runs === true);
  if (one.runs === false) expect(status, output).toBe(0);
  if (one.runs === undefined) expect(output).toContain('nothing of the project was executed');
  await place.untilGone();
}

/** Looks at a project in which nothing is found that may be executed. */
async function lookInVain(one: ProjectCase, expect: ExpectStatic): Promise<void> {
  await using place = new Place({ hasTemporary: true });
  const [folder, mark] = writeIn(place, one);
  const { status, stdout, stderr } = await place.run('init', [folder, '--yes']);
  expect(stdout + stderr).toMatch(one.says!);
  expect(stderr).not.toContain('bug in Bench');
  expect([status, existsSync(mark)]).toEqual([2, false]);
}

describe.skipIf(!hasProc)('init of a project that has', () => {
  it.concurrent.for(PROJECT_CASES.map((one) => ({ name: one.fault, one })))(
    '$name',
    { timeout: MOST_MS },
    async ({ one }, { expect }) => {
      const looking = one.says === undefined ? look(one, expect) : lookInVain(one, expect);
      await expect(looking).resolves.toBeUndefined();
    },
  );

  it.for(['--yes', ''])(
    'a release step shows it first where nobody is asked: %j',
    { timeout: MOST_MS },
    async (option, { expect }) => {
      await using place = new Place({ hasTemporary: true });
      const one = PROJECT_CASES.find(({ fault }) => fault === 'a release step in its Procfile')!;
      // The step fails unless its words were printed before it ran.
      const step = `if (!require('node:fs').readFileSync(process.env.SHOWN, 'utf8').includes('touch.js')) process.exit(9);`;
      const files = { ...one.files, 'touch.js': `${step}${TOUCH}` };
      const [folder, mark] = writeIn(place, { ...one, files });
      const file = join(place.folder, 'shown');
      const line = `exec "$0" "$@" > '${file}'`;
      const running = place.start('init', [folder, ...(option === '' ? [] : [option])], { SHOWN: file }, [
        'sh',
        '-c',
        line,
      ]);
      expect(await running.ended).toMatchObject({ status: 0 });
      expect(existsSync(mark)).toBe(true);
    },
  );
});
