/** A picture of comparisons: each ratio with its interval, as the report draws it. */
import type { StoredRun } from 'bench-analysis/results/store';
import { DEFAULT_THRESHOLD } from 'bench-model/options';
import { describeVerdict } from 'bench-report/compare';
import { nameCell, nameTarget } from 'bench-report/format';
import { describeMachine } from 'bench-report/view';
import { drawForest } from '../../bench-report/page/forest.ts';
import { drawPlot, nameRuns, type Picture, WIDTH } from './pictures.ts';
import { compareOf } from './repeats.ts';

/** Plans the picture of CPU per request against the baselines of these runs. Repeats count as one run with all rounds. */
export function toRatios(runs: readonly StoredRun[]): Picture {
  const [first] = runs;
  if (first === undefined) throw new Error('a picture of ratios needs a run');
  // Repeats are runs with the same targets: their rounds are compared together.
  const repeats = [...Map.groupBy(runs, namesOf).values()];
  const all = repeats.flatMap((group) => compareOf(joinRounds(group)).rows);
  const rungs = new Set(all.map(({ connections }) => connections));
  const rows = all.map((row) => {
    const cell = { target: row.candidate, route: row.route, connections: row.connections };
    const name = rungs.size > 1 ? nameCell(cell) : nameTarget(cell);
    return { name, comparison: row.comparison, words: describeVerdict(row) };
  });
  const baselines = new Set(all.map(({ baseline }) => baseline));
  const title = `CPU per request against ${nameBaseline(baselines)}, lower is better`;
  const below = [
    'Lines: 95 % intervals. Grey: less than 2 %.',
    `${nameWithRounds(runs)}.`,
    `${describeMachine(first.host)}.`,
  ];
  const forest = drawForest(rows, { threshold: DEFAULT_THRESHOLD, better: 'lower' }, WIDTH);
  return {
    name: `ratios-${first.plan.run}`,
    alt: `${title}: ${rows.map(({ name, words }) => `${name} ${words}`).join(', ')}`,
    width: WIDTH,
    draw: (theme) => drawPlot(theme, { title, below }, forest),
  };
}

/** `Run 20261130-104535-requests, of 8 rounds`. */
function nameWithRounds(runs: readonly StoredRun[]): string {
  const names = nameRuns(runs.map(({ plan }) => plan.run));
  const rounds = new Set(runs.map(({ trials }) => Math.max(...trials.map(({ round }) => round))));
  return `${names},${runs.length > 1 ? ' each' : ''} of ${[...rounds].join(' or ')} rounds`;
}

/** The one baseline, or the runtime of all. */
function nameBaseline(baselines: ReadonlySet<string>): string {
  const [one = ''] = baselines;
  return baselines.size === 1 ? one : `the same on ${one.split('@')[1] ?? one}`;
}

/** Returns one run with the rounds of several. */
function joinRounds(runs: readonly StoredRun[]): StoredRun {
  const [first] = runs as [StoredRun];
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
