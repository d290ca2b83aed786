import { expect, it } from 'vitest';
import { closeReport } from '../src/closing.ts';
import { toModel } from '../src/model/model.ts';
import { benchOptions, type Matrix } from 'bench-model/options';
import { makePlan } from 'bench-http/plan/plan';
import { okTrial, readGoldenRun, sampleMeasured, sampleStack } from '../../bench-lab/testing/samples.ts';

const STACK = { ...sampleStack('shop'), runtime: 'python' as const };

/** The closing sentence of an upgrade of a shop, with the CPU per request of each target. */
function closing(matrix: Partial<Matrix>, cpuOf: (target: string) => number): string {
  const options = benchOptions({
    targets: ['shop'],
    connections: [10],
    isUpgrade: true,
    sequentialTest: { by: 'cpu', threshold: 0.02, looks: '12/18/24' },
    matrix: { python: [], node: [], packages: [], ...matrix },
  });
  const plan = makePlan(options, [STACK], '20261126-000000-devices', 1);
  const trials = plan.trials.map(({ target: id, connections, round, order }) => {
    const target = plan.targets.find((one) => one.id === id)!;
    // Rounds of a machine that differ by 0.2 %.
    const cpu = cpuOf(id) * (1 + 0.002 * Math.sin(7 * round + id.length));
    return okTrial(id, sampleMeasured({ cpu }), { target, connections, round, order });
  });
  const { host, versions } = readGoldenRun();
  return closeReport(toModel({ plan, host, versions, leftOut: [], trials }))?.sentence ?? '';
}

it('compares each version with that of now, its JIT and its missing GIL with the same version', () => {
  const python = ['3.13', '3.15', '3.15+jit', '3.15t'];
  const costs: Record<string, number> = { '3.13': 100, '3.15': 90, '3.15+jit': 90, '3.15t': 126 };
  const sentence = closing({ python }, (id) => costs[id.slice('shop@'.length)] ?? NaN);
  expect(sentence).toMatch(
    /^3\.15: 10 % less CPU per request than 3\.13 \([\d.]+ to [\d.]+ %\); its JIT: the same within 2 %; 3\.15t: 40 % more CPU per request than with the GIL on one core \([\d.]+ to [\d.]+ %\)\. /,
  );
});

it('compares a newer package with the locked one', () => {
  const packages = ['fastapi==0.165.0'];
  const sentence = closing({ packages, asLocked: true }, (id) => (id === 'shop' ? 100 : 130));
  expect(sentence).toMatch(/^fastapi==0\.165\.0: 30 % more CPU per request than as locked \(/);
});
