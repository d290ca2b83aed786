/** Compares the figures of Bench with those that planted servers reported, and separates the machine's part. */
import { scheduleNamed } from 'bench-targets/catalogue/looks';
import { median } from 'bench-statistics/numbers';
import type { Interval } from 'bench-model/interval';
import type {
  Calibrated,
  CalibratedRound,
  Calibration,
  CalibrationRound,
  CalibrationVerdict,
  LatencyRound,
  LatencyScenario,
  MachineDuring,
  MeasuredTwin,
  Scenario,
  SeenLatency,
  TwinAnswer,
  TwinRound,
  TwinScenario,
} from 'bench-model/calibration';
import type { HostWindow } from 'bench-model/measured';
import type { Trial } from 'bench-model/record';
import { exactly, isBounded, locateWithin } from 'bench-analysis/differences';
import { lastLook, levelOf } from 'bench-analysis/looks';

/** The looks at the rounds of a scenario. Their joint error is 5 %. */
export const CALIBRATION_LOOKS = scheduleNamed('10/15/20');

const MEDIAN_LATENCY = 'Median latency, µs';
const CPU = 'CPU per request, µs';
const MEMORY = 'Memory, MiB';

/** A figure that a planted server reported, and the same figure as Bench measured it. */
interface Figures {
  reported: number;
  measured: number;
}

/** A known answer of a scenario whose rounds are of one kind. */
interface Check<R extends CalibrationRound> {
  group: string;
  name: string;
  isPart?: boolean;
  isComputed?: boolean;
  /** The largest allowed bias, from the reported figure; without it, the row only explains others. */
  tolerance?: (reported: number) => number;
  /** Undefined if the round lacks the figures. */
  figuresOf: (round: R) => Figures | undefined;
}

/** Compares all scenarios with what their servers reported, in order. */
export function evaluate(
  scenarios: readonly Scenario[],
  rounds: ReadonlyMap<string, readonly CalibrationRound[]>,
): Calibration {
  const answers = scenarios.flatMap((scenario) =>
    evaluateScenario(scenario, rounds.get(scenario.name) ?? []),
  );
  return { answers, machine: summariseMachine([...rounds.values()].flat()) };
}

function summariseMachine(rounds: readonly CalibrationRound[]): MachineDuring {
  const rangeOf = (of: (host: HostWindow) => number | undefined): Interval | undefined => {
    const values = rounds.flatMap(({ host }) => of(host) ?? []);
    return values.length === 0 ? undefined : { low: Math.min(...values), high: Math.max(...values) };
  };
  const stealCores = rangeOf((host) => host.stealCores);
  const otherProcessesCores = rangeOf((host) => host.otherProcessesCores);
  return {
    rounds: rounds.length,
    disturbed: rounds.filter(({ disturbances }) => disturbances.length > 0).length,
    ...(stealCores && { stealCores }),
    ...(otherProcessesCores && { otherProcessesCores }),
  };
}

/** Returns true if every known answer of a scenario has a verdict that more rounds would not change. */
export function isSettled(scenario: Scenario, rounds: readonly CalibrationRound[]): boolean {
  return evaluateScenario(scenario, rounds).every(
    ({ verdict }) => verdict !== 'undecided' && verdict !== 'not measured',
  );
}

function evaluateScenario(scenario: Scenario, rounds: readonly CalibrationRound[]): Calibrated[] {
  const failures = rounds.flatMap((round) => (round.kind === 'failed' ? [round.why] : []));
  if (scenario.kind === 'latency') {
    const measured = rounds.filter((round) => round.kind === 'latency');
    return latencyChecks(scenario).map((check) => conclude(check, measured, failures));
  }
  const measured = rounds.filter((round) => round.kind === 'twins');
  return twinChecks(scenario).map((check) => conclude(check, measured, failures));
}

/**
 * The bias of a latency has two parts. Bare sockets measure the first one too: the time in which the machine takes an answer
 * from the server to a client. Only the rest is the driver's. Each client is compared with what the server recorded in
 * its own turns, or both with what arithmetic gives: that is independent of the bare sockets, so it judges the driver, too.
 */
function latencyChecks({ name, connections, rate, stalls }: LatencyScenario): Check<LatencyRound>[] {
  const group = stalls === undefined ? MEDIAN_LATENCY : `p${stalls.percentile} latency, µs`;
  const load = rate === undefined ? ` ${connections === 1 ? 'connection' : 'connections'}` : '';
  return [
    {
      group,
      name: `${name}${load}`,
      ...(stalls !== undefined && { isComputed: true, tolerance: twentieth }),
      figuresOf: ({ driver }) => toFigures(driver),
    },
    {
      group,
      name: 'also on bare sockets',
      isPart: true,
      figuresOf: ({ bare }) => toFigures(bare),
    },
    {
      group,
      name: 'added by the driver',
      isPart: true,
      tolerance: (reported) => Math.max(0.03 * reported, 200),
      figuresOf: ({ driver, bare }) => ({
        reported: driver.reportedUs + bare.measuredUs - bare.reportedUs,
        measured: driver.measuredUs,
      }),
    },
  ];
}

function toFigures({ reportedUs, measuredUs }: SeenLatency): Figures {
  return { reported: reportedUs, measured: measuredUs };
}

const twentieth = (reported: number): number => 0.05 * reported;

const TWIN_CHECKS: Record<TwinAnswer, Pick<Check<TwinRound>, 'group' | 'figuresOf'>> = {
  burn: { group: CPU, figuresOf: burnOf },
  rusage: { group: CPU, figuresOf: ownAccountOf },
  memory: { group: MEMORY, figuresOf: memoryOf },
};

function twinChecks({ answers }: TwinScenario): Check<TwinRound>[] {
  return (Object.entries(answers) as [TwinAnswer, string][]).map(([answer, name]) => ({
    ...TWIN_CHECKS[answer],
    name,
    tolerance: twentieth,
  }));
}

/** The CPU of a burn is the difference of twins. */
function burnOf({ plain, planted: { trial, before, after } }: TwinRound): Figures | undefined {
  const [without, burning] = [costOf(plain.trial), costOf(trial)];
  if (without === undefined || burning === undefined) return undefined;
  return {
    reported: (after.burn.burnedUs - before.burn.burnedUs) / (after.burn.burns - before.burn.burns),
    measured: burning - without,
  };
}

/** Returns the CPU per request of a trial, in µs; undefined if it was not measured. */
function costOf(trial: Trial): number | undefined {
  return trial.status === 'failed' ? undefined : trial.measured.cpuUsPerRequest;
}

function spent({ cpu }: MeasuredTwin['after']): number {
  return cpu.userUs + cpu.systemUs;
}

function ownAccountOf({ planted: { trial, before, after } }: TwinRound): Figures | undefined {
  const measured = costOf(trial);
  const reported = (spent(after) - spent(before)) / (after.requests.read - before.requests.read);
  return measured === undefined ? undefined : { reported, measured };
}

function memoryOf({ plain, planted }: TwinRound): Figures | undefined {
  const [without, loaded] = [plain, planted].map(({ trial }) =>
    trial.status === 'failed' ? undefined : trial.measured.server?.loadedBytes,
  );
  if (without === undefined || loaded === undefined) return undefined;
  return {
    reported: mebibytes(planted.after.memory.allocatedBytes),
    measured: mebibytes(loaded - without),
  };
}

function mebibytes(bytes: number): number {
  return bytes / 2 ** 20;
}

/** Concludes on one known answer from its rounds. */
function conclude<R extends CalibrationRound>(
  { group, name, isPart = false, isComputed = false, tolerance, figuresOf }: Check<R>,
  measured: readonly R[],
  failures: readonly string[],
): Calibrated {
  const rounds = measured.flatMap((round): CalibratedRound[] => {
    const figures = figuresOf(round);
    return figures === undefined
      ? []
      : [{ ...figures, disturbances: round.disturbances.map(({ text }) => text) }];
  });
  const lost = measured.length + failures.length - rounds.length;
  const row = { group, name, ...(isPart && { isPart }), ...(isComputed && { isComputed }), rounds };
  if (rounds.length === 0) {
    if (tolerance === undefined) return row;
    const [why] = failures;
    return why === undefined && lost === 0
      ? { ...row, verdict: 'undecided', why: 'the budget was used up before its first round' }
      : { ...row, verdict: 'not measured', why: why ?? 'its rounds have no figure' };
  }
  const reported = median(rounds.map((round) => round.reported));
  const all = estimateBias(rounds, lost);
  const undisturbed = rounds.filter(({ disturbances }) => disturbances.length === 0);
  const quiet = estimateBias(undisturbed, lost);
  // Disturbed rounds count only if the others have no interval.
  const best = quiet.interval === undefined ? all : quiet;
  const shown = {
    ...row,
    reported,
    measured: median(rounds.map((round) => round.measured)),
    bias: best.bias,
    ...(best.interval && { interval: best.interval }),
  };
  if (tolerance === undefined) return shown;
  const allowed = tolerance(reported);
  const verdict = judgeBias({ all: all.interval, quiet: quiet.interval }, allowed);
  if (verdict === 'inside') return { ...shown, tolerance: allowed, verdict };
  const why = explain(verdict, { rounds, lost, failures, interval: best.interval, allowed });
  return { ...shown, tolerance: allowed, verdict, why };
}

interface Bias {
  bias: number;
  interval?: Interval;
}

/** Estimates a bias from rounds, with an interval that holds whatever the rounds without a figure would have shown. */
function estimateBias(rounds: readonly CalibratedRound[], lost: number): Bias {
  if (rounds.length === 0) return { bias: Number.NaN };
  const differences = exactly([
    ...rounds.map(({ reported, measured }) => measured - reported),
    ...Array.from({ length: lost }, () => undefined),
  ]);
  const look = lastLook(CALIBRATION_LOOKS, differences.length);
  const { centre: bias, interval } = locateWithin(
    differences,
    look === undefined ? 0 : levelOf(look, CALIBRATION_LOOKS),
  );
  return { bias, ...(interval && isBounded(interval) && { interval }) };
}

/**
 * Judges a bias by its interval. A disturbed machine can push figures out of the tolerance, but hardly into it: a bias is
 * outside only by rounds that the machine did not disturb.
 */
function judgeBias(
  { all, quiet }: { all: Interval | undefined; quiet: Interval | undefined },
  allowed: number,
): CalibrationVerdict {
  const isInside = (interval: Interval | undefined): boolean =>
    interval !== undefined && interval.low >= -allowed && interval.high <= allowed;
  if (isInside(quiet)) return 'inside';
  if (quiet !== undefined && (quiet.low > allowed || quiet.high < -allowed)) return 'outside';
  return isInside(all) ? 'inside' : 'undecided';
}

/** Explains a verdict other than `inside`. */
function explain(
  verdict: CalibrationVerdict,
  {
    rounds,
    lost,
    failures,
    interval,
    allowed,
  }: {
    rounds: readonly CalibratedRound[];
    lost: number;
    failures: readonly string[];
    interval: Interval | undefined;
    allowed: number;
  },
): string {
  if (verdict === 'outside') return 'the machine was quiet, and the whole interval is beyond the tolerance';
  const of = rounds.length + lost;
  const disturbed = rounds.filter(({ disturbances }) => disturbances.length > 0);
  const because = disturbed.length === 0 ? '' : `; ${disturbed.length} of ${of} rounds were disturbed`;
  if (interval === undefined && lost > 0)
    return `${lost} of ${of} rounds gave no figure (${failures[0] ?? 'it is missing'})`;
  if (interval === undefined) return `${of} rounds are too few for an interval${because}`;
  const isBeyond = interval.low > allowed || interval.high < -allowed;
  return isBeyond
    ? `the interval is beyond the tolerance${because}, so the machine may be the cause`
    : `the interval crosses the tolerance${because}`;
}
