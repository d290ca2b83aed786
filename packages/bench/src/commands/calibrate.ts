import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { CALIBRATE } from '../cli/commands.ts';
import { readManifest } from '../catalogue/manifest.ts';
import { measureBareMedian } from '../load/bare.ts';
import {
  SCENARIOS,
  isLatencyScenario,
  evaluate,
  plantScenarios,
  readAccount,
  variantOf,
  type Account,
  type Reading,
} from '../measure/calibration.ts';
import type { Server } from '../machine/launch.ts';
import { prepareAll } from '../prepare/prepare.ts';
import { measureTrial } from '../measure/conductor.ts';
import type { TrialEffects } from '../measure/life.ts';
import { benchOptions } from '../plan/options.ts';
import { makePlan, nameRun } from '../plan/plan.ts';
import { renderCalibration } from '../report/calibration.ts';
import { toOutput } from '../report/printable.ts';
import { describeTrial } from '../report/progress.ts';
import { readHost } from '../machine/host.ts';
import { appendTrials, createRun, writeReport } from '../results/store.ts';
import { RUN_SCHEMA } from '../versions.ts';
import { createEffects } from './effects.ts';
import { openSession } from './session.ts';
import { SAVED } from './voice.ts';
import { onInterrupt, print, createRunner, logLine } from './shell.ts';
import { sum } from '../numbers.ts';

const DEVICES = '/api/devices';
/** The approximate time of a scenario beside its window, in seconds: server start, warm-up, bare sockets, stop. */
const OVERHEAD_SECONDS = 6;
const PLANTED = fileURLToPath(new URL('../../planted/stack.json', import.meta.url));

export const runCalibrate = createRunner(CALIBRATE, async ({ wait }) => {
  const run = nameRun('calibration');
  using session = await openSession(run, { wait });
  const { token } = session;
  session.expect(sum(SCENARIOS.map(({ seconds }) => seconds + OVERHEAD_SECONDS)));
  const stack = plantScenarios(readManifest(PLANTED));
  const options = benchOptions({ targets: ['planted/*'], rounds: 1, connections: [1], warmupSeconds: 1 });
  const base = makePlan(options, [stack], run, randomInt(2 ** 32));
  const placed = await session.place({ serverCores: 1, generators: 1 });
  const { prepared } = await prepareAll(base.targets, [stack], logLine);
  const host = await readHost();
  const folder = createRun(
    { schema: RUN_SCHEMA, plan: base, versions: { node: process.versions.node }, leftOut: [] },
    host,
  );

  const readings = new Map<string, Reading[]>();
  let interrupted = false;
  for (const [order, scenario] of SCENARIOS.entries()) {
    const { rate, seconds, connections, name } = scenario;
    const plan = {
      ...base,
      windowSeconds: seconds,
      ...(rate === undefined ? {} : { load: { mode: 'open' as const, perSecond: rate } }),
    };
    const { effects, stop } = await createEffects({ plan, placed, token, folder });
    using _ = onInterrupt(stop, SAVED);
    const accounts: Account[] = [];
    const bare: { bareMedianUs?: number } = {};
    const askBare = async ({ host: address, port }: Server): Promise<void> => {
      if (!isLatencyScenario(scenario)) return;
      bare.bareMedianUs = await measureBareMedian({
        host: address,
        port,
        path: DEVICES,
        connections,
        seconds: 2,
      });
    };
    const found = prepared.find(({ target }) => target.variant === variantOf(name));
    const planned = plan.trials.find(({ target }) => target === found?.target.id);
    if (found === undefined || planned === undefined) throw new Error(`no trial for ${name}`);
    const trial = await measureTrial(
      { ...planned, id: `${String(order + 1).padStart(3, '0')}-${variantOf(name)}`, order, connections },
      { plan, placed, prepared: found, target: found.target },
      withAccounts(effects, accounts, askBare),
    );
    interrupted = effects.interrupted();
    if (interrupted) break;
    appendTrials(folder, [trial]);
    logLine(describeTrial(trial, order + 1, SCENARIOS.length));
    const [before, after] = accounts;
    if (before === undefined || after === undefined) continue;
    readings.set(name, [...(readings.get(name) ?? []), { trial, before, after, ...bare }]);
  }
  const calibrated = evaluate(readings);
  const text = renderCalibration(calibrated, host, run);
  writeReport(folder, 'calibration.txt', toOutput(text));
  print(text);
  if (interrupted) return 130;
  return calibrated.every(({ inside }) => inside) ? 0 : 1;
});

/** Loads the server with bare sockets and reads its account, before the load and again right after it. */
function withAccounts(
  effects: TrialEffects,
  accounts: Account[],
  askBare: (server: Server) => Promise<void>,
): TrialEffects {
  return {
    ...effects,
    async verify(server, draw, when) {
      const isBefore = accounts.length === 0;
      const attested = server.attestations()[0];
      if (!isBefore) accounts.push(await readAccount(attested, false));
      const expected = await effects.verify(server, draw, when);
      if (isBefore) {
        await askBare(server);
        accounts.push(await readAccount(attested, true));
      }
      return expected;
    },
  };
}
