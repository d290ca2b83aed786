import { defineCommand, option, WAITS } from 'bench-http/cli/command';
import { wholeNumber } from 'bench-http/cli/values';
import { estimateSeconds } from 'bench-model/planned';
import { expandTargets, readStacks } from 'bench-targets/catalogue/stacks';
import { prepareAll } from 'bench-targets/prepare/prepare';
import { readCapacity, readEphemeralPorts } from 'bench-machine/facts';
import { countPorts } from 'bench-machine/preflight';
import { measureTrial } from 'bench-http/measure/conductor';
import { compareWithRivals, type RivalRound } from 'bench-http/measure/rivals';
import type { LoadSpec } from 'bench-load/protocol';
import type { RunEffects } from 'bench-http/measure/run';
import type { TrialContext } from 'bench-http/measure/life';
import type { PlannedTrial } from 'bench-model/plan';
import { benchOptions } from 'bench-model/options';
import { makePlan } from 'bench-http/plan/plan';
import { countOf } from 'bench-report/format';
import { renderRows } from 'bench-report/terminal';
import { isKnown, summariseSelf, type SelfRung } from '../report/self.ts';
import { createEffects } from 'bench-http/conduct/effects';
import { openSession } from 'bench-http/conduct/session';
import { onInterrupt, print, logLine } from 'bench-http/terminal/shell';

const SECONDS = 3;
const RUNGS = [10, 100, 1000, 10_000];
/** The usual time of all turns of one rung. */
const DUEL_SECONDS = 20;

export default defineCommand({
  name: 'self',
  about:
    'Measures Bench itself: the cost of its load driver compared with stock autocannon, the cost of sampling, and the share of a run that is spent measuring.',
  options: { rounds: option('<n>', wholeNumber(), { help: 'rounds', default: 3 }), ...WAITS },
  read: (values) => values,
  async run({ rounds, wait }) {
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
    session.expect(estimateSeconds(plan) + DUEL_SECONDS * RUNGS.length);
    const { effects, stop } = await createEffects({ plan, placed, token, folder });
    using _ = onInterrupt(stop, 'stopping: nothing is saved');
    const context = { plan, placed, prepared: prepared[0], target };

    const rungs = new Map(
      RUNGS.map((connections): [number, SelfRung] => [connections, { connections, trials: [], rounds: [] }]),
    );
    for (const [index, planned] of plan.trials.entries()) {
      if (effects.interrupted()) return 130;
      const rung = rungs.get(planned.connections);
      const began = performance.now();
      const trial = await measureTrial(planned, context, effects);
      const wallSeconds = (performance.now() - began) / 1000;
      if (trial.status !== 'failed') rung?.trials.push({ measured: trial.measured, wallSeconds });
      logLine(
        `[${index + 1}/${plan.trials.length}] ${countOf(planned.connections, 'connection')}, round ${planned.round}`,
      );
    }
    for (const [connections, rung] of rungs) {
      if (effects.interrupted()) return 130;
      const planned = plan.trials.find((trial) => trial.connections === connections);
      if (planned === undefined) continue;
      rung.rounds = await takeTurns(planned, context, effects);
      logLine(`${countOf(connections, 'connection')}: ${countOf(rung.rounds.length, 'round')} of turns`);
    }
    const measured = [...rungs.values()].filter((rung) => rung.trials.length > 0 && rung.rounds.length > 0);
    const { head, rows, notes } = summariseSelf(measured);
    print(`${renderRows(head, rows)}\n${notes.map((note) => `  ${note}\n`).join('')}`);
    return measured.length === RUNGS.length ? 0 : 1;
  },
});

/** Loads the verified server of a trial by turns, before its own load. */
async function takeTurns(
  planned: PlannedTrial,
  context: TrialContext,
  effects: RunEffects,
): Promise<RivalRound[]> {
  const { plan, placed } = context;
  const { connections } = planned;
  const ports = await readEphemeralPorts();
  const hasPlain = ports === undefined || 3 * connections <= countPorts(ports);
  const atOnce = (hasPlain ? 3 : 2) * connections;
  // All clients have their connections at once, which may be more than one process of the server can hold.
  const workers = Math.max(1, Math.ceil(atOnce / (await readCapacity()).connections));
  let rounds: RivalRound[] | undefined;
  const trial = await measureTrial(
    planned,
    { ...context, plan: { ...plan, workers, windowSeconds: 0.2, warmupSeconds: 0 } },
    {
      ...effects,
      async verify(server, draw, when) {
        const expected = await effects.verify(server, draw, when);
        if (rounds !== undefined) return expected;
        const spec: LoadSpec = {
          host: server.host,
          port: server.port,
          requests: draw.requests,
          connections,
          timeoutSeconds: plan.timeoutSeconds,
          barrierSeconds: plan.barrierSeconds,
          expected,
          hashEvery: plan.hashEvery,
        };
        using sampler = await effects.resources(server, []);
        await sampler?.idle();
        await using load = effects.load().open(spec, 1);
        rounds = await compareWithRivals(load, spec, draw.requests[0]?.path ?? '/', {
          placed,
          hasPlain,
          sampler,
          isEnough: isKnown,
        });
        return expected;
      },
    },
  );
  if (rounds === undefined)
    for (const { text } of trial.reasons) logLine(`${countOf(connections, 'connection')}: ${text}`);
  return rounds ?? [];
}
