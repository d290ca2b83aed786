import { rmSync } from 'node:fs';
import { afterAll, expect, it, vi } from 'vitest';
import { appendTrials, createRun } from 'bench-analysis/results/store';
import { readHost } from 'bench-machine/host';
import { RUN_SCHEMA } from 'bench-model/versions';
import { createRandom } from 'bench-statistics/random';
import { foreseeDifferences } from '../../src/conduct/reach.ts';
import type { ResolvedRequest } from '../../src/conduct/resolve.ts';
import { okTrial, sampleMeasured, samplePlan } from '../../../bench-lab/testing/samples.ts';

const { folder } = vi.hoisted(() => {
  const made = `${process.env['TMPDIR'] ?? '/tmp'}/bench-reach-${process.pid}`;
  process.env['BENCH_RESULTS'] = made;
  return { folder: made };
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('a job says before it runs which difference breaks a budget, at the noise of stored runs', async () => {
  const plan = samplePlan('--connections 2 --rounds 9', ['one', 'two']);
  const [baseline = ''] = plan.targets.map(({ id }) => id);
  const limit = { kind: 'worse', share: 0.5, against: baseline } as const;
  const job = { raw: {}, budgets: [{ metric: 'cpu', limit }] } as unknown as ResolvedRequest;
  expect(await foreseeDifferences(plan, job)).toEqual([]);
  expect(await foreseeDifferences(plan, job, { isDry: true })).toEqual([
    'no stored run of this machine has rounds like these, so the smallest difference in CPU µs/req that this run finds is not known yet',
  ]);
  const random = createRandom(1);
  const run = createRun({ schema: RUN_SCHEMA, plan, versions: {}, leftOut: [] }, await readHost());
  appendTrials(
    run,
    plan.trials.map(({ target, id, connections, round, order }) =>
      okTrial(target, sampleMeasured({ cpu: 40 * (1 + 0.02 * random.float()), goodput: 1000 }), {
        id,
        run: plan.run,
        connections,
        round,
        order,
      }),
    ),
  );
  const [reach, noise] = await foreseeDifferences(plan, job);
  expect(reach).toMatch(
    /^CPU µs\/req at most 50 % worse than one.*: broken by a difference of \d.* with 95 % probability/,
  );
  expect(noise).toMatch(/^at the noise of 1 stored run of this machine: the ratio of CPU µs\/req varies by /);
});
