/**
 * The warm reference of a study: a small server of Bench itself. A fresh process takes turns with it on the same core,
 * and the ratio of the two does not contain the pace of the machine.
 */
import { dirname } from 'node:path';
import { PLAIN_VARIANT, type Stack, type Variant } from 'bench-model/stack';
import { programBeside } from 'bench-machine/home';
import type { Target } from 'bench-model/target';
import type { Plan } from 'bench-model/plan';
import type { Prepared } from 'bench-targets/prepare/prepare';
import type { PinnedCommands } from 'bench-machine/placement';
import { ServerLife, type ReadyServer, type TrialEffects } from './life.ts';

const SERVER = programBeside(import.meta.url, 'reference-server');

/**
 * The flags of Node for the reference. Without optimising compilers no function changes its tier while it is measured:
 * V8 compiles each function once, at its first call. A young generation of fixed size keeps collections alike.
 */
const FLAGS = [
  '--no-opt',
  '--no-maglev',
  '--always-sparkplug',
  '--min-semi-space-size=16',
  '--max-semi-space-size=16',
];

/** The argv of the reference, with the placeholders `{host}` and `{port}`. */
export const REFERENCE_COMMAND = [process.execPath, ...FLAGS, SERVER, '--host', '{host}', '--port', '{port}'];

/** The reference in words: its runtime and flags. */
export const REFERENCE = `node ${process.versions.node} ${FLAGS.join(' ')}`;

/** The workload of the reference, whatever the workload of the targets is. */
const WORKLOAD = 'devices';

/** A running reference. Disposing stops it. */
export interface Reference extends AsyncDisposable {
  ready: ReadyServer;
}

/** Starts the reference for studies with this plan, on the cores of the server. Throws if it does not answer rightly. */
export async function startReference(
  plan: Plan,
  placed: PinnedCommands,
  effects: TrialEffects,
): Promise<Reference> {
  const target: Target = {
    id: 'reference',
    stack: 'reference',
    variant: 'node',
    class: 'raw',
    language: 'typescript',
    framework: 'none',
  };
  const {
    params: _params,
    waitSeconds: _wait,
    answerSeconds: _answer,
    userRequests: _userRequests,
    attached: _attached,
    background: _background,
    ...rest
  } = plan;
  const life = new ServerLife(
    {
      id: '000-reference',
      target: target.id,
      connections: plan.rungs[0] ?? 1,
      round: 1,
      order: 0,
      seed: plan.seed,
    },
    {
      plan: { ...rest, workload: WORKLOAD, workers: 1 },
      placed,
      prepared: prepareReference(target),
      target,
    },
    // It needs no upstream and no database.
    { ...effects, companions: [] },
  );
  try {
    return { ready: await life.start(), [Symbol.asyncDispose]: async () => void (await life.end()) };
  } catch (error) {
    await life.end();
    throw error;
  }
}

function prepareReference(target: Target): Prepared {
  const command = REFERENCE_COMMAND;
  const variant: Variant = {
    ...PLAIN_VARIANT,
    command,
    workloads: [WORKLOAD],
    class: 'raw',
  };
  const stack: Stack = {
    name: target.stack,
    language: target.language,
    framework: target.framework,
    runtime: 'none',
    build: [],
    shares: [],
    runtimes: [],
    default: target.variant,
    variants: { [target.variant]: variant },
    root: dirname(SERVER),
    manifest: SERVER,
  };
  return { target, stack, variant, command, env: {}, claims: {}, digest: REFERENCE, installed: [] };
}
