/**
 * Does the CPU time of a server contain the time that the hypervisor took from its core? Compares the published trials
 * with the reason `steal` with the quiet rounds of the same target in the same run:
 *
 *     pnpm exec node packages/bench-lab/experiments/steal/trials.ts
 *
 * Records have the steal of the whole machine. Its cores lose alike, so a server on one core loses its share of them.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { cellOf } from 'bench-analysis/cells';
import { differencesWithin } from 'bench-analysis/compare';
import { quantile } from './quantile.ts';
import { median } from 'bench-statistics/numbers';
import { readRun } from 'bench-analysis/results/store';
import type { Trial } from 'bench-model/record';

const PUBLISHED = join(import.meta.dirname, '../../../../results/published');
/** Fewer quiet rounds give no level to compare with. */
const FEWEST_QUIET = 2;
/** A server that used this much of its core in quiet rounds was saturated. */
const SATURATED = 0.95;

/** One trial beside the quiet rounds of its cell. */
interface Beside {
  /** CPU per request ÷ that of the quiet rounds. */
  ratio: number;
  /** The cores that the server used, and those that it used in the quiet rounds. */
  used: number;
  usedQuiet: number;
  /** The cores that the hypervisor took from those of the server. */
  stolen: number;
}

/** The log ratio of two servers in a round. */
interface Round {
  state: State;
  value: number;
}

type State = 'steal' | 'quiet';

const trialsBy: Record<State, Beside[]> = { steal: [], quiet: [] };
/** Differences between two targets of one round ÷ their median in the quiet rounds. */
const pairsBy: Record<State, number[]> = { steal: [], quiet: [] };

for (const name of readdirSync(PUBLISHED)) {
  if (!existsSync(join(PUBLISHED, name, 'trials.jsonl'))) continue;
  const { trials, host } = readRun(join(PUBLISHED, name));
  for (const cell of Map.groupBy(trials, ({ target, connections }) =>
    cellOf({ target: target.id, connections }),
  ).values())
    compareCell(cell, host.cores);
  for (const rung of Map.groupBy(trials, ({ connections }) => connections).values()) comparePairs(rung);
}

console.log('| | trials with steal | median | p10 | p90 | quiet trials | median | p10 | p90 |');
console.log('|---|---:|---:|---:|---:|---:|---:|---:|---:|');
print('CPU per request ÷ quiet rounds', ({ ratio }) => ratio);
print('1 + stolen ÷ used', ({ stolen, used }) => 1 + stolen / used);
print(
  'CPU per request, less what was stolen, ÷ quiet rounds',
  ({ ratio, stolen, used }) => ratio * (1 - stolen / used),
);
print('cores used ÷ quiet rounds', ({ used, usedQuiet }) => used / usedQuiet, SATURATED);
print(
  'cores used + stolen ÷ quiet rounds',
  ({ used, usedQuiet, stolen }) => (used + stolen) / usedQuiet,
  SATURATED,
);
printRow('ratio of two servers in one round ÷ quiet rounds', pairsBy);

function compareCell(cell: Trial[], cores: number): void {
  const quiet = cell.filter((trial) => stateOf(trial) === 'quiet');
  for (const trial of cell) {
    const state = stateOf(trial);
    const own = costOf(trial);
    const others = quiet.filter((one) => one !== trial).flatMap((one) => costOf(one) ?? []);
    if (state === undefined || own === undefined || others.length < FEWEST_QUIET) continue;
    trialsBy[state].push({
      ratio: own.us / median(others.map(({ us }) => us)),
      used: own.used,
      usedQuiet: median(others.map(({ used }) => used)),
      stolen: (own.stolenFromAll * (trial.placement.server?.length ?? cores)) / cores,
    });
  }
}

function comparePairs(trials: Trial[]): void {
  const connections = trials[0]?.connections ?? 0;
  const names = [...new Set(trials.map(({ target }) => target.id))];
  for (const [index, candidate] of names.entries()) {
    for (const baseline of names.slice(0, index)) {
      const both = trials.filter(({ target }) => [candidate, baseline].includes(target.id));
      const byRound = [...Map.groupBy(both, ({ round }) => round).values()].flatMap((pair): Round[] => {
        if (pair.length !== 2 || pair.some((trial) => trial.duel === undefined)) return [];
        const states = pair.map(stateOf);
        const state: State | undefined = states.includes('steal')
          ? 'steal'
          : states.every((one) => one === 'quiet')
            ? 'quiet'
            : undefined;
        const [difference] = differencesWithin(
          pair.map((trial) => ({ ...trial, round: 1 })),
          { connections, candidate, baseline },
          'cpu',
        );
        return state === undefined || difference === undefined ? [] : [{ state, value: difference.value }];
      });
      for (const one of byRound) {
        const others = byRound.filter((other) => other !== one && other.state === 'quiet');
        if (others.length < FEWEST_QUIET) continue;
        pairsBy[one.state].push(Math.exp(one.value - median(others.map(({ value }) => value))));
      }
    }
  }
}

/** Undefined if something else disturbed the trial, too, so that it shows nothing about steal. */
function stateOf({ reasons }: Trial): State | undefined {
  if (reasons.some(({ code }) => code === 'other-processes' || code === 'ratio-trend' || code === 'trend'))
    return undefined;
  return reasons.some(({ code }) => code === 'steal') ? 'steal' : 'quiet';
}

function costOf(trial: Trial): { us: number; used: number; stolenFromAll: number } | undefined {
  if (trial.status === 'failed') return undefined;
  const { cpuUsPerRequest: us, server, host } = trial.measured;
  if (us === undefined || server === undefined || host.stealCores === undefined) return undefined;
  return { us, used: server.coresUsed, stolenFromAll: host.stealCores };
}

/** Prints a figure of the trials with steal and of the quiet ones; with `least`, only of servers that used so much. */
function print(label: string, figure: (one: Beside) => number, least = 0): void {
  const of = (state: State): number[] =>
    trialsBy[state].filter(({ usedQuiet }) => usedQuiet >= least).map(figure);
  printRow(least > 0 ? `${label} (saturated servers)` : label, { steal: of('steal'), quiet: of('quiet') });
}

function printRow(label: string, { steal, quiet }: Record<State, number[]>): void {
  const figures = [steal, quiet].flatMap((values) => [
    values.length,
    ...[0.5, 0.1, 0.9].map((share) => quantile(values, share).toFixed(3)),
  ]);
  console.log(`| ${[label, ...figures].join(' | ')} |`);
}
