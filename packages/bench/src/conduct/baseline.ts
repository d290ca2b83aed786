/** A stored run as the baseline of a job: its commit is measured again, by turns with other revisions of the project. */
import { dirname, resolve } from 'node:path';
import { BenchError } from 'bench-model/errors';
import { commandLine, HOME } from 'bench-machine/home';
import type { Copy } from 'bench-model/target';
import type { Plan } from 'bench-model/plan';
import { findCommit, findRevisions } from 'bench-targets/prepare/copies/revisions';
import type { StoredRun } from 'bench-analysis/results/store';

/** The name of the commit of the baseline in tables and budgets. */
const NAME = 'baseline';

/**
 * Returns the commit of a stored run, named `baseline`, and the revisions to compare with it. Throws a usage error if the
 * run measured no commit or several, or if this repository lacks it.
 */
export async function findBeside(
  { plan }: StoredRun,
  revisions: readonly string[],
  { mayRepeat = false } = {},
): Promise<Copy[]> {
  const folder = folderOf(plan);
  const commit = commitOf(plan);
  if (revisions.includes(NAME)) {
    throw new BenchError(
      'usage',
      `--rev ${NAME}: with --again, "${NAME}" means the commit of the stored run`,
      'name the branch by its commit, or by its full name such as refs/heads/baseline',
    );
  }
  if ((await findCommit(folder, commit)) === undefined) {
    throw new BenchError(
      'usage',
      `run ${plan.run} measured the commit ${commit.slice(0, 7)}, which is not in this repository`,
      'fetch it, e.g. with fetch-depth: 0 in the checkout of a CI job; or store a run of a newer commit',
    );
  }
  const copies = await findRevisions(folder, [commit, ...revisions], { mayRepeat });
  return copies.map((copy, index) => (index === 0 ? { ...copy, name: NAME } : copy));
}

/** The folder of the project, whose repository has the commit. */
function folderOf({ apps = [], stacks }: Plan): string {
  const [app] = apps;
  const [manifest] = stacks;
  return resolve(app?.folder ?? (manifest === undefined ? HOME.root : dirname(manifest)));
}

function commitOf({ run, targets }: Plan): string {
  const copies = new Map(targets.map(({ copy }) => [copy?.name, copy]));
  const [copy, ...others] = copies.values();
  const hint = `measure one: ${commandLine('bench --rev main')}`;
  if (others.length > 0) {
    throw new BenchError(
      'usage',
      `run ${run} measured ${copies.size} revisions, but a baseline is a run of one commit`,
      hint,
    );
  }
  if (copy?.kind !== 'revision' || copy.commit === undefined) {
    throw new BenchError(
      'usage',
      `run ${run} did not measure a commit, so --rev cannot be compared with it`,
      hint,
    );
  }
  return copy.commit;
}
