import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, it } from 'vitest';
import { findProgram } from 'bench-machine/path';
import { runSync } from 'bench-machine/subprocess';
import { renderCompletions } from '../../src/commands/completions.ts';
import { findCommands, loadCommand } from '../../src/cli/main.ts';

const folder = mkdtempSync(join(tmpdir(), 'bench-completions-'));
afterAll(() => rmSync(folder, { recursive: true }));

const commands = await Promise.all([...findCommands().values()].map(loadCommand));
const shown = commands.filter(({ summary }) => summary !== '');

/** Sources a script in bash, and prints what it offers for the words, one per line. */
const ASK =
  'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _bench_http; printf "%s\\n" "${COMPREPLY[@]}"';

it('completions have every command, its options and their values', ({ skip, expect }) => {
  skip(findProgram('bash') === undefined, 'bash is not on PATH, but needed to complete');
  const script = join(folder, 'bash');
  writeFileSync(script, renderCompletions(commands));
  const ask = (...words: string[]): string[] =>
    runSync(['bash', '-c', ASK, script, 'bench-http', ...words])
      .stdout.trim()
      .split('\n');
  expect(ask('').toSorted()).toEqual(shown.map(({ name }) => name).toSorted());
  for (const name of ['bench', 'report', 'completions']) {
    const { options: declared } = shown.find((one) => one.name === name)!;
    const all = [...Object.keys(declared), 'help'].map((one) => `--${one}`).toSorted();
    expect(ask(name, '--').toSorted()).toEqual(all);
  }
  expect(ask('fastify', '--').toSorted()).toEqual(ask('bench', '--').toSorted());
});
