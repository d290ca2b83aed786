import { showPath } from 'bench-machine/files';
import { defineCommand, flag } from '../cli/command.ts';
import { commandLine, HOME } from 'bench-machine/home';
import { rmSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { join } from 'node:path';
import { suggest } from 'bench-model/suggest';
import { UsageError } from 'bench-model/errors';
import { readNames } from 'bench-machine/procfs';
import { formatBytes } from 'bench-report/format';
import { listRuns, sizeOf } from 'bench-analysis/results/store';
import { forgetRun } from '../conduct/begun.ts';
import { openSession } from '../conduct/session.ts';
import { print } from '../terminal/shell.ts';
import { sum } from 'bench-statistics/numbers';

const KINDS = {
  environments: () => foldersIn(join(HOME.cache, 'environments')),
  builds: () => ['builds', 'cargo'].map((name) => join(HOME.cache, name)),
  tools: () => ['tools', 'runtimes', 'managers'].map((name) => join(HOME.cache, name)),
  // A run removes its own; those of a killed run stay.
  revisions: () => foldersIn(join(HOME.cache, 'revisions')),
  runs: () => listRuns().map((run) => join(HOME.results, run)),
};
const NAMES = Object.keys(KINDS);

/** The folders in a folder. Beside an environment that is being made lies its lock, which is a file. */
function foldersIn(folder: string): string[] {
  return readNames(folder)
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory());
}

export default defineCommand({
  name: 'prune',
  about:
    'Lists what Bench keeps on this machine, with sizes. Removes the kinds that you name, but asks first. Never removes published runs.',
  arguments: {
    terms: '[kind...]',
    noun: 'kind',
    help: NAMES.join(', '),
    example: commandLine('prune environments'),
  },
  options: { yes: flag({ help: 'remove without asking' }) },
  read(parsed) {
    if (!parsed.yes || parsed.args.length > 0) return parsed;
    throw new UsageError('--yes has no effect without a kind', 'add <kind>, or omit --yes');
  },
  async run({ args: wanted, yes }) {
    const all = commandLine(`prune ${NAMES.join(' ')}`);
    const unknown = wanted.find((word) => !NAMES.includes(word));
    if (unknown !== undefined)
      throw new UsageError(`unknown kind "${unknown}"`, suggest(unknown, NAMES) ?? all);
    // Files in use by a run must not be removed. The leftovers of killed commands are removed in any case.
    using _ = await openSession('prune', { isAlone: wanted.length > 0, words: 'stopping' });
    for (const [kind, find] of Object.entries(KINDS)) {
      const found = find()
        .map((folder) => ({ folder, bytes: sizeOf(folder) }))
        .filter(({ bytes }) => bytes > 0);
      print(
        `${kind}: ${found.length === 0 ? 'nothing' : formatBytes(sum(found.map(({ bytes }) => bytes)))}\n`,
      );
      for (const { folder, bytes } of found)
        print(`  ${formatBytes(bytes).padStart(9)}  ${showPath(folder)}\n`);
      if (found.length === 0 || !wanted.includes(kind) || !(yes || (await agrees(kind)))) continue;
      for (const { folder } of found) {
        if (kind === 'runs') forgetRun(folder);
        rmSync(folder, { recursive: true, force: true });
      }
      print(`${kind}: removed\n`);
    }
    if (wanted.length === 0) print(`${all} removes them; published runs are kept\n`);
  },
});

async function agrees(what: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new UsageError(
      `cannot ask whether to remove ${what}: there is no terminal`,
      commandLine(`prune ${what} --yes`),
    );
  }
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await lines.question(`remove ${what}? [y/N] `)).trim());
  } finally {
    lines.close();
  }
}
