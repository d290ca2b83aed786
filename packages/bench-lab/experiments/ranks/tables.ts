/**
 * Ranks simulated tables of one rung: how often do equal servers get different ranks, and how often are servers
 * that differ told from each other? The README of experiments says what came out.
 *
 *     pnpm exec node packages/bench-lab/experiments/ranks/tables.ts [tables]
 */
import { contestAll, rankTargets } from 'bench-analysis/contest';
import { exactly } from 'bench-analysis/differences';
import { fixedSchedule } from 'bench-analysis/looks';
import { sum } from 'bench-statistics/numbers';
import { createRandom, type Random } from 'bench-statistics/random';

const TARGETS = [2, 5, 14];
const ROUNDS = [3, 6, 12];
/** The standard deviation of the log figure of one server in one round. */
const DEVIATION = 0.02;
const RULES = { better: 'lower', threshold: 0.02 } as const;
const RUNG = 10;

const [tables = 1000] = process.argv.slice(2).map(Number);

/** Draws the noise of a server in a round, as a multiple of the usual deviation. */
type Noise = (random: Random, server: number, round: number) => number;

const ofServers =
  (deviationOf: (server: number) => number): Noise =>
  (random, server) =>
    deviationOf(server) * random.normal();

const NOISES: Record<string, Noise> = {
  alike: ofServers(() => 1),
  // Student's t with three degrees of freedom.
  'heavy tails': (random) => {
    const squares = random.normal() ** 2 + random.normal() ** 2 + random.normal() ** 2;
    return random.normal() / Math.sqrt(squares / 3);
  },
  'one × 5': ofServers((server) => (server === 0 ? 5 : 1)),
  'half × 3': ofServers((server) => (server % 2 === 0 ? 3 : 1)),
  'a bad round': (random, _server, round) => (round === 0 ? 15 * random.float() : 0) + random.normal(),
  '0.5 to 2 ×': (random, server) => 2 ** (((server * 5) % 14) / 6.5 - 1) * random.normal(),
};

/** Draws the log figure of each server in each round. */
function drawTable(servers: number, rounds: number, noise: Noise, random: Random): number[][] {
  return Array.from({ length: servers }, (_, server) =>
    Array.from({ length: rounds }, (__, round) => DEVIATION * noise(random, server, round)),
  );
}

/** Ranks servers by their log figures; the last costs more by this share. */
function rank(logs: readonly number[][], effect: number): number[] {
  const names = logs.map((_, server) => String(server));
  const planted = Math.log(1 + effect);
  const costOf = (server: string, round: number): number =>
    (logs[Number(server)]?.[round] ?? 0) + (Number(server) === logs.length - 1 ? planted : 0);
  const contested = contestAll(
    names,
    [{ connections: RUNG }],
    ({ candidate, baseline }) =>
      exactly((logs[0] ?? []).map((_, round) => costOf(candidate, round) - costOf(baseline, round))),
    { ...RULES, schedule: fixedSchedule(logs[0]?.length ?? 0) },
  );
  const ranks = rankTargets(names, contested, RULES.threshold);
  return names.map((name) => ranks.get(name) ?? 0);
}

const differ = (ranks: readonly number[]): boolean => new Set(ranks).size > 1;
/** The share of the other servers that the last one is ranked below. */
const found = (ranks: readonly number[]): number => ((ranks.at(-1) ?? 0) - 1) / (ranks.length - 1);

function shareOf(count: number): string {
  const share = (100 * count) / tables;
  return `${share < 10 ? share.toFixed(1) : Math.round(share)} %`;
}

console.log(
  `| targets | rounds | ${Object.keys(NOISES).join(' | ')} | 15 % found | 6 % found |\n|${'--:|'.repeat(4 + Object.keys(NOISES).length)}`,
);
for (const servers of TARGETS) {
  for (const rounds of ROUNDS) {
    const wrong = Object.values(NOISES).map((noise) => {
      const random = createRandom(100 * servers + rounds);
      return Array.from({ length: tables }, () => rank(drawTable(servers, rounds, noise, random), 0)).filter(
        differ,
      ).length;
    });
    const random = createRandom(rounds);
    const drawn = Array.from({ length: tables }, () =>
      drawTable(servers, rounds, NOISES['alike'] as Noise, random),
    );
    const power = [0.15, 0.06].map((effect) => sum(drawn.map((logs) => found(rank(logs, effect)))));
    console.log(`| ${servers} | ${rounds} | ${[...wrong, ...power].map(shareOf).join(' | ')} |`);
  }
}
