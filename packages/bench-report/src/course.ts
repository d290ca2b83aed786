/** Goodput over the rungs: one line for each target, and its knee in words. */
import { formatWhole, nameTarget } from './format.ts';
import type { Knee, NoKnee } from 'bench-analysis/ladder';
import type { Model, ModelLadder, ModelRow } from './model/model.ts';

/** Bars of rising height. */
export const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** A rung without a goodput. */
const GAP = '·';

/** With fewer rungs there is no course. */
const FEWEST_RUNGS = 3;

/**
 * Draws the goodput of each target over the rungs, relative to its highest, with its knee. Empty for fewer than three
 * rungs, and for an open loop, whose rate determines the goodput.
 */
export function drawCourses({ plan, ladders, rows }: Pick<Model, 'plan' | 'ladders' | 'rows'>): string[] {
  const rungs = [...new Set(rows.map(({ connections }) => connections))].toSorted((a, b) => a - b);
  if (rungs.length < FEWEST_RUNGS || plan.load.mode === 'open') return [];
  const widest = Math.max(...ladders.map((ladder) => nameTarget(ladder).length));
  const lines = ladders.map((ladder) => {
    const own = rows.filter(({ target, route }) => target === ladder.target && route === ladder.route);
    return `  ${nameTarget(ladder).padEnd(widest)}  ${drawBars(rungs, own)}  ${nameKnee(ladder)}`;
  });
  const ends = [rungs[0], rungs.at(-1)].map((rung = 0) => formatWhole(rung));
  return [
    `goodput from ${ends.join(' to ')} connections; beyond its knee, more connections add none:`,
    ...lines,
  ];
}

function drawBars(rungs: readonly number[], rows: readonly ModelRow[]): string {
  const goodputs = rungs.map(
    (rung) => rows.find(({ connections }) => connections === rung)?.figures.goodput?.median,
  );
  const highest = Math.max(...goodputs.map((goodput = 0) => goodput));
  return goodputs
    .map((goodput) =>
      goodput === undefined
        ? GAP
        : BARS[Math.min(BARS.length - 1, Math.floor((goodput / highest) * BARS.length))],
    )
    .join('');
}

/** Describes the knee of a ladder or the reason that it has none, and where goodput falls beyond it. */
export function describeKnee({ knee, fall }: ModelLadder): string {
  const beyond =
    fall === undefined
      ? ''
      : `; goodput falls from ${formatWhole(fall.connections)} on (−${Math.round(fall.share * 100)} %)`;
  return `${'why' in knee ? describeNone(knee) : describePlace(knee)}${beyond}`;
}

/** Describes the knee of a ladder in a few words. */
export function nameKnee({ knee }: ModelLadder): string {
  return 'why' in knee ? describeNone(knee) : `knee ${placeOf(knee)}`;
}

function placeOf({ at, above }: Knee): string {
  return above === undefined
    ? `at ${formatWhole(at)} or fewer`
    : `between ${formatWhole(above)} and ${formatWhole(at)}`;
}

function describePlace(knee: Knee): string {
  const { queuesFrom } = knee;
  const queue =
    queuesFrom === undefined ? '' : `; above ${formatWhole(Math.ceil(queuesFrom))}, requests must queue`;
  return `knee ${placeOf(knee)} connections${queue}`;
}

function describeNone({ why, connections = 0 }: NoKnee): string {
  const rung = formatWhole(connections);
  const words: Record<NoKnee['why'], string> = {
    'open-loop': 'no knee: --rate determines the goodput, not the connections',
    'too-few-rungs': 'no knee: fewer than three numbers of connections',
    'none-valid': 'no knee: no goodput is valid',
    'still-rising': `no knee up to ${rung} connections: goodput still rises`,
    'not-measured': `no knee: goodput at ${rung} was not measured`,
    'lower-bound': `no knee: goodput at ${rung} is only a lower bound`,
    invalid: `no knee: goodput at ${rung} is invalid`,
  };
  return words[why];
}
