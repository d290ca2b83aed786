import { METRICS } from '../metrics.ts';
import type { Trial } from '../results/record.ts';
import { estimateSeconds } from '../plan/plan.ts';
import type { Plan } from '../plan/definition.ts';
import type { RunEvent } from '../plan/plan.ts';
import { figureOf } from '../analyse/metrics.ts';
import { formatCost, formatCount, formatSpan, formatUs } from './format.ts';
import { toLine } from './printable.ts';

/** The screen that shows progress. */
export interface Screen {
  /** True if the next line can replace the current one. */
  isLive: boolean;
  /** Shows a line until the next text replaces it. Called only if `isLive`. */
  showLive(text: string): void;
  /** Shows a line that stays. */
  showLine(text: string): void;
}

/** Shows the progress of a run: a live line with the time left on a terminal, otherwise one plain line per trial. */
export function showProgress(plan: Plan, screen: Screen): (event: RunEvent) => void {
  const began = performance.now();
  let spent = 0;
  let kept: number | undefined;
  return (event) => {
    kept ??= event.kind === 'started' ? event.done : event.done - 1;
    if (event.kind === 'ended') spent = (performance.now() - began) / 1000;
    const { done } = event;
    const rest = plan.trials.slice(-Math.max(0, event.of - done));
    const foreseen = done < event.of ? estimateSeconds(plan, rest) : 0;
    const measured = plan.trials.slice(kept, done);
    // The pace of the trials so far corrects the estimate, once there are enough of them.
    const pace = spent > 0 && measured.length > 2 ? spent / estimateSeconds(plan, measured) : 1;
    const left = formatSpan(foreseen * pace);
    if (event.kind === 'started') {
      const { target, connections, round } = event.planned;
      if (screen.isLive)
        screen.showLive(
          `[${done + 1}/${event.of}] ${target} at ${connections.toLocaleString('en-US')}, round ${round} · ${left} left`,
        );
    } else {
      screen.showLine(describeTrial(event.trial, event.done, event.of));
    }
  };
}

/** One trial in one line. */
export function describeTrial(trial: Trial, done: number, of: number): string {
  const head = `[${done}/${of}] ${trial.target.id} at ${trial.connections.toLocaleString('en-US')}, round ${trial.round}: ${trial.status}`;
  const [reason] = trial.reasons;
  const why = reason === undefined ? '' : ` — ${toLine(reason.text)}`;
  if (trial.status === 'failed') return `${head}${why}`;
  const goodput = figureOf(trial, METRICS.goodput);
  const p99 = figureOf(trial, METRICS.p99);
  const cpu = figureOf(trial, METRICS.cpu);
  const figures = [
    goodput && `${formatCount(goodput.value)}/s`,
    p99 && `p99 ${p99.atLeast ? '≥ ' : ''}${formatUs(p99.value)}`,
    cpu && `${formatCost(cpu.value)} µs CPU/req`,
  ];
  return `${head}, ${figures.filter(Boolean).join(', ')}${why}`;
}
