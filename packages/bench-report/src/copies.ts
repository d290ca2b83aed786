/** The copies of a project in words: the commits that were measured. */
import { labelOf } from 'bench-targets/catalogue/copy-label';
import type { Plan } from 'bench-model/plan';

/** Describes each revision of a plan in one line: `main 89c6f5c: Add an index`. Folders are described by their names. */
export function describeCopies({ targets }: Pick<Plan, 'targets'>): string[] {
  const copies = new Map(targets.flatMap(({ copy }) => (copy === undefined ? [] : [[copy.name, copy]])));
  return [...copies.values()].flatMap((copy) => {
    if (copy.kind === 'folder') return [];
    const subject = copy.subject ?? 'a commit without a message';
    return copy.kind === 'revision'
      ? [`${labelOf(copy)}: ${subject}`]
      : [`${labelOf(copy)}: uncommitted changes on top of "${subject}"`];
  });
}
