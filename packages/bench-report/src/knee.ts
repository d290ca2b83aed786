import type { Knee, NoKnee } from 'bench-analysis/ladder';
import { formatWhole } from './format.ts';
import type { ModelLadder } from './model/model.ts';

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
