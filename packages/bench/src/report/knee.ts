import type { Knee, Ladder, NoKnee } from '../analyse/ladder.ts';
import { formatWhole } from './format.ts';

/** What the knee of a ladder is, or why none is named, and where goodput falls past it. */
export function describeKnee({ knee, fall }: Ladder): string {
  const beyond =
    fall === undefined
      ? ''
      : `; from ${formatWhole(fall.connections)} on goodput falls (−${Math.round(fall.share * 100)} %)`;
  return `${'why' in knee ? describeNone(knee) : describePlace(knee)}${beyond}`;
}

/** The knees of all ladders in one line; undefined where none is named. */
export function describeKnees(ladders: Ladder[]): string | undefined {
  const named = ladders.flatMap(({ target, knee }) => ('why' in knee ? [] : [`${target} ${placeOf(knee)}`]));
  if (named.length === 0) return undefined;
  const rest = ladders.flatMap(({ target, knee }) => ('why' in knee ? [target] : []));
  const others = rest.length === 0 ? '.' : `; none named for ${rest.join(', ')}: --ladder says why.`;
  return `knee, where more connections stop buying goodput: ${named.join(', ')}${others}`;
}

function placeOf({ at, above }: Knee): string {
  return above === undefined
    ? `at ${formatWhole(at)} or fewer`
    : `between ${formatWhole(above)} and ${formatWhole(at)}`;
}

function describePlace(knee: Knee): string {
  const { queuesFrom } = knee;
  const queue =
    queuesFrom === undefined ? '' : `; beyond ${formatWhole(Math.ceil(queuesFrom))} requests must queue`;
  return `knee ${placeOf(knee)} connections${queue}`;
}

function describeNone({ why, connections = 0 }: NoKnee): string {
  const rung = formatWhole(connections);
  const words: Record<NoKnee['why'], string> = {
    'open-loop': 'no knee: --rate set the goodput, not the connections',
    'too-few-rungs': 'no knee named: it takes three rungs',
    'nothing-holds': 'no knee named: goodput holds at no rung',
    'still-rising': `no knee up to ${rung} connections: goodput still rises`,
    'not-measured': `no knee named: goodput at ${rung} was not measured`,
    'lower-bound': `no knee named: goodput at ${rung} is only a lower bound`,
    spoilt: `no knee named: goodput at ${rung} was spoilt`,
  };
  return words[why];
}
