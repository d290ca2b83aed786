/**
 * Simulates windows of servers whose latencies have a known distribution, and judges them as trials are judged: how often is
 * a sound server given a reason that names lost, hung or stalled requests, and are planted ones found?
 *
 * pnpm exec tsx packages/bench-lab/experiments/open-requests/simulate.ts [windows]
 */
import { createHistogram, encodeHistogram } from 'bench-statistics/histogram';
import { judge } from 'bench-analysis/judge/judge';
import { mergeReports } from 'bench-load/merge';
import { Population } from 'bench-load/population';
import type { Counts } from 'bench-model/figures';
import type { LoadMode } from 'bench-model/settings';
import { createRandom, type Random } from 'bench-statistics/random';

const WINDOWS = Number(process.argv[2] ?? 200);
const SECONDS = 5;
const WARMUP_SECONDS = 2;
const DRAIN_SECONDS = 5;
const CONNECTIONS = 100;
const PER_SECOND = 500;

const exponential = (random: Random, mean: number): number => -mean * Math.log(1 - random.float());

/** Latencies in seconds. */
const SERVERS: Record<string, (random: Random) => number> = {
  'constant 10 ms': () => 0.01,
  'exponential, mean 20 ms': (random) => exponential(random, 0.02),
  'Pareto of index 1.5, from 5 ms': (random) => 0.005 * (1 - random.float()) ** (-1 / 1.5),
  '10 ms, 1 % exponential, mean 300 ms': (random) =>
    random.float() < 0.01 ? 0.01 + exponential(random, 0.3) : 0.01,
  'waits 2 s, ±10 %': (random) => 1.8 + 0.4 * random.float(),
  '10 ms, 0.1 % never answered': (random) => (random.float() < 0.001 ? Infinity : 0.01),
  '10 ms, 20 % never answered': (random) => (random.float() < 0.2 ? Infinity : 0.01),
};

/** One request; `end` is infinite if it is never answered. Seconds from the opening of the window. */
interface Request {
  start: number;
  end: number;
}

function closedLoop(draw: () => number): Request[] {
  const all: Request[] = [];
  for (let connection = 0; connection < CONNECTIONS; connection++) {
    for (let at = -WARMUP_SECONDS - draw(); at < SECONDS;) {
      const end = at + draw();
      all.push({ start: at, end });
      at = end;
    }
  }
  return all;
}

function openLoop(draw: () => number): Request[] {
  return Array.from({ length: (WARMUP_SECONDS + SECONDS) * PER_SECOND }, (_, index) => {
    const start = index / PER_SECOND - WARMUP_SECONDS;
    return { start, end: start + draw() };
  });
}

/** Returns the codes of the reasons against a window, and true if its p99 is a lower bound. */
function judgeWindow(requests: readonly Request[], mode: LoadMode): { codes: string[]; isBound: boolean } {
  const [answers, open, unanswered] = [createHistogram(), createHistogram(), createHistogram()];
  const population = new Population();
  const before = new Population();
  let [ok, inFlight, started, cycles] = [0, 0, 0, 0];
  for (const { start, end } of requests) {
    for (const [counted, at] of [
      [before, 0],
      [population, SECONDS],
    ] as const) {
      if (start < at) counted.begin(start);
      if (end < at) counted.end(end);
    }
    if (end < 0) continue;
    if (start >= 0) started++;
    if (end < SECONDS) {
      ok++;
      cycles += end - start;
      answers.recordValue(Math.max(1, Math.round((end - start) * 1e6)));
    } else {
      inFlight++;
      open.recordValue(Math.max(1, Math.round((SECONDS - start) * 1e6)));
      if (end > SECONDS + DRAIN_SECONDS)
        unanswered.recordValue(Math.round((SECONDS + DRAIN_SECONDS - start) * 1e6));
    }
  }
  const counts: Counts = {
    sent: ok + inFlight,
    ok,
    non2xx: 0,
    mismatch: 0,
    timeout: 0,
    reset: 0,
    closedEarly: 0,
    inFlight,
  };
  const connect = {
    planned: mode.mode === 'open' ? 10_000 : CONNECTIONS,
    established: 10_000,
    seconds: 0,
    refused: 0,
    retried: 0,
  };
  const load = mergeReports(
    [
      {
        event: 'done',
        connect,
        openedAtMs: 0,
        closedAtMs: SECONDS * 1000,
        windowSeconds: SECONDS,
        counts,
        lifetime: counts,
        statusCodes: { 200: ok },
        latencyHistogram: encodeHistogram(answers),
        openAges: encodeHistogram(open),
        unansweredAges: encodeHistogram(unanswered),
        timing: undefined,
        cycleUs: { sum: cycles * 1e6, count: ok },
        silentConnections: 0,
        slices: { milliseconds: 50, ok: [] },
        bodyBytes: 1,
        bodiesHashed: 0,
        schedule:
          mode.mode === 'open'
            ? {
                intended: started,
                late: 0,
                dropped: 0,
                started,
                meanOpen: (population.until(SECONDS) - before.until(0)) / SECONDS,
              }
            : undefined,
        use: { seconds: SECONDS, cpuUs: 0, utilisation: 0 },
      },
    ],
    connect,
    60,
    'autocannon',
  );
  const { reasons } = judge({
    load,
    server: undefined,
    budgetCores: 1,
    isShared: false,
    workers: 1,
    attested: [],
    host: {},
    companions: [],
    mode,
  });
  return {
    codes: reasons.map(({ code }) => code),
    isBound: load.latencyUs?.atLeast?.includes('p99') === true,
  };
}

const SHOWN = ['unanswered', 'few-unanswered', 'little', 'stall'];
console.log(
  `| latency of the server | loop | p99 is a bound | ${SHOWN.map((code) => `\`${code}\``).join(' | ')} |`,
);
console.log(`|---|---|${'---:|'.repeat(SHOWN.length + 1)}`);
for (const [name, latency] of Object.entries(SERVERS)) {
  for (const mode of [{ mode: 'closed' }, { mode: 'open', perSecond: PER_SECOND }] as const) {
    // In a closed loop, all connections would hang before the window opens.
    if (mode.mode === 'closed' && name.includes('20 %')) continue;
    const random = createRandom(7);
    const draw = mode.mode === 'closed' ? closedLoop : openLoop;
    const judged = Array.from({ length: WINDOWS }, () =>
      judgeWindow(
        draw(() => latency(random)),
        mode,
      ),
    );
    const share = (count: number): string => `${((100 * count) / WINDOWS).toFixed(1)} %`;
    const cells = [
      share(judged.filter(({ isBound }) => isBound).length),
      ...SHOWN.map((code) => share(judged.filter(({ codes }) => codes.includes(code)).length)),
    ];
    console.log(`| ${name} | ${mode.mode} | ${cells.join(' | ')} |`);
  }
}
