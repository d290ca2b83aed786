import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { ROOT, readStacks } from '@bench/harness/catalogue/stacks';
import { BenchError } from '@bench/harness/errors';
import { outputsOf } from '@bench/harness/measure/builds';
import { lockHost } from '@bench/harness/measure/lock';
import { CACHE } from '@bench/harness/measure/prepare';
import { parse } from '@bench/harness/options';
import { formatBytes } from '@bench/harness/report/format';
import { RESULTS, listRuns, sizeOf } from '@bench/harness/results/store';
import { runMain } from './shell.ts';

const KINDS = {
  environments: () => [join(CACHE, 'environments')],
  builds: () => [join(CACHE, 'builds'), ...new Set(readStacks().flatMap(outputsOf))],
  tools: () => [join(CACHE, 'uv'), join(CACHE, 'tools')],
  runs: () => listRuns().map((run) => join(RESULTS, run)),
};
type Kind = keyof typeof KINDS;

await runMain(async () => {
  const { values, positionals } = parse(process.argv.slice(2), { yes: { type: 'boolean' } });
  const unknown = positionals.find((name) => !(name in KINDS));
  if (unknown !== undefined)
    throw new BenchError(
      'usage',
      `there is nothing called "${unknown}" to clean`,
      `pnpm clean ${Object.keys(KINDS).join(' ')}`,
    );
  // What a run is using must not be removed under it.
  using _ = positionals.length === 0 ? undefined : lockHost('clean', randomBytes(8).toString('hex'));
  for (const kind of Object.keys(KINDS) as Kind[]) {
    const found = KINDS[kind]()
      .map((folder) => ({ folder, bytes: sizeOf(folder) }))
      .filter(({ bytes }) => bytes > 0);
    const total = found.reduce((sum, { bytes }) => sum + bytes, 0);
    process.stdout.write(`${kind}: ${found.length === 0 ? 'nothing' : formatBytes(total)}\n`);
    for (const { folder, bytes } of found)
      process.stdout.write(`  ${formatBytes(bytes).padStart(9)}  ${relative(ROOT, folder)}\n`);
    if (found.length > 0 && positionals.includes(kind) && (values.yes === true || (await agrees(kind)))) {
      for (const { folder } of found) rmSync(folder, { recursive: true, force: true });
      process.stdout.write(`${kind}: removed\n`);
    }
  }
  if (positionals.length === 0)
    process.stdout.write(
      `pnpm clean ${Object.keys(KINDS).join(' ')} removes what is named; published runs are kept\n`,
    );
});

async function agrees(kind: Kind): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new BenchError(
      'usage',
      `remove ${kind}? There is no terminal to ask on`,
      `pnpm clean ${kind} --yes`,
    );
  const prompt = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await prompt.question(`remove ${kind}? [y/N] `);
  prompt.close();
  return /^y(es)?$/i.test(answer.trim());
}
