import { HOME } from 'bench-machine/home';
import { readNames } from 'bench-machine/procfs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { readStacks, targetsOf } from 'bench-targets/catalogue/stacks';
import type { Stack } from 'bench-model/stack';
import type { Target } from 'bench-model/target';
import { prepareAll } from 'bench-targets/prepare/prepare';
import { describeWork, surveyWork, type Work } from 'bench-targets/prepare/inspect';

const logLine = (line: string): void => void process.stderr.write(`${line}\n`);

/** Longer preparations are announced. */
const LOG_AFTER_MS = 2000;

/**
 * Begins to make the environments and builds of a whole run, after saying what has to be made. A test that needs one waits
 * for it, and the run ends after the last one. Compiled stacks that were never built here are left to `pnpm build` and to CI:
 * their tests hold the binaries that are measured, with link-time optimisation, and those take minutes. The tests report
 * what is missing.
 */
export default async function prepare(project: TestProject): Promise<() => Promise<unknown>> {
  const stacks = readStacks();
  const targets = stacks.flatMap(targetsOf);
  const work = await surveyWork(targets, stacks);
  const unbuilt = process.env['CI'] === undefined ? work.filter(wasNeverBuilt).map(({ name }) => name) : [];
  project.provide(
    'unbuilt',
    Object.fromEntries(
      unbuilt.map((name) => [name, `${name} was never built here: pnpm build ${unbuilt.join(' ')}`]),
    ),
  );
  const buildable = targets.filter(({ stack }) => !unbuilt.includes(stack));
  for (const line of describeWork(work.filter(({ name }) => !unbuilt.includes(name)))) logLine(line);
  // A compiler waits for its linker, and an installer for its registry: together they use the cores.
  const kinds = Map.groupBy(buildable, ({ language }) => language).values();
  const made = Promise.all([...kinds].map((alike) => prepareKind(alike, stacks)));
  // The end of the run reports why it failed.
  made.catch(() => {});
  return () => made;
}

async function prepareKind(targets: Target[], stacks: Stack[]): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await prepareAll(targets, stacks, (doing) => {
    clearTimeout(timer);
    timer = setTimeout(() => logLine(doing), LOG_AFTER_MS);
  });
  clearTimeout(timer);
}

/** A build of a stack that has no earlier one here. */
function wasNeverBuilt({ kind, name }: Work): boolean {
  return kind === 'build' && !readNames(join(HOME.cache, 'builds')).some((one) => one.startsWith(`${name}-`));
}
