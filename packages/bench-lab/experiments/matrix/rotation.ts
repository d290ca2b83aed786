/**
 * Compares orders of turns on recorded slices: how far does a round miss a difference of 0? Every design gets the same
 * number of slices. The README of experiments says what came out.
 *
 *     pnpm exec node packages/bench-lab/experiments/matrix/rotation.ts <turns of each server> <run> [run…]
 *
 * The runs are turns of a server with itself: `pnpm bench vanilla --noise --interleave --rounds 4 --duration 20`.
 */
import { mean } from 'bench-statistics/numbers';
import { createRandom, type Random } from 'bench-statistics/random';
import { DESIGNS, type Design, type Turn } from './designs.ts';
import { readSlices, type Slices } from './slices.ts';

const SIDES = [3, 5, 8, 15];
const ROUNDS = 400;

const [turnsEach, ...runs] = process.argv.slice(2);
const TURNS = Number(turnsEach);
if (runs.length === 0 || !(TURNS > 0))
  throw new Error('give the number of turns, and name runs that have turns');

for (const run of runs) {
  const slices = readSlices(run);
  console.log(
    `\n${run}: standard deviation of a round in %, ${slices.reduce((sum, { length }) => sum + length, 0)} slices`,
  );
  console.log(['design', ...SIDES.map((sides) => `${sides - 1} rows`)].join('\t'));
  for (const design of DESIGNS) {
    const cells = SIDES.map((sides) => {
      const deviation = deviationOf(design, sides, slices, createRandom(sides));
      // Balanced blocks of many sides do not fit into a short round.
      return Number.isNaN(deviation) ? '—' : (100 * deviation).toFixed(2);
    });
    console.log([design.name, ...cells].join('\t'));
  }
}

/** The root mean square of the differences that a design finds between equal servers. */
function deviationOf(design: Design, sides: number, recorded: Slices[], random: Random): number {
  const places = sides * TURNS;
  const long = recorded.filter(({ length }) => length >= places);
  const squares = Array.from({ length: ROUNDS }, () => {
    const slices = long[random.below(long.length)] ?? [];
    const from = random.below(slices.length - places + 1);
    const rotation = design.rotate(sides, random);
    const turns: Turn[][] = Array.from({ length: sides }, () => []);
    for (let place = 0, repetition = 0; place < places; repetition++) {
      for (const side of rotation(repetition)) {
        const cost = slices[from + place];
        if (place < places && cost !== undefined) turns[side]?.push({ place, cost });
        place++;
      }
    }
    return mean(design.compare(turns).map((difference) => difference ** 2));
  });
  return Math.sqrt(mean(squares));
}
