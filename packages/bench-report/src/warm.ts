/** Studies of warm-up: a table of the targets, the curve of each process, and notes. */
import type { ProcessStudy, RatioEstimate, WarmPair } from 'bench-analysis/warmup/process';
import {
  pairsOf,
  type Spread,
  type StudiedTarget,
  studyTargets,
  type TargetStudy,
} from 'bench-analysis/warmup/study';
import { mean, median } from 'bench-statistics/numbers';
import type { StudiedProcess } from 'bench-model/study';
import type { StoredStudy } from 'bench-analysis/results/study/store';
import { countOf, formatShare, formatWhole } from './format.ts';
import { toLine } from './printable.ts';
import { toJson } from './json.ts';
import { BARS } from './course.ts';
import type { View } from './content.ts';
import { describeMachine } from './view.ts';

/** The columns of a curve: with its label and a remark, it fits a terminal of 80 columns. */
const CURVE_COLUMNS = 40;

/**
 * Shows studies in one table, with the curve of each process. Throws RangeError for studies that cannot share a table: of
 * another workload, number of connections or minimum warm-up.
 */
export function viewStudies(studies: readonly StoredStudy[]): View {
  const [first] = studies;
  if (first === undefined) throw new RangeError('no study');
  const heads = studies.map(({ file }) => [file.workload, file.connections, file.warmupSeconds].join(', '));
  if (new Set(heads).size > 1) throw new RangeError(`unlike studies: ${heads.join('; ')}`);
  const { file } = first;
  const all = studies.map((study) => ({ study, targets: studyTargets(study) }));
  const targets = all.flatMap((one) => one.targets);
  const figures = [
    'course',
    'warm after',
    'answers',
    `last ÷ at ${formatSeconds(file.warmupSeconds)} s`,
    'CPU/req ÷ ref.',
  ];
  return {
    title: 'Warm-up of fresh processes',
    setting: [
      ...studies.map(({ file: { run, seed, processes, seconds } }) => {
        return `study ${run}, seed ${seed}: ${processes} processes of each target, ${formatSeconds(seconds)} s each`;
      }),
      ...new Set(studies.map(({ host }) => describeMachine(host))),
    ],
    columns: ['target', 'runtime', ...figures],
    words: ['target', 'runtime', 'course'],
    expendable: [],
    signs: [],
    groups: [
      {
        heading: `${file.workload}, ${formatWhole(file.connections)} connections`,
        rows: all.flatMap((one) =>
          one.targets.map(({ id, study }) => [
            id,
            runtimeOf(one.study, id),
            ...(study === undefined ? figures.map(() => '—') : cellsOf(study)),
          ]),
        ),
      },
    ],
    courses: all.flatMap((one) =>
      one.targets.flatMap((target) => drawCurves(target, one.study.file.seconds)),
    ),
    notes: [
      ...describeTerms(file),
      ...describePace(targets),
      ...targets.flatMap(describeCourses),
      ...studies.flatMap(describeMissing),
    ],
  };
}

/** The version of the runtime that the processes of a target had. */
function runtimeOf({ processes }: StoredStudy, target: string): string {
  const runtime = processes.find((one) => one.target.id === target && one.runtime !== undefined)?.runtime;
  return runtime === undefined ? '—' : runtime.version;
}

function cellsOf({
  class: course,
  classes,
  processes,
  settled,
  warmSeconds,
  warmAnswers,
  lastOverEarlyCpu,
  lastCpu,
}: TargetStudy): string[] {
  const isPart = course !== 'inconsistent' && settled > 0 && settled < processes.length;
  const moving = Map.groupBy(
    processes.flatMap((one) => one.moving ?? []),
    (direction) => direction,
  );
  const [[common, most] = ['', 0]] = Object.entries(classes).toSorted(([, a], [, b]) => b - a);
  const parts = [
    course === 'inconsistent' && most > processes.length / 2
      ? `${common} in ${most} of ${processes.length}`
      : course,
    ...(isPart ? [`${settled} of ${processes.length} settled`] : []),
    ...[...moving].map(([direction, same]) => {
      const share = same.length === processes.length ? '' : ` in ${same.length} of ${processes.length}`;
      return `${describeMoving(direction)}${share}`;
    }),
  ];
  return [
    parts.join(', '),
    warmSeconds === undefined ? 'never' : `${showSpread(warmSeconds, formatSeconds)} s`,
    warmAnswers === undefined ? '—' : showSpread(warmAnswers, (count) => formatWhole(Math.round(count))),
    lastOverEarlyCpu === undefined ? '—' : showEstimate(lastOverEarlyCpu),
    lastCpu.median.toFixed(2),
  ];
}

function describeMoving(direction: NonNullable<ProcessStudy['moving']>): string {
  return `CPU/req still ${direction === 'dearer' ? 'rising' : 'falling'}`;
}

/** The note on processes that differ in their course. */
function describeCourses({ id, study }: StudiedTarget): string[] {
  if (study?.class !== 'inconsistent') return [];
  const courses = Object.entries(study.classes).filter(([, count]) => count > 0);
  return [
    `${id}: the processes differ in their course: ${courses.map(([name, count]) => `${count} ${name}`).join(', ')}`,
  ];
}

/** The notes on turns and processes that do not count, because the machine did not have its usual pace. */
function describePace(targets: readonly StudiedTarget[]): string[] {
  const share = mean(targets.flatMap(({ whole }) => whole.map(({ usualShare }) => usualShare)));
  return [
    ...(share < 1
      ? [
          `${formatShare(Number(share.toFixed(2)))} of all turns count: those in which the machine had its usual pace, judged by the CPU per request of the reference`,
        ]
      : []),
    ...targets.flatMap(({ id, whole, disturbed }) => {
      if (disturbed === 0) return [];
      if (disturbed === whole.length)
        return [
          `${id}: the machine had its usual pace in less than half of the turns of each process. All turns count, so the result may show the machine instead`,
        ];
      return [
        `${id}: ${disturbed} of ${countOf(whole.length, 'process')} ${disturbed === 1 ? 'does' : 'do'} not count: the machine had its usual pace in less than half of the turns`,
      ];
    }),
  ];
}

function describeMissing({ file, processes }: StoredStudy): string[] {
  const left = processes.filter(({ status }) => status !== 'ok');
  return [
    ...left.map(({ target, process, status, reasons: [reason] }) => {
      const why = reason === undefined ? '' : `: ${toLine(reason.text)}`;
      return `${target.id}, process ${process} ${status === 'cut' ? 'was interrupted' : `failed${why}`}. It is stored, but not counted`;
    }),
    ...file.leftOut.map(
      ({ target, reason, hint }) => `${target} was skipped: ${reason}${hint === '' ? '' : ` (${hint})`}`,
    ),
  ];
}

function showSpread({ median: middle, low, high }: Spread, format: (value: number) => string): string {
  const [centre, least, most] = [format(middle), format(low), format(high)];
  return least === most ? centre : `${centre} (${least} to ${most})`;
}

function showEstimate({ ratio, interval }: RatioEstimate): string {
  const range = interval === undefined ? '' : ` (${interval.low.toFixed(3)} to ${interval.high.toFixed(3)})`;
  return `× ${ratio.toFixed(3)}${range}`;
}

/** One line for each process: CPU per request over its time, on one scale for each target. */
function drawCurves({ id, whole }: StudiedTarget, seconds: number): string[] {
  // Two pairs or more for each column, so that there are no gaps.
  const fewest = Math.min(...whole.map(({ pairs }) => pairs.length));
  const columns = Math.max(1, Math.min(CURVE_COLUMNS, Math.floor(fewest / 2)));
  const curves = whole.map((one) => ({ ...one, curve: binPairs(one.pairs, seconds, columns) }));
  const values = curves.flatMap(({ curve }) => curve).filter((value) => value !== undefined);
  if (values.length === 0) return [];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return [
    `${id}: CPU per request ÷ reference over ${formatSeconds(seconds)} s, ${BARS[0]} ${low.toFixed(2)} to ${BARS.at(-1)} ${high.toFixed(2)}`,
    ...curves.map(({ process, course, curve }) => {
      const remark = course?.moving === undefined ? '' : `  ${describeMoving(course.moving)}`;
      return `  ${`process ${process}`.padEnd(10)}  ${drawCurve(curve, low, high)}${remark}`;
    }),
  ];
}

/** The median CPU ratio in each of `columns` equal parts of the time; undefined where there is none. */
function binPairs(pairs: readonly WarmPair[], seconds: number, columns: number): (number | undefined)[] {
  const bins = Array.from({ length: columns }, (): number[] => []);
  for (const pair of pairs) {
    const at = Math.min(columns - 1, Math.floor((pair.seconds / seconds) * columns));
    bins[at]?.push(pair.cpuRatio);
  }
  return bins.map((ratios) => (ratios.length === 0 ? undefined : median(ratios)));
}

/** Draws a curve on a logarithmic scale from `least` to `most`. Noise of a few per cent must not fill the height. */
export function drawCurve(curve: readonly (number | undefined)[], least: number, most: number): string {
  const span = Math.max(Math.log(most / least), Math.log(1.2));
  return curve
    .map((value) => {
      if (value === undefined) return ' ';
      const at = Math.round((Math.log(value / least) / span) * (BARS.length - 1));
      return BARS[Math.min(BARS.length - 1, Math.max(0, at))];
    })
    .join('');
}

function describeTerms({ warmupSeconds, reference, connections }: StoredStudy['file']): string[] {
  return [
    `warm after: the age from which CPU per request stays within 5 % of its last level; median over processes, with the range`,
    `last ÷ at ${formatSeconds(warmupSeconds)} s: CPU per request at the last level and right after the minimum warm-up, with the 95 % interval. Below 1, that warm-up is too short`,
    `ref.: a warm server of Bench on the same core, with ${countOf(connections, 'connection')} (${reference})`,
  ];
}

/** One observed process in one line. */
export function describeProcess({ target, process, status, reasons, ...studied }: StudiedProcess): string {
  const head = `${target.id}, process ${process}: ${status}`;
  const [reason] = reasons;
  const pairs = pairsOf(studied);
  const last = pairs.at(-1);
  const seen =
    last === undefined
      ? ''
      : `, ${formatWhole(pairs.length)} pairs of turns in ${formatSeconds(last.seconds)} s, ${formatWhole(last.answers)} answers`;
  return `${head}${seen}${reason === undefined ? '' : ` — ${toLine(reason.text)}`}`;
}

function formatSeconds(seconds: number): string {
  return seconds < 9.95 ? String(Number(seconds.toFixed(1))) : String(Math.round(seconds));
}

/** Renders a study as JSON: its plan, the statistics of each target, and everything measured. */
export function renderStudyJson(study: StoredStudy): string {
  const { file, host, processes } = study;
  const targets = studyTargets(study).map(({ id, disturbed, study: found }) => ({
    target: id,
    disturbed,
    study: found,
  }));
  return toJson({ ...file, host, studies: targets, processes });
}
