import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, it } from 'vitest';
import { findOnPath, runSync } from 'bench-machine/subprocess';
import { renderCompletions, SHELLS, type Shell } from '../../src/cli/completions.ts';
import { findCommands, loadCommand } from '../../src/cli/main.ts';

const folder = mkdtempSync(join(tmpdir(), 'bench-completions-'));
afterAll(() => rmSync(folder, { recursive: true }));

const commands = await Promise.all([...findCommands().values()].map(loadCommand));
const shown = commands.filter(({ summary }) => summary !== '');

/** Programs that source a script and print what it offers for the words, one per line. */
const ASK: Record<Shell, string> = {
  bash: 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _bench_http; printf "%s\\n" "${COMPREPLY[@]}"',
  // Its own functions need a terminal: these print what they are told.
  zsh: 'compdef() { }; _describe() { print -l -- ${(P)2%%:*} }; _arguments() { print -l -- ${@#\\*} }; source "$0"; words=("$@"); CURRENT=$#; _bench_http',
  fish: 'source $argv[1]; complete -C (string join " " -- $argv[2..]) | string split -f 1 \\t',
};

describe.each(SHELLS)('completions in %s', (shell) => {
  it('have every command, its options and their values', ({ skip, expect }) => {
    skip(findOnPath(shell) === undefined, `${shell} is not on PATH, but needed to complete`);
    const script = join(folder, shell);
    writeFileSync(script, renderCompletions(shell, commands));
    const ask = (...words: string[]): string[] =>
      runSync([shell, '-c', ASK[shell], script, 'bench-http', ...words])
        .stdout.trim()
        .split('\n');
    const options = (...words: string[]): string[] =>
      ask(...words, '--').flatMap((line) => /^--[\w-]+/.exec(line)?.[0] ?? []);
    expect(ask('').toSorted()).toEqual(shown.map(({ name }) => name).toSorted());
    for (const name of ['bench', 'report', 'completions']) {
      const { options: declared } = shown.find((one) => one.name === name)!;
      const all = [...Object.keys(declared), 'help'].map((one) => `--${one}`).toSorted();
      expect(options(name).toSorted()).toEqual(all);
    }
    expect(options('fastify').toSorted()).toEqual(options('bench').toSorted());
    // zsh gets the values with the options.
    const formats = shell === 'zsh' ? ask('report', '--') : ask('report', 'x', '--format', '');
    expect(formats.join(' ')).toMatch(/\bmarkdown html json csv\b|csv[^]*markdown/);
  });
});
