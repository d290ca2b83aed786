/** The course of several processes of one target: what they share and where they differ. */
import { mean, median, sum } from 'bench-statistics/numbers';
import { studentPoint } from 'bench-statistics/student';
import type { ProcessStudy, RatioEstimate, Spread, TargetStudy, WarmClass } from './study.ts';

/** Studies a target by the courses of its processes. Throws RangeError for no processes. */
export function studyTarget(processes: readonly ProcessStudy[]): TargetStudy {
  const [first] = processes;
  if (!first) throw new RangeError('a study needs at least one process');
  const classes: Record<WarmClass, number> = { flat: 0, 'warm-up': 0, slowdown: 0, 'no steady state': 0 };
  for (const process of processes) classes[process.class]++;
  const settled = processes.filter(({ warm }) => warm);
  const ages = settled.flatMap(({ warm }) => (warm ? [warm] : []));
  const cpu = overProcesses(processes.map(({ lastOverEarlyCpu }) => lastOverEarlyCpu));
  const goodput = overProcesses(processes.map(({ lastOverEarlyGoodput }) => lastOverEarlyGoodput));
  return {
    class: classes[first.class] === processes.length ? first.class : 'inconsistent',
    classes,
    processes: [...processes],
    settled: settled.length,
    ...(ages.length > 0 && {
      warmSeconds: spreadOf(ages.map(({ seconds }) => seconds)),
      warmAnswers: spreadOf(ages.map(({ answers }) => answers)),
    }),
    lastCpu: spreadOf(processes.map(({ lastCpu }) => lastCpu.ratio)),
    lastGoodput: spreadOf(processes.map(({ lastGoodput }) => lastGoodput.ratio)),
    ...(cpu && { lastOverEarlyCpu: cpu }),
    ...(goodput && { lastOverEarlyGoodput: goodput }),
  };
}

function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), low: Math.min(...values), high: Math.max(...values) };
}

/** The geometric mean over processes, with Student's interval; a single process keeps its own interval. */
function overProcesses(ratios: readonly (RatioEstimate | undefined)[]): RatioEstimate | undefined {
  const known = ratios.filter((ratio) => ratio !== undefined);
  if (known.length < 2) return known[0];
  const logs = known.map(({ ratio }) => Math.log(ratio));
  const centre = mean(logs);
  const n = logs.length;
  const error = Math.sqrt(sum(logs.map((log) => (log - centre) ** 2)) / (n - 1) / n);
  const margin = studentPoint(n - 1) * error;
  return {
    ratio: Math.exp(centre),
    interval: { low: Math.exp(centre - margin), high: Math.exp(centre + margin) },
  };
}
