import { toLadders } from '../analyse/ladder.ts';
import { METRICS } from '../analyse/metrics.ts';
import type { Figure, Row } from '../analyse/summary.ts';
import { summarise } from '../analyse/summary.ts';
import type { Reason, Trial } from '../model.ts';
import { estimateSeconds } from '../plan.ts';
import type { Plan } from '../plan.ts';
import type { Host } from '../results/host.ts';
import type { LeftOut } from '../results/store.ts';
import {
  formatBytes,
  formatCost,
  formatCount,
  formatShare,
  formatSpan,
  formatUs,
  formatWhole,
} from './format.ts';
import { describeKnees } from './knee.ts';

/** What every report format shows: text in cells, in the order in which it is read. */
export interface View {
  title: string;
  /** How it was measured, one fact a line. */
  setting: string[];
  columns: string[];
  /** The columns of words; those of figures stand right. */
  words: string[];
  /** The columns that a narrow page can do without, the first to go first. */
  expendable: string[];
  groups: { heading: string; rows: string[][] }[];
  /** The knees in one line, where a ladder has any. */
  knees?: string;
  /** What has to be known to read the figures. */
  notes: string[];
}

/** What a view is made from: a stored run. */
export interface Source {
  plan: Plan;
  host: Host;
  leftOut: LeftOut[];
  trials: Trial[];
}

/** What a row shows in each column. */
export const CELLS = {
  target: ({ target }) => target,
  class: (row) => row.class,
  // A lower bound says enough by its mark.
  'goodput/s': ({ figures: { goodput } }) =>
    cell(goodput?.atLeast === true ? { ...goodput, valid: true } : goodput, formatCount, true),
  p50: ({ figures: { p50 } }) => cell(p50, formatUs),
  p99: ({ figures: { p99 } }) => cell(p99, formatUs),
  'CPU µs/req': ({ figures: { cpu } }) => cell(cpu, formatCost, true),
  memory: ({ figures: { memory } }) => cell(memory, formatBytes),
  'start-up': ({ figures: { startup } }) => cell(startup, (seconds) => formatUs(seconds * 1e6)),
  limit: ({ limits }) => limits[0] ?? '—',
  status: describeStatus,
} satisfies Record<string, (row: Row) => string>;

/** The run as a view: rows grouped by rung, each status explained below. */
export function toView({ plan, host, leftOut, trials }: Source): View {
  const rows = summarise(trials);
  const rungs = [...new Set(rows.map(({ connections }) => connections))];
  const knees = describeKnees(toLadders(rows, plan.rate !== undefined));
  return {
    title: `${plan.workload}, ${countOf(plan.rounds, 'round')}${plan.quick ? ' — a first impression (--quick): too short to compare by' : ''}`,
    setting: describeSetting(plan, host, trials),
    columns: Object.keys(CELLS),
    words: ['target', 'class', 'limit', 'status'],
    expendable: ['start-up', 'status', 'p50', 'limit', 'memory', 'class'],
    groups: rungs.map((rung) => ({
      heading: `${formatWhole(rung)} ${rung === 1 ? 'connection' : 'connections'}`,
      rows: rows.filter(({ connections }) => connections === rung).map(toCells),
    })),
    ...(knees !== undefined && { knees }),
    notes: [
      ...explain(rows),
      ...leftOut.map(
        ({ target, reason, hint }) => `${target} was left out: ${reason}${hint ? ` (${hint})` : ''}`,
      ),
    ],
  };
}

function describeSetting(plan: Plan, host: Host, trials: Trial[]): string[] {
  const [first] = trials;
  const rate = plan.rate === undefined ? '' : `, open loop at ${formatWhole(plan.rate)} starts a second`;
  const span =
    plan.amount === undefined
      ? `${plan.warmupSeconds} s warm-up, ${plan.windowSeconds} s window`
      : `${plan.warmupSeconds} s warm-up, ${plan.amount} requests`;
  return [
    `run ${plan.run}, seed ${plan.seed}, ${span}${rate}, timeout ${plan.timeoutSeconds} s`,
    describeMachine(host),
    ...(first === undefined
      ? []
      : [
          `${plan.engine} in ${countOf(plan.generators, 'process')}, ${countOf(plan.workers, 'worker')} a server, ${describePlacement(first)}`,
        ]),
  ];
}

/** The machine in one line. */
export function describeMachine({ virtualised, cpuModel, cores, platform, release }: Host): string {
  return [virtualised ? 'VM' : '', cpuModel ?? '', `${cores} cores`, `${platform} ${release}`]
    .filter(Boolean)
    .join(', ');
}

function describePlacement({ placement: { kind, server, generator } }: Trial): string {
  if (kind === 'separate')
    return `server on core ${server?.join(',')}, generator on core ${generator?.join(',')}`;
  return kind === 'shared' ? 'server and generator share the cores' : 'nothing pinned to cores';
}

function toCells(row: Row): string[] {
  return Object.values(CELLS).map((show) => show(row));
}

function cell(figure: Figure | undefined, format: (value: number) => string, spread = false): string {
  if (figure === undefined) return '—';
  const half = figure.median > 0 ? (figure.most - figure.least) / 2 / figure.median : 0;
  const range = spread && figure.rounds > 1 ? ` ±${(half * 100).toFixed(half < 0.0995 ? 1 : 0)} %` : '';
  return `${figure.atLeast ? '≥ ' : ''}${format(figure.median)}${range}${figure.valid ? '' : ' ?'}`;
}

function describeStatus({ statuses, rounds }: Row): string {
  const seen = Object.entries(statuses).filter(([, count]) => count > 0);
  return seen.map(([status, count]) => (count === rounds ? status : `${count} ${status}`)).join(', ');
}

/** What the marks mean, and each kind of reason once, with the rows it was seen in. */
function explain(rows: Row[]): string[] {
  const marks = [
    '± is half the range over the rounds; a figure is the median of the rounds in which it is valid.',
    '≥ is a lower bound: the generator was the limit, or requests timed out. ? was spoilt by what stands below.',
    'limit: who was at the end of its means, the server’s core or the load generator; waiting is neither.',
  ];
  const goodputs = rows.flatMap(({ figures: { goodput } }) => goodput ?? []);
  const isUnfit = goodputs.length > 0 && goodputs.every(({ valid, atLeast }) => !valid && !atLeast);
  const seen = rows.flatMap((row) => row.reasons.map((one) => ({ row, ...one })));
  const kinds = [...Map.groupBy(seen, ({ reason }) => reason.code).values()];
  return [
    ...(isUnfit ? ['No row here has a goodput or latency fit to compare: the reasons follow.'] : []),
    ...marks,
    ...kinds.map(describeKind),
  ];
}

function describeKind(seen: { row: Row; reason: Reason; rounds: number }[]): string {
  const [first] = seen;
  if (first === undefined) return '';
  const { code, text, invalidates } = first.reason;
  const places = seen.map(({ row, rounds }) => {
    const often = row.rounds > 1 ? ` (${rounds} of ${row.rounds} rounds)` : '';
    return `${row.target} at ${formatWhole(row.connections)}${often}`;
  });
  // What spoils even the start-up left no figures at all.
  const isFatal = invalidates.length === 0 || invalidates.includes('startup');
  const spoils = isFatal ? '' : `; it spoils ${invalidates.join(', ')} there`;
  return `${code}: ${seen.length > 1 ? 'e.g. ' : ''}${text}. Seen in ${places.join(', ')}${spoils}.`;
}

/** The plan in words: what `--dry-run` prints. */
export function describePlan(plan: Plan): string {
  const lines = [
    `${countOf(plan.trials.length, 'trial')}: ${countOf(plan.targets.length, 'target')} at ${plan.rungs.map(formatWhole).join(', ')} connections, ${countOf(plan.rounds, 'round')}, workload ${plan.workload}`,
    `${plan.warmupSeconds} s warm-up, ${plan.amount === undefined ? `${plan.windowSeconds} s window` : `${plan.amount} requests`}, timeout ${plan.timeoutSeconds} s, ${countOf(plan.workers, 'worker')}, seed ${plan.seed}`,
    ...describeSitting(plan),
    `about ${formatSpan(estimateSeconds(plan))}${plan.sitting === undefined ? '' : ' at the most'}`,
    '',
    ...plan.trials.map(
      ({ order, round, target, connections }) =>
        `${String(order + 1).padStart(4)}  round ${round}  ${target} at ${formatWhole(connections)}`,
    ),
  ];
  return lines.join('\n');
}

function describeSitting({ duel, sitting }: Plan): string[] {
  const kind = duel ? ['duels: both servers stand at once, their windows alternate'] : [];
  if (sitting === undefined) return kind;
  const { looks, by, threshold, budgetSeconds } = sitting;
  const budget = budgetSeconds === undefined ? '' : `, or after ${formatSpan(budgetSeconds)}`;
  return [
    ...kind,
    `looks after ${looks.split('/').join(', ')} rounds, and stops when every comparison by ${METRICS[by].label} (±${formatShare(threshold)}) is decided${budget}`,
  ];
}

function countOf(count: number, noun: string): string {
  return `${formatWhole(count)} ${noun}${count === 1 ? '' : noun.endsWith('s') ? 'es' : 's'}`;
}
