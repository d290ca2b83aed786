/** The published results of packages/bench-lab/experiments/neighbours, as tables of a document. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { estimateRatio } from 'bench-statistics/ratio';
import { formatChange, formatWhole } from 'bench-report/format';
import type { Arm, Fill, MeasuredSpan } from '../experiments/neighbours/spans.ts';
import { drawTable } from './draw-table.ts';

/** The spans of one arm in one round, under each condition. */
type Round = Record<Fill, MeasuredSpan>;

function readLines<T>(folder: string, name: string): T[] {
  const lines = readFileSync(join(folder, name), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as T);
}

/** Reads the rounds of each arm, in the order of rising cost and rate. Rounds that ended early are left out. */
function readArms(folder: string): { arm: Arm; rounds: Map<number, Round> }[] {
  const spans = readLines<MeasuredSpan>(folder, 'spans.jsonl');
  const arms = [...Map.groupBy(spans, nameArm).values()].map((all) => {
    const rounds = [...Map.groupBy(all, ({ round }) => round)].flatMap(([round, own]): [number, Round][] =>
      own.length === 3 ? [[round, Object.fromEntries(own.map((span) => [span.fill, span])) as Round]] : [],
    );
    return { arm: all[0] as Arm, rounds: new Map(rounds) };
  });
  const order = ['vanilla', 'fastify', 'uvicorn', 'fastapi'];
  return arms.toSorted(
    (a, b) =>
      order.indexOf(a.arm.target) - order.indexOf(b.arm.target) ||
      (a.arm.perSecond ?? Infinity) - (b.arm.perSecond ?? Infinity),
  );
}

function nameArm({ target, perSecond = 0 }: Arm): string {
  return `${target} ${perSecond}`;
}

function nameLoad({ perSecond }: Arm): string {
  return perSecond === undefined ? 'closed loop' : `${formatWhole(perSecond)}/s`;
}

/** Draws the ratios of CPU per request between a slow and a fast server at the same load, without and with the filler. */
export function drawRatios(folder: string): string {
  const arms = readArms(folder);
  const rows = arms.flatMap(({ arm: slow, rounds }) => {
    const fast = arms.find(
      ({ arm }) => arm.target === 'vanilla' && arm.perSecond === slow.perSecond && slow.target !== 'vanilla',
    );
    if (fast === undefined) return [];
    const pairs = [...rounds].flatMap(([round, own]) => {
      const other = fast.rounds.get(round);
      return other === undefined ? [] : [{ own, other }];
    });
    const ratioWith = (fill: Fill) =>
      showRatio(pairs.map(({ own, other }) => [other[fill].cpuUs, own[fill].cpuUs]));
    const change = pairs.map(({ own, other }): [number, number] => [
      own.nothing.cpuUs / other.nothing.cpuUs,
      own.filler.cpuUs / other.filler.cpuUs,
    ]);
    return [
      [
        `${slow.target} ÷ vanilla`,
        nameLoad(slow),
        ratioWith('nothing'),
        ratioWith('filler'),
        showChange(change),
      ],
    ];
  });
  return drawTable(['ratio', 'load', 'idle core', 'with the filler', 'change (95 % interval)'], rows);
}

function estimate(pairs: readonly [number, number][]) {
  const { estimate: ratio, low, high } = estimateRatio(pairs.map(([one, other]) => [other, one]));
  if (low === undefined || high === undefined) throw new Error('too few rounds');
  return { ratio, low, high };
}

/** The change from the first to the second of each pair, with its interval. */
export function showChange(pairs: readonly [number, number][]): string {
  const { ratio, low, high } = estimate(pairs);
  return `${formatChange(ratio)} (${formatChange(low)} to ${formatChange(high)})`;
}

function showRatio(pairs: readonly [number, number][]): string {
  const { ratio, low, high } = estimate(pairs);
  return `${ratio.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`;
}
