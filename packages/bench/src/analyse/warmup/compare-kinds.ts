/** Compares two targets whose processes may be of several kinds: within kinds, in their shares, and in the mean. */
import { mean, sum, type Interval } from '../../numbers.ts';
import { createRandom, type Random } from '../../random.ts';
import { quantileOfSorted } from '../quantiles.ts';
import { studentPoint } from '../student.ts';
import { shareInterval } from './kinds.ts';
import type { Kind, KindComparison, Kinds, MatchedKind, RatioEstimate } from './study.ts';

const DRAWS = 2000;
/** The same figures always give the same interval. */
const SEED = 17;

/** One target: its kinds, the logarithms of its figures within each, and the number of its processes. */
interface Side {
  kinds: Kind[];
  logs: number[][];
  processes: number;
}

/** The figures of processes of one target, such as CPU per request, and the kinds that findKinds found among them. */
export interface ProcessesInKinds {
  figures: readonly RatioEstimate[];
  found: Kinds;
}

interface Match {
  baseline?: number;
  candidate?: number;
}

/**
 * Compares the processes of two targets. Kinds correspond in order if both targets have equally many, otherwise to the
 * nearest, in order.
 */
export function compareKinds(baseline: ProcessesInKinds, candidate: ProcessesInKinds): KindComparison {
  const [a, b] = [sideOf(baseline), sideOf(candidate)];
  const matches = matchKinds(a, b);
  const squares = sum([...a.logs, ...b.logs].map(squaresOf));
  const freedom = a.processes + b.processes - a.kinds.length - b.kinds.length;
  const deviation = freedom > 0 ? Math.sqrt(squares / freedom) : 0;

  const shifts = matches.flatMap(({ baseline: i, candidate: j }) => {
    if (i === undefined || j === undefined) return [];
    const [own, other] = [a.logs[i]!, b.logs[j]!];
    return [{ shift: mean(other) - mean(own), variance: 1 / own.length + 1 / other.length }];
  });
  const weights = shifts.map(({ variance }) => 1 / variance);
  const centre = sum(shifts.map(({ shift }, at) => shift * weights[at]!)) / sum(weights);
  const estimate = (log: number, variance: number): RatioEstimate => ({
    ratio: Math.exp(log),
    ...(freedom > 0 && { interval: around(log, studentPoint(freedom) * deviation * Math.sqrt(variance)) }),
  });

  let shifted = 0;
  return {
    kinds: matches.map((match): MatchedKind => {
      const found =
        match.baseline !== undefined && match.candidate !== undefined ? shifts[shifted++] : undefined;
      return {
        ...match,
        ...(found && { ratio: estimate(found.shift, found.variance) }),
        ...differInShare(countOf(a, match.baseline), a.processes, countOf(b, match.candidate), b.processes),
      };
    }),
    withinKinds: estimate(centre, 1 / sum(weights)),
    fleet: {
      ratio: meanFigure(b) / meanFigure(a),
      ...(freedom > 0 && { interval: fleetInterval({ a, b, matches, shift: centre, deviation, freedom }) }),
    },
  };
}

function sideOf({ figures, found: { kinds } }: ProcessesInKinds): Side {
  const logs = kinds.map(({ processes }) => processes.map((at) => Math.log(figures[at]!.ratio)));
  return { kinds, logs, processes: figures.length };
}

function around(log: number, margin: number): Interval {
  return { low: Math.exp(log - margin), high: Math.exp(log + margin) };
}

function squaresOf(logs: readonly number[]): number {
  const centre = mean(logs);
  return sum(logs.map((log) => (log - centre) ** 2));
}

function meanFigure({ logs }: Side): number {
  return mean(logs.flat().map(Math.exp));
}

function countOf({ logs }: Side, kind: number | undefined): number {
  return kind === undefined ? 0 : logs[kind]!.length;
}

/** The difference of two shares with the interval of Newcombe (1998, method 10). */
function differInShare(
  count: number,
  of: number,
  otherCount: number,
  otherOf: number,
): Pick<MatchedKind, 'shareDifference' | 'shareInterval'> {
  const [one, other] = [shareInterval(count, of), shareInterval(otherCount, otherOf)];
  const [share, otherShare] = [count / of, otherCount / otherOf];
  const difference = otherShare - share;
  return {
    shareDifference: difference,
    shareInterval: {
      low: difference - Math.hypot(otherShare - other.low, one.high - share),
      high: difference + Math.hypot(other.high - otherShare, share - one.low),
    },
  };
}

/** The kinds in order of cost. The target with fewer kinds has each matched, in order, at the least total distance. */
function matchKinds(a: Side, b: Side): Match[] {
  const [few, many] = a.kinds.length <= b.kinds.length ? [a, b] : [b, a];
  const distance = (at: number, other: number): number =>
    Math.abs(Math.log(few.kinds[at]!.centre / many.kinds[other]!.centre));
  const assign = (at: number, from: number): { cost: number; to: number[] } => {
    if (at === few.kinds.length) return { cost: 0, to: [] };
    let best = { cost: Infinity, to: [] as number[] };
    for (let other = from; other < many.kinds.length; other++) {
      const rest = assign(at + 1, other + 1);
      const cost = distance(at, other) + rest.cost;
      if (cost < best.cost) best = { cost, to: [other, ...rest.to] };
    }
    return best;
  };
  const { to } = assign(0, 0);
  return many.kinds.map((_, other) => {
    const at = to.indexOf(other);
    const own = at < 0 ? undefined : at;
    const [baseline, candidate] = few === a ? [own, other] : [other, own];
    return { ...(baseline !== undefined && { baseline }), ...(candidate !== undefined && { candidate }) };
  });
}

interface Fleet {
  a: Side;
  b: Side;
  matches: readonly Match[];
  shift: number;
  deviation: number;
  freedom: number;
}

/**
 * The 95 % interval of the ratio of means, from draws of what the processes leave open: the shares of the kinds (Dirichlet,
 * with Jeffreys' prior of a half) and the centre of each (Student's t). A kind that only one target showed may be a
 * rare one of the other target, at the shift of the other kinds.
 */
function fleetInterval({ a, b, matches, shift, deviation, freedom }: Fleet): Interval {
  const random = createRandom(SEED);
  const kindsOf = (side: Side, other: Side, key: keyof Match, otherKey: keyof Match, sign: number) =>
    matches.map((match) => {
      const own = match[key];
      const [logs, moved] =
        own === undefined ? [other.logs[match[otherKey]!]!, sign * shift] : [side.logs[own]!, 0];
      return { count: countOf(side, own), centre: mean(logs) + moved, root: Math.sqrt(logs.length) };
    });
  const draw = (kinds: ReturnType<typeof kindsOf>): number => {
    const scale = Math.sqrt(freedom / (2 * drawGamma(freedom / 2, random)));
    const parts = kinds.map(({ count, centre, root }) => {
      const error = (scale * deviation * random.normal()) / root;
      return { weight: drawGamma(count + 0.5, random), figure: Math.exp(centre + error) };
    });
    return sum(parts.map(({ weight, figure }) => weight * figure)) / sum(parts.map(({ weight }) => weight));
  };
  const [candidates, baselines] = [
    kindsOf(b, a, 'candidate', 'baseline', 1),
    kindsOf(a, b, 'baseline', 'candidate', -1),
  ];
  const ratios = Float64Array.from({ length: DRAWS }, () => draw(candidates) / draw(baselines)).toSorted();
  return { low: quantileOfSorted(ratios, 0.025), high: quantileOfSorted(ratios, 0.975) };
}

/** A draw from the gamma distribution with this shape and scale 1 (Marsaglia & Tsang 2000). */
function drawGamma(shape: number, random: Random): number {
  if (shape < 1) return drawGamma(shape + 1, random) * random.float() ** (1 / shape);
  const d = shape - 1 / 3;
  for (;;) {
    const x = random.normal();
    const v = (1 + x / Math.sqrt(9 * d)) ** 3;
    if (v > 0 && Math.log(1 - random.float()) < x ** 2 / 2 + d - d * v + d * Math.log(v)) return d * v;
  }
}
