import { readFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

const LIST = new URL('skipped-under-ci.json', import.meta.url);

/** Under CI a whole run may skip just the tests of the committed list: one more, or one less, fails it. */
export class SkipList implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules
      .flatMap((module) => [...module.children.allTests('skipped')])
      .map(({ fullName }) => fullName)
      .toSorted();
    const listed = (JSON.parse(readFileSync(LIST, 'utf8')) as string[]).toSorted();
    const odd = [
      ...skipped.filter((name) => !listed.includes(name)).map((name) => `skipped, but not listed: ${name}`),
      ...listed.filter((name) => !skipped.includes(name)).map((name) => `listed, but not skipped: ${name}`),
    ];
    if (odd.length === 0) return;
    process.stderr.write(
      `packages/bench/test/skipped-under-ci.json:\n${odd.map((line) => `  ${line}\n`).join('')}`,
    );
    process.exitCode = 1;
  }
}
