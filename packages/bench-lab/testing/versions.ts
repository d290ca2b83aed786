/** What newer runtimes cost, from repeats of one comparison, as a table of a document. */
import type { ComparedRow } from 'bench-analysis/compare';
import type { StoredRun } from 'bench-analysis/results/store';
import { describeVerdict } from 'bench-report/compare';
import { drawTable } from './draw-table.ts';
import { compareOf, showShare } from './repeats.ts';

/** A published run, and its address in the document. */
interface Repeat {
  link: string;
  run: StoredRun;
}

/**
 * Draws one row for each stack, at each number of connections, and one column for each runtime: CPU per request against the first runtime, over the rounds of all
 * repeats together. Repeats are runs with the same targets. The line below says how far single repeats are apart.
 */
export function drawVersions(repeats: readonly Repeat[]): string {
  const groups = [...Map.groupBy(repeats, ({ run }) => namesOf(run)).values()];
  const rows = groups.flatMap((group) => compareOf(joinRounds(group.map(({ run }) => run))).rows);
  const singles = groups.flatMap((group) => group.map(({ run }) => compareOf(run).rows));
  const stacks = new Set(rows.map(({ candidate }) => splitId(candidate).stack));
  const runtimes = new Set(rows.map(({ candidate }) => splitId(candidate).runtime));
  const rungs = new Set(rows.map(({ connections }) => connections));
  const [baseline] = rows.map((row) => splitId(row.baseline).runtime);
  const lines = [...rungs].flatMap((connections) =>
    [...stacks].map((stack) => [
      rungs.size === 1 ? `\`${stack}\`` : `\`${stack}\`, ${connections} connections`,
      ...[...runtimes].map((runtime) => {
        const row = findRow(rows, { candidate: `${stack}@${runtime}`, connections });
        return row === undefined ? '—' : describeVerdict(row).replaceAll(/^(?:slower|faster): |;.*$/g, '');
      }),
    ]),
  );
  const moves = rows.flatMap((row) => {
    const ratios = singles.flatMap((one) => ratioOf(findRow(one, row)) ?? []);
    return ratios.length < 2 ? [] : Math.max(...ratios) / Math.min(...ratios) - 1;
  });
  const links = repeats.map(({ link }, index) => `[${index + 1}](${link})`).join(', ');
  const agreement =
    moves.length === 0 ? '' : ` Between repeats, a ratio moves by at most ${showShare(Math.max(...moves))}.`;
  const label = repeats.length === 1 ? 'Run' : 'Runs';
  return `${drawTable([`against ${baseline}`, ...runtimes], lines)}\n\n${label} ${links}.${agreement}`;
}

/** Returns one run with the rounds of several. */
function joinRounds(runs: readonly StoredRun[]): StoredRun {
  const [first] = runs;
  if (first === undefined) throw new Error('a comparison needs a run');
  let before = 0;
  const trials = runs.flatMap((run) => {
    const own = run.trials.map((trial) => ({ ...trial, round: trial.round + before }));
    before += run.plan.rounds;
    return own;
  });
  return { ...first, plan: { ...first.plan, rounds: before }, trials };
}

function namesOf({ plan }: StoredRun): string {
  return plan.targets
    .map(({ id }) => id)
    .toSorted()
    .join();
}

function splitId(id: string): { stack: string; runtime: string } {
  const [stack = '', runtime = ''] = id.split('@');
  return { stack, runtime };
}

function findRow(
  rows: readonly ComparedRow[],
  { candidate, connections }: Pick<ComparedRow, 'candidate' | 'connections'>,
): ComparedRow | undefined {
  return rows.find((row) => row.candidate === candidate && row.connections === connections);
}

function ratioOf(row: ComparedRow | undefined): number | undefined {
  return row?.comparison.ratio?.estimate;
}
