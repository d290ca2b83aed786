/**
 * Simulated sequential tests. A round measures both targets in turn, and a fair coin decides which goes first.
 * The machine's noise depends on the position in time, not on the target.
 */
import type { Random } from 'bench-statistics/random';

/** Unscaled log noise at consecutive positions in time. */
type Weather = (random: Random, places: number) => number[];

const independent =
  (draw: (random: Random) => number): Weather =>
  (random, places) =>
    Array.from({ length: places }, () => draw(random));

const bursts: Weather = (random, places) => {
  let loaded = false;
  return Array.from({ length: places }, () => {
    loaded = random.float() < (loaded ? 0.6 : 0.08);
    return 0.3 * random.normal() + (loaded ? 2 - 2 * Math.log(1 - random.float()) : 0);
  });
};

const drift: Weather = (random, places) => {
  const slope = 0.5 + random.float();
  let wandered = 0;
  return Array.from({ length: places }, (_, place) => {
    wandered += random.normal();
    return slope * place + wandered + 0.3 * random.normal();
  });
};

const drawT3 = (random: Random): number => {
  const chiSquare = random.normal() ** 2 + random.normal() ** 2 + random.normal() ** 2;
  return random.normal() / Math.sqrt(chiSquare / 3);
};

const WEATHERS = {
  normal: independent((random) => random.normal()),
  t3: independent(drawT3),
  bursts,
  drift,
} satisfies Record<string, Weather>;

export type Noise = keyof typeof WEATHERS;
export const NOISES: readonly Noise[] = ['normal', 't3', 'bursts', 'drift'];

const UNIT_PLACES = 20_000;
const UNIT_LENGTH = 48;

/** Draws tests of `rounds` log ratios: `effect`, a share, plus noise with a standard deviation of `sd` per round. */
export function drawTests(
  noise: Noise,
  sd: number,
  effect: number,
  random: Random,
): (rounds: number) => number[] {
  const weather = WEATHERS[noise];
  const scale = sd / deviationOf(weather, random);
  const planted = Math.log(1 + effect);
  return (rounds) => {
    const places = weather(random, 2 * rounds);
    return Array.from({ length: rounds }, (_, round) => {
      const firstMinusSecond = scale * (places[2 * round]! - places[2 * round + 1]!);
      return planted + (random.coin() ? firstMinusSecond : -firstMinusSecond);
    });
  };
}

/**
 * Draws the log ratios of `rows` candidates to one baseline. A round measures all of them at consecutive places, in a
 * random order, so the rows share the noise of the baseline. Unscaled: 0 is the only centre that means something.
 */
export function drawTable(noise: Noise, rows: number, rounds: number, random: Random): number[][] {
  const sides = rows + 1;
  const places = WEATHERS[noise](random, rounds * sides);
  const table = Array.from({ length: rows }, (): number[] => []);
  for (let first = 0; first < places.length; first += sides) {
    for (let last = first + sides - 1; last > first; last--) {
      const other = first + random.below(last + 1 - first);
      [places[last], places[other]] = [places[other]!, places[last]!];
    }
    for (const [row, differences] of table.entries())
      differences.push(places[first + row + 1]! - places[first]!);
  }
  return table;
}

/** The root mean square of the noise in one round, whichever target went first. */
function deviationOf(weather: Weather, random: Random): number {
  let squares = 0;
  let rounds = 0;
  while (rounds < UNIT_PLACES / 2) {
    const places = weather(random, UNIT_LENGTH);
    for (let round = 0; round < UNIT_LENGTH / 2; round++, rounds++) {
      squares += (places[2 * round]! - places[2 * round + 1]!) ** 2;
    }
  }
  return Math.sqrt(squares / rounds);
}
