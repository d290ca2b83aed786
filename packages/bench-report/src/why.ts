/** The profiles of a comparison in words and a table: where the difference is spent. */
import {
  explainPair,
  stackCosts,
  type Change,
  type ChangedModule,
  type Explained,
} from 'bench-analysis/why/explain';
import { compareUse, findCauses } from 'bench-analysis/why/use';
import type { ProfiledSide, WhyFile } from 'bench-model/why';
import { mean, sum } from 'bench-statistics/numbers';
import { viewTable, type View } from './content.ts';
import { countOf, formatChange, formatCost, formatMargin, formatShare, formatSigned } from './format.ts';
import { describeUse, viewUse } from './why-use.ts';

/** The functions of a module that a sentence names, and the rows of a table. */
const MOST_NAMED = 3;
const MOST_ROWS = 15;

/** What is not named is told by its largest change if that is below this part of the whole difference: else the noise hides too much. */
const RESOLVED = 0.5;

/** The explanation of a pair: sentences, the most important first, and the table of functions. */
export interface WhyView {
  baseline: string;
  candidate: string;
  heading: string;
  sentences: string[];
  /** The functions whose cost changed, with the notes; without rows if none did. */
  table: View;
  /** What a request takes from the kernel and the runtime; without rows if that was not measured. */
  use: View;
}

/** Puts the profiles of a run into words, one part for each pair. */
export function viewWhy(why: WhyFile): WhyView[] {
  return why.pairs.flatMap((pair) => {
    const explained = explainPair(why, pair);
    return explained === undefined ? [] : [viewPair(explained, why)];
  });
}

/** Says of which targets the functions are not known, and why. */
export function describeMissing({ missing }: WhyFile): string[] {
  return missing.map(({ target, reason }) => `the functions of ${target} are not known: ${reason}`);
}

/** Returns an explanation as text in lines, without the tables. */
export function describeExplanation({
  heading,
  sentences,
}: Pick<WhyView, 'heading' | 'sentences'>): string[] {
  return [heading, ...sentences.map((sentence) => `  ${sentence}`)];
}

function viewPair(explained: Explained, why: WhyFile): WhyView {
  const { baseline, candidate, whole, functions } = explained;
  const over = why.requests === undefined ? '' : `, over ${countOf(why.requests, 'request')} in equal parts`;
  const heading = `${candidate.target} uses ${describeWhole(whole)} CPU per request than ${baseline.target}${over}`;
  const rows = functions
    .slice(0, MOST_ROWS)
    .map(({ frame, ...change }) => [
      frame.name,
      frame.file === frame.module ? frame.file : `${frame.file} (${frame.module})`,
      formatCost(change.before),
      formatCost(change.after),
      formatMargin(change.difference, change.margin),
      formatChange(1 + change.difference / whole.before),
    ]);
  const columns = [
    'function',
    'file',
    'µs before',
    'µs after',
    'difference (95 % interval)',
    'of all before',
  ];
  const hidden = functions.length - rows.length;
  const notes =
    explained.restUs === undefined
      ? []
      : [
          'µs of CPU per request spent in the function itself; all intervals hold together with 95 % confidence',
          ...(hidden > 0 ? [`${countOf(hidden, 'more function')} changed, each less than the last row`] : []),
          ...describeProfilers([baseline, candidate], why),
        ];
  const pair = { baseline: baseline.target, candidate: candidate.target };
  const uses = compareUse(baseline, candidate);
  return {
    ...pair,
    heading,
    sentences: [
      ...describeDelay(baseline, candidate),
      ...describeModules(explained),
      ...describeUse(uses, findCauses(pair, uses)),
    ],
    table: viewTable(
      { title: 'functions whose CPU per request changed', columns, rows, notes },
      columns.slice(2),
    ),
    use: viewUse(uses),
  };
}

/** Names a delayed acknowledgement for which the answers of one side waited. */
function describeDelay(...sides: readonly ProfiledSide[]): string[] {
  const held = sides.filter(({ delayed }) => delayed !== undefined);
  return held.length === 1 ? held.map(({ target, delayed }) => `${target}: ${delayed}.`) : [];
}

/** `199 µs (+86 %; 95 % interval: +150 to +248 µs) more`. */
function describeWhole({ before, difference, margin }: Change): string {
  const interval = `${formatSigned(difference - margin)} to ${formatSigned(difference + margin)} µs`;
  const amount = `${formatCost(Math.abs(difference))} µs (${formatChange(1 + difference / before)}; 95 % interval: ${interval})`;
  return `${amount} ${difference < 0 ? 'less' : 'more'}`;
}

function describeModules({ whole, modules, functions, restUs }: Explained): string[] {
  if (restUs === undefined) return [];
  const rest = `${formatCost(restUs)} µs (${formatShare(restUs / whole.before)})`;
  if (modules.length + functions.length === 0)
    return [`No function changed beyond the noise. None changed by more than ${rest}.`];
  const loose = functions.filter(({ frame }) => modules.every(({ module }) => module !== frame.module));
  return [
    ...modules.map((module) => describeModule(module, whole)),
    ...loose.map(
      ({ frame, difference }) => `${formatSigned(difference)} µs in ${frame.name} (${frame.file}).`,
    ),
    restUs < RESOLVED * Math.abs(whole.difference)
      ? `No other package or function changed by more than ${rest}.`
      : `Changes elsewhere of up to ${rest} are within the noise of the profiles.`,
  ];
}

/** `154 of 199 µs are in anyio, among them start_soon +31, __exit__ +22.` */
function describeModule({ module, difference, functions }: ChangedModule, whole: Change): string {
  const isSameWay = Math.sign(difference) === Math.sign(whole.difference);
  const amount = isSameWay
    ? `${formatCost(Math.abs(difference))} of ${formatCost(Math.abs(whole.difference))} µs are in`
    : `${formatSigned(difference)} µs in`;
  const named = functions
    .slice(0, MOST_NAMED)
    .map((one) => `${one.frame.name} ${formatSigned(one.difference)}`)
    .join(', ');
  return `${amount} ${module}${named === '' ? '' : `, among them ${named}`}.`;
}

/** Says how the profiles were taken, and what the profiler itself cost. */
function describeProfilers(sides: readonly ProfiledSide[], { seconds }: WhyFile): string[] {
  return sides.map(({ target, profiler, profiles }) => {
    const [plain, profiled] = [
      mean(profiles.map(({ cpuUs }) => cpuUs)),
      mean(profiles.flatMap(({ profiledUs }) => profiledUs ?? [])),
    ];
    const samples = sum(profiles.flatMap((one) => one.samples));
    return `${target}: ${profiler}, ${countOf(profiles.length, 'fresh server')} for ${seconds} s each, ${samples.toLocaleString('en-US')} samples. The profiler changed CPU per request by ${formatChange(profiled / plain)}, which is not in the figures`;
  });
}

/** Returns the profiles of a target as a speedscope file. Its weights are µs of CPU per request. */
export function toSpeedscope(why: WhyFile, side: ProfiledSide): object {
  const { target, profiler } = side;
  const costs = stackCosts(side);
  const weights = [...costs.values()];
  return {
    $schema: 'https://www.speedscope.app/file-format-schema.json',
    name: target,
    exporter: profiler,
    shared: { frames: why.frames.map(({ name, file }) => ({ name, file })) },
    profiles: [
      {
        type: 'sampled',
        name: `${target}: CPU per request`,
        unit: 'microseconds',
        startValue: 0,
        endValue: sum(weights),
        samples: [...costs.keys()].map((node) => stackOf(why, node)),
        weights,
      },
    ],
  };
}

/** Returns the functions of a node of the call tree, outermost first. */
function stackOf({ tree }: Pick<WhyFile, 'tree'>, node: number): number[] {
  const stack: number[] = [];
  for (let at = node; at >= 0; at = tree.parents[at] ?? -1) stack.unshift(tree.frames[at] as number);
  return stack;
}
