/** The differential flame graph of a comparison: one call tree with CPU per request on both sides. */
import { costsBy, scaleSides } from 'bench-analysis/why/explain';
import type { ComparedPair, ProfiledSide, WhyFile } from 'bench-model/why';

/** A call that uses less than this share of the CPU on both sides is left out: it would be narrower than a pixel. */
const LEAST_SHARE = 0.001;

/** A function called in one place. Its costs are µs of CPU per request with everything that it calls. */
export interface Flame {
  name: string;
  file: string;
  before: number;
  after: number;
  calls: Flame[];
}

/**
 * Builds the call tree of a pair from the code of the project down. What runs outside of it is beside it by module. Undefined if a side
 * had no profiler.
 */
export function buildFlame(
  why: WhyFile,
  { baseline, candidate }: Pick<ComparedPair, 'baseline' | 'candidate'>,
): Flame | undefined {
  const { times } = why.pairs.find((one) => one.baseline === baseline && one.candidate === candidate) ?? {};
  const found = [baseline, candidate].flatMap((id) => why.sides.find(({ target }) => target === id) ?? []);
  if (found.some(({ profiler }) => profiler === undefined)) return undefined;
  // A function comes after its caller.
  const flames: Flame[] = [];
  const callers: number[] = [];
  const add = (named: Pick<Flame, 'name' | 'file'>, caller: number): number => {
    callers.push(caller);
    return flames.push({ ...named, before: 0, after: 0, calls: [] }) - 1;
  };
  const whole = add({ name: 'all', file: '' }, -1);
  const isProject = why.frames.map(({ from }) => from === 'project');
  const around = isProject.includes(true) ? add({ name: 'outside of the project', file: '' }, whole) : whole;
  const known = new Map<string, number>();
  const places: { flame: number; isInside: boolean }[] = [];
  for (const [node, frame] of why.tree.frames.entries()) {
    const above = places[why.tree.parents[node] ?? -1] ?? { flame: around, isInside: false };
    const isInside = above.isInside || isProject[frame] === true;
    const isFlat = !isInside && around !== whole;
    const caller = isFlat ? around : isInside && !above.isInside ? whole : above.flame;
    const named = isFlat ? { name: why.frames[frame]?.module ?? '', file: '' } : nameOf(why, frame, found);
    const key = `${caller} ${isFlat ? named.name : frame}`;
    const flame = known.get(key) ?? add(named, caller);
    known.set(key, flame);
    places.push({ flame, isInside });
  }
  // As the table has it.
  const within = (at: number): number[] => (at < 0 ? [] : [at, ...within(callers[at] ?? -1)]);
  for (const [index, { profiles }] of scaleSides(found, times).sides.entries()) {
    for (const profile of profiles)
      for (const [at, us] of costsBy(profile, (node) => within(places[node]?.flame ?? -1)))
        (flames[at] as Flame)[index === 0 ? 'before' : 'after'] += us / profiles.length;
  }
  const sizeOf = ({ before, after }: Flame): number => Math.max(before, after);
  const [all] = flames as [Flame];
  for (const [index, flame] of flames.entries())
    if (sizeOf(flame) >= LEAST_SHARE * sizeOf(all)) flames[callers[index] ?? -1]?.calls.push(flame);
  for (const { calls } of flames) calls.sort((a, b) => (a.name < b.name ? -1 : 1));
  return all;
}

/** Names a function with its line, in the candidate if that has it. */
function nameOf(why: WhyFile, frame: number, sides: readonly ProfiledSide[]): Pick<Flame, 'name' | 'file'> {
  const { name = '', file = '' } = why.frames[frame] ?? {};
  const line = sides.map(({ lines }) => lines?.[frame] ?? 0).findLast((one) => one > 0);
  return { name: line === undefined ? name : `${name}:${line}`, file };
}
