/** The profiles of a comparison in words and a table: where the difference is spent. */
import {
  explainPair,
  type Change,
  type ChangedModule,
  type ChangedPlace,
  type Explained,
} from 'bench-analysis/why/explain';
import type { Hunk, ProfiledSide, WhyFile } from 'bench-model/why';
import { mean } from 'bench-statistics/numbers';
import { viewTable, type View } from './content.ts';
import {
  countOf,
  formatChange,
  formatChangeWithin,
  formatCost,
  formatMargin,
  formatSigned,
  formatUs,
} from './format.ts';
import { viewCaused } from './why-use.ts';
import { listAll, nameSome } from './words.ts';

/** The modules, the functions or the stretches of code that a sentence names. */
const MOST_NAMED = 3;
/** A module with less of the difference than this is not named after its cause. */
const LEAST_SHARE = 0.1;
/** The modules that a cause calls, in a table. */
const MOST_ROWS = 5;

/** The explanation of a pair: sentences, the most important first, and the table of functions. */
export interface WhyView {
  baseline: string;
  candidate: string;
  heading: string;
  sentences: string[];
  /** The places and packages whose cost changed, with the notes; without rows if none did. */
  table: View;
  /** What a request takes from the kernel and the runtime; without rows if that was not measured. */
  use: View;
}

/** Puts the profiles of a run into words, one part for each pair. */
export function viewWhy(why: WhyFile): WhyView[] {
  return why.pairs.flatMap((pair) => {
    const explained = explainPair(why, pair);
    return explained === undefined ? [] : [viewPair(explained, { why, hunks: pair.hunks ?? [] })];
  });
}

/** Says of which targets the functions are not known, and why. */
export function describeMissing({ missing }: WhyFile): string[] {
  return missing.map(({ target, reason }) => `The functions of ${target} are not known: ${reason}`);
}

function viewPair(explained: Explained, { why, hunks }: { why: WhyFile; hunks: readonly Hunk[] }): WhyView {
  const { baseline, candidate, restUs } = explained;
  const over = why.requests === undefined ? '' : `, over ${countOf(why.requests, 'request')} in equal parts`;
  const rows = listRows(explained);
  const columns = ['µs of CPU per request', 'before', 'after', 'difference (95 % interval)'];
  const isMarked = rows.some(([place = '']) => place.startsWith(MARK));
  const notes = [
    ...(isMarked ? [`${MARK} the code of the two sides differs there`] : []),
    'Lines include all that they call; all intervals hold together with 95 % confidence',
    ...describeProfilers([baseline, candidate], why),
  ];
  const pair = { baseline: baseline.target, candidate: candidate.target };
  const { use, causes, counts } = viewCaused({ ...why, hunks }, baseline, candidate);
  return {
    ...pair,
    heading: `${describeWhole(explained)}${over}`,
    sentences: [...causes, ...describeExplained(explained, hunks), ...counts],
    table: viewTable(
      { title: 'where the difference is spent', columns, rows, notes: restUs === undefined ? [] : notes },
      columns.slice(1),
    ),
    use,
  };
}

/** `B uses 199 µs more CPU per request than A: +86 % (+82 % to +90 %)`. The rounds tell the ratio, or else the profiles. */
function describeWhole({ baseline, candidate, whole, times }: Explained): string {
  const { before, difference, margin } = whole;
  const at = (by: number): number => 1 + (difference + by) / before;
  const ratio = times ?? { low: at(-margin), estimate: at(0), high: at(margin) };
  const amount = `${formatUs(Math.abs(difference))} ${difference < 0 ? 'less' : 'more'} CPU per request than`;
  const isSure = ratio.low > 1 || ratio.high < 1;
  const words = isSure ? `uses ${amount}` : 'may use as much CPU per request as';
  return `${candidate.target} ${words} ${baseline.target}: ${formatChangeWithin(ratio.estimate, ratio)}`;
}

/** Names first the line of the project, or the packages if it explains too little. */
function describeExplained(explained: Explained, hunks: readonly Hunk[]): string[] {
  const { path, isMain, calls, modules, beside, whole, restUs } = explained;
  if (restUs === undefined) return [];
  const cause = path.at(-1);
  if (cause === undefined && modules.length + beside.length === 0)
    return [`No line and no package changed beyond the noise: none by more than ${formatUs(restUs)}.`];
  const named = calls.filter(
    (one) => one.module !== cause?.file && one.difference / (cause?.difference ?? 1) > LEAST_SHARE,
  );
  const inside = named.length === 0 ? '' : `, of which ${nameChanges(named, ({ module }) => module)}`;
  // A function whose line is not known may hold others that differ.
  const nameBeside = (one: ChangedPlace): string =>
    `${namePlace(one)}${hunks.length === 0 || one.isTouched || one.isWhole ? '' : ' (same code)'}`;
  return [
    ...(isMain ? [] : modules.map((one) => describeModule(one, whole))),
    ...(cause === undefined ? [] : [`${namePlace(cause)}: ${describeShare(cause, whole)}${inside}.`]),
    ...(beside.length > 0 ? [`Also ${nameChanges(beside, nameBeside)}.`] : []),
    ...(isMain && modules.length > 0 ? [`Elsewhere: ${nameChanges(modules, ({ module }) => module)}.`] : []),
    ...describeHunks(hunks),
    `Nothing else differs by more than ${formatUs(restUs)} per request.`,
  ];
}

/** `anyio +40 µs, asyncio +23 µs, 2 more`. */
function nameChanges<One extends Change>(changes: readonly One[], nameOf: (one: One) => string): string {
  const named = changes.map((one) => `${nameOf(one)} ${formatSigned(one.difference, formatUs)}`);
  return nameSome(named, MOST_NAMED).join(', ');
}

/** `+5.90 ms of +6.10 ms`; without the whole if it is not a part of it. */
function describeShare({ difference }: Change, whole: Change): string {
  const own = formatSigned(difference, formatUs);
  const share = difference / whole.difference;
  const isPart = share > 0 && share <= 1 && Math.abs(whole.difference) > whole.margin;
  return isPart ? `${own} of ${formatSigned(whole.difference, formatUs)}` : own;
}

/** `main.py:41 authors()`. */
function namePlace({ name, file, line, isTouched, after }: ChangedPlace): string {
  const gone = isTouched && after === 0 ? ', removed' : '';
  return `${file}${line > 0 ? `:${line}` : ''} ${name}${name.endsWith(')') ? '' : '()'}${gone}`;
}

/** Names the places at which the two sides differ, if these are few. */
function describeHunks(hunks: readonly Hunk[]): string[] {
  if (hunks.length === 0 || hunks.length > MOST_NAMED) return [];
  const places = hunks.map(({ file, before, removed, after, added }) => {
    const [from, length] = added > 0 ? [after, added] : [before, removed];
    const to = length > 1 ? `–${from + length - 1}` : '';
    return `${file}:${from}${to}${added > 0 ? '' : ' (removed)'}`;
  });
  return [`The code of the two sides differs in ${listAll(places)}.`];
}

/** `+154 µs of +199 µs in anyio, called at main.py:8, among them start_soon +31.0, __exit__ +22.0.` */
function describeModule({ module, functions, caller, ...change }: ChangedModule, whole: Change): string {
  const named = functions
    .slice(0, MOST_NAMED)
    .map((one) => `${one.name} ${formatSigned(one.difference)}`)
    .join(', ');
  const at = caller === undefined ? '' : `, called at ${caller.file}:${caller.line}`;
  return `${describeShare(change, whole)} in ${module}${at}${named === '' ? '' : `, among them ${named}`}.`;
}

const MARK = '*';

/** The lines that lead to the cause, what it calls, and what else changed; the packages with their functions first if it is not the main one. */
function listRows({ path, isMain, calls, modules, others }: Explained): string[][] {
  const nameOf = (module: string): string => (module === path.at(-1)?.file ? 'itself' : module);
  const called = calls.slice(0, MOST_ROWS).map((one) => rowOf(`    of which ${nameOf(one.module)}`, one));
  const lines = [...path.map(rowOfPlace), ...called, ...others.map(rowOfPlace)];
  if (isMain) return [...lines, ...modules.map((one) => rowOf(`  ${one.module}, elsewhere`, one))];
  const packages = modules.flatMap((one) => [
    rowOf(`  ${one.module}`, one),
    ...one.functions.slice(0, MOST_NAMED).map((each) => rowOf(`    ${each.name}`, each)),
  ]);
  return [...packages, ...lines];
}

function rowOfPlace(place: ChangedPlace): string[] {
  return rowOf(`${place.isTouched ? MARK : ' '} ${namePlace(place)}`, place);
}

function rowOf(label: string, { before, after, difference, margin }: Change): string[] {
  return [label, formatCost(before), formatCost(after), formatMargin(difference, margin)];
}

/** Says how the profiles were taken, and what the profiler itself cost. */
function describeProfilers(sides: readonly ProfiledSide[], { seconds }: WhyFile): string[] {
  return sides.map(({ target, profiler, profiles }) => {
    const plain = mean(profiles.map(({ cpuUs }) => cpuUs));
    const profiled = mean(profiles.flatMap(({ profiledUs }) => profiledUs ?? []));
    return `${target}: ${profiler}, ${countOf(profiles.length, 'fresh server')} for ${seconds} s each. The profiler changed CPU per request by ${formatChange(profiled / plain)}, which is not in the figures`;
  });
}
