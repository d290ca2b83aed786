import { describe, expect, it } from 'vitest';
import type { Plan } from 'bench-model/plan';
import { describeDetail } from '../src/detail.ts';
import { toModel } from '../src/model/model.ts';
import { describePlan } from '../src/plan.ts';
import { describeRoutes } from '../src/requests.ts';
import { describeSetting } from '../src/view.ts';
import type { Trial } from 'bench-model/record';
import {
  okTrial,
  readGoldenRun,
  sampleCounts,
  sampleLoad,
  sampleMeasured,
  samplePlan,
} from '../../bench-lab/testing/samples.ts';

const { host } = readGoldenRun();

function settingOf(plan: Plan, trials: Trial[]): string[] {
  return describeSetting(toModel({ plan, host, versions: {}, leftOut: [], trials }));
}

/** A trial of each target in the rounds in which it ran. */
function run(plan: Plan, roundsOf: Record<string, number>): Trial[] {
  return plan.trials.flatMap(({ id, target, connections, round }) =>
    round <= (roundsOf[target] ?? 0) ? [okTrial(target, sampleMeasured(), { id, connections, round })] : [],
  );
}

/** A plan of an app with this command. */
function withApp(command: string[], names = ['orders']): Plan {
  const plan = samplePlan('--connections 10 --rounds 1', names);
  return { ...plan, apps: [{ name: 'orders', folder: '.', command }] };
}

/** Returns the line about the workers of the servers of a plan. */
function workersOf(plan: Plan): string | undefined {
  return settingOf(plan, run(plan, { orders: 1 })).find((line) => /worker/.test(line));
}

/** Describes a route with this latency. */
function describeRoute(latencyUs: { mean: number; max: number; p50?: number; p99?: number }): string {
  const counts = sampleCounts({ ok: 100 });
  const load = sampleLoad({ routes: [{ counts, lifetime: counts, latencyUs }] });
  return describeRoutes(load, okTrial('vanilla', sampleMeasured())).join();
}

describe('the setting of a run', () => {
  const NAMES = ['vanilla', 'fastify', 'litestar'];
  const plan: Plan = {
    ...samplePlan('--connections 10 --rounds 3', NAMES),
    byTurns: { rungs: [10], turnSeconds: 0.1 },
  };
  const turns = (trials: Trial[]) => settingOf(plan, trials).filter((line) => line.includes('turn'));

  it('counts the servers that ran at once, not those of the plan', () => {
    expect(turns(run(plan, { vanilla: 3, fastify: 3 }))).toEqual([
      'the 2 servers of a round run at once, and take turns of 100 ms or more',
    ]);
    expect(turns(run(plan, { vanilla: 3, fastify: 3, litestar: 1 }))).toEqual([
      'the 2 to 3 servers of a round run at once, and take turns of 100 ms or more',
    ]);
    expect(turns(run(plan, { vanilla: 3 }))).toEqual([]);
    expect(describePlan(plan)).toContain('the 3 servers of a round run at once');
  });

  it('leaves the number of workers to a command that does not ask Bench for it', () => {
    const fixed = withApp(['uvicorn', 'app:app', '--port', '{port}', '--workers', '2']);
    expect(workersOf(fixed)).toContain('as many workers per server as its command starts');
    expect(describePlan(fixed)).toContain('as many workers as its command starts');
    expect(workersOf(withApp(['uvicorn', 'app:app', '--workers', '{workers}']))).toContain(
      '1 worker per server',
    );
    const beside = withApp(['uvicorn', 'app:app'], ['orders', 'vanilla']);
    expect(workersOf(beside)).toContain('1 worker per server (orders: as many as its command starts)');
  });
});

describe('the detail of a trial', () => {
  it('says that the requests in flight are those of all turns', () => {
    const load = sampleLoad({ windowSeconds: 1.021, counts: sampleCounts({ ok: 9000, inFlight: 820 }) });
    const turns = { answers: Array<number>(82).fill(110), goodputPerSecond: Array<number>(82).fill(9000) };
    const text = describeDetail([okTrial('vanilla', sampleMeasured({ given: { load, turns } }))]);
    expect(text).toContain('82 turns, 1.021 s together: 9820 sent, 9000 ok, 820 in flight at their ends');
    expect(describeDetail([okTrial('vanilla', sampleMeasured())])).toContain('10 in flight at the end');
  });

  it('names each percentile of a route by its own name', () => {
    expect(describeRoute({ mean: 7300, max: 9000, p50: 7300 })).toMatch(/, p50 7\.30 ms$/);
    expect(describeRoute({ mean: 7300, max: 9000, p50: 7300, p99: 8000 })).toMatch(
      /, p50 7\.30 ms, p99 8\.00 ms$/,
    );
  });
});
