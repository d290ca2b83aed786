/** One trial with fake effects. */

import { Ajv } from 'ajv';
import { expect } from 'vitest';
import type { PinnedCommands } from 'bench-machine/placement';
import { measureTogether } from '../../src/measure/conductor.ts';
import type { Attestation } from 'bench-model/target';
import type { Trial } from 'bench-model/record';
import { SCHEMAS } from 'bench-model/schemas';
import { asStored, samplePlan } from '../../../bench-lab/testing/samples.ts';
import { createWorld, prepareFor, type Twist, type World } from './world.ts';

const isRecord = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(SCHEMAS.record);

export const PLACED: PinnedCommands = {
  placement: { kind: 'separate', server: [1], generator: [0] },
  server: [],
  generator: [],
};

/** Measures one trial with fake effects. Expects that its record matches the schema. */
export async function measure(
  twist: Twist = {},
  {
    line = '',
    attest = {},
    placed = PLACED,
  }: { line?: string; attest?: Attestation; placed?: PinnedCommands } = {},
): Promise<{ trial: Trial; world: World }> {
  const world = createWorld(twist);
  const plan = samplePlan(`--rounds 1 --connections 10 ${line}`, ['fastify']);
  const [prepared] = prepareFor(plan, attest);
  const context = { plan, placed, prepared, target: plan.targets[0]! };
  const [trial] = await measureTogether([{ planned: plan.trials[0]!, context }], world.effects);
  isRecord(asStored(trial!));
  expect(isRecord.errors ?? []).toEqual([]);
  return { trial: trial!, world };
}

/** Returns the reasons of a trial, one line each. */
export const textsOf = ({ reasons }: Trial): string[] => reasons.map(({ code, text }) => `${code}: ${text}`);
