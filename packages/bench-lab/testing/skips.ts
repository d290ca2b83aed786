import { readFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

const LIST = new URL('skipped-under-ci.json', import.meta.url);

/** A test that did not run. */
export interface Skipped {
  name: string;
  /** The missing requirement; absent where its platform or `-t` leaves it out. */
  why?: string | undefined;
}

/** The tests that CI skips. */
export interface Listed {
  /** Their requirements are never met there. */
  always: string[];
  /** They need a machine that keeps its pace while they prepare, or user namespaces. */
  sometimes: string[];
}

/** Says at the end of a run what was skipped and why. Under CI, a skip that the committed list does not have is an error. */
export class Skips implements Reporter {
  readonly #isWhole: boolean;
  readonly #isCi: boolean;

  constructor(isWhole: boolean, isCi: boolean) {
    this.#isWhole = isWhole;
    this.#isCi = isCi;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) =>
      [...module.children.allTests('skipped')].map((test) => {
        const result = test.result();
        return { name: test.fullName, why: result.state === 'skipped' ? result.note : undefined };
      }),
    );
    const lines = describeSkips(skipped);
    const listed = JSON.parse(readFileSync(LIST, 'utf8')) as Listed;
    const odd = this.#isCi ? holdAgainst(listed, skipped, this.#isWhole) : [];
    if (odd.length > 0) process.exitCode = 1;
    for (const line of [...lines, ...odd]) process.stderr.write(`${line}\n`);
  }
}

/** Lists what is missing, each with the number of tests that it skips; a heading above it where there is anything. */
export function describeSkips(skipped: readonly Skipped[]): string[] {
  const reasons = Map.groupBy(
    skipped.filter(({ why }) => why !== undefined),
    ({ why }) => why,
  );
  const lines = [...reasons].map(
    ([why, tests]) => `  ${why} (${tests.length} ${tests.length === 1 ? 'test' : 'tests'})`,
  );
  return lines.length === 0 ? [] : ['Skipped, because something is missing here:', ...lines];
}

/**
 * Lists the skips that differ from the committed ones. A run of some files or names is only held to skip nothing else
 * for want of something.
 */
export function holdAgainst(
  { always, sometimes }: Listed,
  skipped: readonly Skipped[],
  isWhole: boolean,
): string[] {
  const counted = skipped.filter(({ why }) => isWhole || why !== undefined);
  const names = new Set(counted.map(({ name }) => name));
  const extra = [...names].filter((name) => !always.includes(name) && !sometimes.includes(name));
  const absent = isWhole ? always.filter((name) => !names.has(name)) : [];
  const odd = [
    ...extra.toSorted().map((name) => `  skipped, but not listed: ${name}`),
    ...absent.toSorted().map((name) => `  listed, but not skipped: ${name}`),
  ];
  return odd.length === 0 ? [] : ['packages/bench-lab/testing/skipped-under-ci.json:', ...odd];
}
