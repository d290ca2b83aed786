import { ONE_WORKER, UNDISTURBED, UPGRADE } from 'bench-analysis/baselines';
import type { ComparedRow, ComparedTable } from 'bench-analysis/compare';
import type { Comparison, Undecided } from 'bench-analysis/comparison';
import { viewTable, type View } from './content.ts';
import { countOf, formatChange, formatChangeWithin, formatRatio, formatShare } from './format.ts';
import { METRICS } from 'bench-model/metrics';
import { describeNeeded, listAll } from './words.ts';

/**
 * Builds the view of a table of comparisons: the ratio, and the verdict with its difference and interval. `hasRanks` is false
 * below a table that has them.
 */
export function viewComparison(
  table: ComparedTable,
  title: string,
  marks: readonly string[] = [],
  hasRanks = true,
): View {
  const { label, better } = METRICS[table.by];
  const hasRoutes = table.rows.some(({ route }) => route !== undefined);
  const columns = [
    'connections',
    ...(hasRoutes ? ['request'] : []),
    'target',
    describeBaseline(table),
    'verdict: difference (95 % interval)',
    'rounds',
    ...(hasRanks ? ['rank'] : []),
  ];
  const rows = table.rows.map((row) => [
    row.connections.toLocaleString('en-US'),
    ...(hasRoutes ? [row.route ?? ''] : []),
    row.candidate,
    showRatio(row, table.baseline),
    describeVerdict(row),
    String(row.comparison.rounds),
    ...(hasRanks ? [String(row.rank ?? '—')] : []),
  ]);
  const notes = [
    `Ratios of ${label}, ${better} is better; the smallest difference that matters is ${formatShare(table.threshold)}`,
    `Paired by round${describeConfidence(table)}`,
    ...marks,
  ];
  const view = viewTable({ title, columns, rows, notes }, ['connections', 'rounds', 'rank']);
  return { ...view, shareable: ['connections', 'rounds'] };
}

/** `× 0.978`; with the baseline, if it is not the same for all rows. */
function showRatio({ comparison: { ratio }, baseline }: ComparedRow, asked: string | undefined): string {
  const of = asked === UPGRADE ? ` of ${baseline}` : '';
  return ratio === undefined ? '—' : `${formatRatio(ratio.estimate)}${of}`;
}

function describeConfidence({ rows }: ComparedTable): string {
  const intervals = rows.filter(({ comparison }) => comparison.interval !== undefined).length;
  if (intervals < 2) return '';
  const isLadder = new Set(rows.map(({ connections }) => connections)).size > 1;
  const which = isLadder ? 'the intervals at each number of connections' : `all ${intervals} intervals`;
  return `; ${which} hold simultaneously with 95 % confidence`;
}

/** `against fastapi`; `against itself on 3.11` if every target is compared with its own baseline. */
export function describeBaseline({ baseline, rows }: Pick<ComparedTable, 'baseline' | 'rows'>): string {
  if (baseline === UNDISTURBED) return 'against itself undisturbed';
  if (baseline === ONE_WORKER) return 'against itself with one worker';
  if (baseline === UPGRADE) return 'against the one before';
  if (rows.some((row) => row.baseline !== baseline && row.baseline.includes(`[${baseline}`)))
    return `against itself in ${baseline}`;
  return baseline.startsWith('@') ? `against itself on ${baseline.slice(1)}` : `against ${baseline}`;
}

/** The names of the two targets, if they are not said already. */
type Names = Partial<Pick<ComparedRow, 'candidate' | 'baseline'>>;

/** `slower: +21 % (+15 % to +28 %)`; an undecided one with the reason and the rounds that would probably decide it. */
export function describeVerdict({ comparison, ...names }: Pick<ComparedRow, 'comparison'> & Names): string {
  const difference = `${describeDifferences(comparison)}${describeKinds({ comparison, ...names })}`;
  if (comparison.verdict !== 'undecided') {
    const { verdict, ratio } = comparison;
    const { low = 1, high = 1 } = ratio.interval ?? {};
    // A difference that is found, but is too small to matter.
    const isFound = verdict === 'same' && (low > 1 || high < 1);
    return `${verdict}${isFound ? ' within the threshold' : ''}: ${difference}`;
  }
  const { why, rounds, unbounded } = comparison;
  if (rounds > 0 && comparison.ratio === undefined) return 'undecided: no valid figures on both sides';
  const said = {
    'too-few-rounds': ['too few rounds', difference],
    unbounded: [`${unbounded} of ${rounds} rounds have no valid figure`, difference],
    wide: [difference],
    time: [difference],
    blind: [`a ${describeControl(comparison)}`, difference],
    mean: [`${describeDifferences(comparison)} for the typical process`, ...describeMean(comparison, names)],
  }[why];
  return `${why === 'blind' ? 'blind' : 'undecided'}: ${[...said, ...describeMore(comparison)].filter(Boolean).join('; ')}`;
}

/** `planted +2.0 % was read as +1.9 % (+1.5 % to +2.3 %)`, or that it may be nothing as well; empty without a control. */
export function describeControl({ control }: Comparison): string {
  if (control === undefined) return '';
  const { planted, read, interval, isBlind } = control;
  const found = interval === undefined ? formatChange(read) : formatChangeWithin(read, interval);
  const isTold = isBlind || (interval !== undefined && interval.low > 1);
  return `planted ${formatChange(planted)} was read as ${found}${isTold ? '' : ': too few rounds to tell'}`;
}

/** Says about how many more rounds would decide a comparison; empty if rounds are not what it lacks. */
function describeMore({ why, moreRounds, rounds }: Undecided): string[] {
  if (why === 'unbounded' || why === 'blind') return [];
  const isWide = why === 'wide' || why === 'time';
  if (moreRounds === undefined) return isWide ? ['more rounds would hardly decide it'] : [];
  if (!isWide) return [describeNeeded(rounds + moreRounds, rounds)];
  return [`about ${countOf(moreRounds, 'more round')} would decide it`];
}

/** `but +5 % (−1 % to +11 %) for the mean of all`, or why it is not known, and the dear processes. */
function describeMean(comparison: Comparison, names: Names): string[] {
  const { mean, rounds, unbounded } = comparison;
  const all =
    mean === undefined
      ? `but the mean of all is not known: ${unbounded} of ${rounds} rounds have no figure`
      : `but ${formatChangeWithin(mean.estimate, mean.interval)} for the mean of all`;
  return [all, ...describeDear(comparison, names)];
}

/** `; 4 of 9 processes of HEAD cost 40 % more (…)` if the processes of a server are of two kinds, otherwise nothing. */
export function describeKinds({ comparison, ...names }: Pick<ComparedRow, 'comparison'> & Names): string {
  return comparison.dear?.isKind ? `; ${describeDear(comparison, names).join()}` : '';
}

/** `3 of 23 processes of HEAD cost 40 % more (rounds 4, 9 and 17)`; empty without dear ones. */
function describeDear(
  { dear, rounds }: Comparison,
  { candidate = 'the candidate', baseline = 'the baseline' }: Names,
): string[] {
  if (dear === undefined) return [];
  const name = dear.isCandidate ? candidate : baseline;
  const where = `${dear.rounds.length === 1 ? 'round' : 'rounds'} ${listAll(dear.rounds.map(String))}`;
  const change = formatChange(dear.factor);
  const more = dear.factor < 2 ? `${change.slice(1)} more` : change.replace(' ×', ' times as much');
  return [`${dear.rounds.length} of ${rounds} processes of ${name} cost ${more} (${where})`];
}

/** The difference in cost, and behind it those in time that do not follow from it: `+0.4 % (−0.5 % to +1.2 %), median latency +178 % (…)`. */
function describeDifferences(comparison: Comparison): string {
  const { times = [], rate } = comparison.whole ?? {};
  const told = times.map(({ by, comparison: time }) => `${METRICS[by].name} ${describeDifference(time)}`);
  return [describeDifference(comparison), ...told].join(', ') + describeRate(rate);
}

/** `, at × 0.44 of the rate, on which CPU per request depends (see --rate)`; empty for equal rates. */
export function describeRate(rate: number | undefined): string {
  return rate === undefined
    ? ''
    : `, at × ${rate.toFixed(2)} of the rate, on which CPU per request depends (see --rate)`;
}

/** `+21 % (+15 % to +28 %)`, without an interval `observed +11 % to +30 %`, or `observed +12 %` of one round; empty without a ratio. */
export function describeDifference({ ratio }: Comparison): string {
  if (ratio === undefined) return '';
  const { estimate, interval, range } = ratio;
  if (interval !== undefined) return formatChangeWithin(estimate, interval);
  const [low, high] = [range.low, range.high].map(formatChange);
  return `observed ${low === high ? low : `${low} to ${high}`}`;
}
