import { onInterrupt, print, logLine } from 'bench-http/terminal/shell';
import { SAVED } from 'bench-http/terminal/voice';
import { createEffects } from 'bench-http/conduct/effects';
import { defineCommand, option, WAITS } from 'bench-http/cli/command';
import { span } from 'bench-http/cli/values';
import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { CALIBRATION_LOOKS, evaluate, isSettled } from '../analyse/calibration.ts';
import { mostRounds } from 'bench-targets/catalogue/looks';
import { readManifest } from 'bench-targets/catalogue/manifest';
import {
  calibrate,
  measureLatency,
  measureTwins,
  plantScenarios,
  planScenario,
  SCENARIOS,
  type CalibrationContext,
} from '../measure/calibration.ts';
import type { CalibrationRound, Scenario } from 'bench-model/calibration';
import { prepareAll } from 'bench-targets/prepare/prepare';
import { benchOptions } from 'bench-model/options';
import { makePlan, nameRun } from 'bench-http/plan/plan';
import { renderCalibration } from '../report/calibration.ts';
import { countOf } from 'bench-report/format';
import { toOutput } from 'bench-report/printable';
import { readHost } from 'bench-machine/host';
import { appendTrials, createRun, writeReport } from 'bench-analysis/results/store';
import { RUN_SCHEMA } from 'bench-model/versions';
import { openSession } from 'bench-http/conduct/session';
import { sum } from 'bench-statistics/numbers';

/** The approximate time of a round, in seconds: two turns and two accounts, or two fresh servers with their warm-up. */
const ROUND_SECONDS = { latency: 1.5, twins: 5 };
const BUDGET_SECONDS = 600;
const PLANTED = fileURLToPath(new URL('../../planted/stack.json', import.meta.url));

export default defineCommand({
  name: 'calibrate',
  about:
    'Measures servers with known behaviour and prints the errors of Bench on this machine: latency, CPU per request, memory. Takes about four minutes, and longer if the machine is disturbed.',
  options: {
    budget: option('<time>', span(), {
      help: 'the time for all rounds; disturbed rounds are repeated while time is left',
      usually: '10m',
    }),
    ...WAITS,
  },
  notes:
    'Exit codes: 0 no error exceeds its tolerance, 1 an error exceeds its tolerance\nor was not measured. Undecided errors are listed, and do not change the code.',
  read: (values) => values,
  async run({ budget = BUDGET_SECONDS, wait }) {
    const run = nameRun('calibration');
    using session = await openSession(run, { wait });
    const { token } = session;
    const [{ rounds: fewest } = { rounds: 0 }] = CALIBRATION_LOOKS;
    session.expect(Math.min(budget, sum(SCENARIOS.map(({ kind }) => fewest * ROUND_SECONDS[kind]))));
    const stack = plantScenarios(readManifest(PLANTED));
    const seed = randomInt(2 ** 32);
    const options = benchOptions({ targets: ['planted/*'], rounds: 1, connections: [1], warmupSeconds: 1 });
    const base = makePlan(options, [stack], run, seed);
    const placed = await session.place({ serverCores: 1, generators: 1 });
    const { prepared } = await prepareAll(base.targets, [stack], logLine);
    const host = await readHost();
    const folder = createRun(
      { schema: RUN_SCHEMA, plan: base, versions: { node: process.versions.node }, leftOut: [] },
      host,
    );

    const endsAtMs = performance.now() + budget * 1000;
    let interrupted = false;
    let stopLive: (() => void) | undefined;
    using _ = onInterrupt(() => {
      interrupted = true;
      stopLive?.();
    }, SAVED);
    const isOver = (): boolean => interrupted || performance.now() > endsAtMs;
    const plans = new Map(
      SCENARIOS.map((scenario) => [
        scenario.name,
        planScenario(scenario, stack, { run, seed, rounds: mostRounds(CALIBRATION_LOOKS) }),
      ]),
    );
    /** The planned rounds that each scenario has used: one for each fresh server or pair of twins. */
    const used = new Map<string, number>();
    const measure = async (scenario: Scenario, rounds: number): Promise<CalibrationRound[]> => {
      const plan = plans.get(scenario.name);
      if (plan === undefined) throw new Error(`no plan for ${scenario.name}`);
      const { effects, stop } = await createEffects({ plan, placed, token, folder });
      stopLive = stop;
      const context: CalibrationContext = {
        plan,
        placed,
        prepared,
        effects,
        record: (trials) => {
          if (!interrupted) appendTrials(folder, trials);
        },
      };
      const next = (): number => {
        const round = (used.get(scenario.name) ?? 0) + 1;
        used.set(scenario.name, round);
        return round;
      };
      const measured: CalibrationRound[] = [];
      if (scenario.kind === 'latency') {
        measured.push(...(await measureLatency(scenario, next(), rounds, { ...context, isOver })));
      } else {
        while (measured.length < rounds && !isOver()) {
          const duel = await measureTwins(scenario, next(), context);
          if (!interrupted) measured.push(duel);
        }
      }
      const disturbed = measured.filter(({ disturbances }) => disturbances.length > 0).length;
      logLine(
        `${scenario.name}: ${countOf(measured.length, 'round')}, ${disturbed} disturbed by the machine`,
      );
      return measured;
    };
    const rounds = await calibrate(SCENARIOS, CALIBRATION_LOOKS, { measure, isSettled, isOver });
    const calibration = evaluate(SCENARIOS, rounds);
    const text = renderCalibration(calibration, host, run);
    writeReport(folder, 'calibration.json', `${JSON.stringify(calibration, null, 2)}\n`);
    writeReport(folder, 'calibration.txt', toOutput(text));
    print(text);
    if (interrupted) return 130;
    return calibration.answers.some(({ verdict }) => verdict === 'outside' || verdict === 'not measured')
      ? 1
      : 0;
  },
});
