import { SELF } from '../cli/commands.ts';
import { expandTargets, readStacks } from '../catalogue/stacks.ts';
import { prepareAll } from '../prepare/prepare.ts';
import { measureTrial } from '../measure/conductor.ts';
import type { StockResult } from '../load/stock.ts';
import { runStock } from '../load/stock-run.ts';
import type { Measured } from '../results/record.ts';
import { benchOptions } from '../plan/options.ts';
import { estimateSeconds, makePlan } from '../plan/plan.ts';
import { countOf } from '../report/format.ts';
import { renderRows } from '../report/terminal.ts';
import { summariseSelf, type SelfRound } from '../report/self.ts';
import { createEffects } from './effects.ts';
import { openSession } from './session.ts';
import { onInterrupt, print, createRunner, logLine } from './shell.ts';

const SECONDS = 3;
const RUNGS = [10, 1000, 10_000];

export const runSelf = createRunner(SELF, async ({ rounds, wait }) => {
  using session = await openSession('self', { wait });
  const { token } = session;
  const placed = await session.place({ serverCores: 1, generators: 1 });
  const stacks = readStacks();
  const [target] = expandTargets(['vanilla'], stacks, 'devices');
  if (target === undefined) throw new Error('no vanilla');
  const { prepared } = await prepareAll([target], stacks);
  const options = benchOptions({
    targets: ['vanilla'],
    rounds,
    windowSeconds: SECONDS,
    warmupSeconds: 1,
    connections: RUNGS,
  });
  const plan = makePlan(options, stacks, 'self', Date.now());
  const folder = session.makeFolder('work');
  // Each cell is measured with sampling, without sampling, and by stock autocannon.
  session.expect(3 * estimateSeconds(plan));
  const { effects, stop } = await createEffects({ plan, placed, token, folder });
  using _ = onInterrupt(stop, 'stopping: nothing is saved');
  const unsampled = { ...effects, resources: async () => undefined };

  const seen: SelfRound[] = [];
  for (const planned of plan.trials) {
    if (effects.interrupted()) return 130;
    const context = { plan, placed, prepared: prepared[0], target };
    const began = performance.now();
    const sampled = measuredOf(await measureTrial(planned, context, effects));
    const wallSeconds = (performance.now() - began) / 1000;
    const plain = measuredOf(await measureTrial(planned, context, unsampled));
    let stock: StockResult | undefined;
    const withStock = {
      ...unsampled,
      // Stock autocannon loads the verified server of a trial before Bench does.
      async verify(...[server, draw, when]: Parameters<typeof effects.verify>) {
        const url = `http://${server.host}:${server.port}/api/devices`;
        if (stock === undefined) {
          stock = await runStock(placed, url, planned.connections, SECONDS + 1);
        }
        return effects.verify(server, draw, when);
      },
    };
    await measureTrial(
      planned,
      { ...context, plan: { ...plan, windowSeconds: 0.2, warmupSeconds: 0 } },
      withStock,
    );
    if (stock !== undefined && sampled !== undefined && plain !== undefined) {
      seen.push({ connections: planned.connections, sampled, plain, stock, wallSeconds });
    }
    logLine(
      `[${seen.length}/${plan.trials.length}] ${countOf(planned.connections, 'connection')}, round ${planned.round}`,
    );
  }
  const { head, rows, notes } = summariseSelf(seen, plan.connectsPerSecond);
  print(`${renderRows(head, rows)}\n${notes.map((note) => `  ${note}\n`).join('')}`);
  return 0;
});

function measuredOf(trial: Awaited<ReturnType<typeof measureTrial>>): Measured | undefined {
  return trial.status === 'failed' ? undefined : trial.measured;
}
